import type { RestClient } from './rest-client.ts';

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
}

/** What the server says of itself; undefined when that is no version. Rejects as every request does. */
export async function serverVersion(
  client: RestClient,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<ServerVersion | undefined> {
  const response = await client.request({ ...options, method: 'GET', path: '/version' });
  const { major, minor } = (response.json<{ major?: unknown; minor?: unknown } | null>() ?? {}) as Record<
    string,
    unknown
  >;
  const [majorNumber, minorNumber] = [leadingNumber(major), leadingNumber(minor)];
  return majorNumber === undefined || minorNumber === undefined
    ? undefined
    : { major: majorNumber, minor: minorNumber };
}

/** Distributions write minors such as `27+`. */
function leadingNumber(text: unknown): number | undefined {
  const digits = typeof text === 'string' ? /^\d+/.exec(text) : null;
  return digits === null ? undefined : Number(digits[0]);
}
