/** One value of a `Warning` header, by which an API server warns about deprecated or suspicious requests. */
export interface ApiWarning {
  /** 299 in all warnings of API servers. */
  readonly code: number;
  /** `-`, or the name of the sender. */
  readonly agent: string;
  /** The warning itself. */
  readonly text: string;
}

/** Parses `299 - "text"`, several separated by commas or as a list of header values. Malformed values are left out. */
export function parseWarnings(header: string | readonly string[] | undefined): ApiWarning[] {
  const warnings: ApiWarning[] = [];
  for (const value of typeof header === 'string' ? [header] : (header ?? [])) {
    for (const [, code, agent, quoted] of value.matchAll(/(\d{3}) ([^ ]+) "((?:[^"\\]|\\.)*)"/g)) {
      warnings.push({ code: Number(code), agent: agent!, text: quoted!.replaceAll(/\\(.)/g, '$1') });
    }
  }
  return warnings;
}
