import type { HttpHeaders } from '../../base/http-message.ts';
import type { Impersonation } from './kubeconfig.ts';

/** The headers that request impersonation (client-go `transport.NewImpersonatingRoundTripper`). */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): HttpHeaders {
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...extraHeaders(extra),
  };
}

/** Header names are case-insensitive, and the server reads keys in lower case, so keys that differ only in case are equal. */
function extraHeaders(extra: Impersonation['extra']): HttpHeaders {
  const headers: Record<string, readonly string[]> = {};
  for (const [key, values] of extra) {
    const name = `impersonate-extra-${headerKeyEscape(key).toLowerCase()}`;
    if (values.length > 0) headers[name] = [...(headers[name] ?? []), ...values];
  }
  return headers;
}

/** Escapes characters that a header name cannot contain (RFC 7230, token), and the percent sign, as `%XX` for each byte. */
function headerKeyEscape(key: string): string {
  return key.replaceAll(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, (character) =>
    Buffer.from(character, 'utf8').toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  );
}
