import type { RestClient } from '../rest/rest-client.ts';

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
}

/** The version that the server reports; undefined if it is malformed. Rejects if the request fails. */
export async function serverVersion(
  client: RestClient,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<ServerVersion | undefined> {
  const response = await client.request({ ...options, method: 'GET', path: '/version' });
  const { major, minor } = response.json<{ major?: unknown; minor?: unknown } | null>() ?? {};
  const version = { major: leadingNumber(major), minor: leadingNumber(minor) };
  return Number.isNaN(version.major) || Number.isNaN(version.minor) ? undefined : version;
}

/** Distributions have minors such as `27+`. NaN for a text that does not begin with a number. */
function leadingNumber(text: unknown): number {
  return typeof text === 'string' ? Number(/^\d+/.exec(text)?.[0]) : NaN;
}
