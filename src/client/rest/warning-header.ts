/** One `Warning` header value: by which an API server warns about deprecated or suspicious requests. */
export interface ApiWarning {
  /** 299 for all that API servers send. */
  readonly code: number;
  /** `-`, or who says it. */
  readonly agent: string;
  /** The warning itself. */
  readonly text: string;
}

/** `299 - "text"`, several separated by commas or in a list of header values. Values that do not parse are left out. */
export function parseWarnings(header: string | readonly string[] | undefined): ApiWarning[] {
  const warnings: ApiWarning[] = [];
  for (const value of typeof header === 'string' ? [header] : (header ?? [])) {
    for (const [, code, agent, quoted] of value.matchAll(/(\d{3}) ([^ ]+) "((?:[^"\\]|\\.)*)"/g)) {
      warnings.push({ code: Number(code), agent: agent!, text: quoted!.replaceAll(/\\(.)/g, '$1') });
    }
  }
  return warnings;
}
