import type { HttpHeaders } from '../../base/http-message.ts';
import type { Impersonation } from './kubeconfig.ts';

/** The headers that ask to be taken for somebody else (client-go `transport.NewImpersonatingRoundTripper`). */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): HttpHeaders {
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...extraHeaders(extra),
  };
}

/** Names of headers know no capitals, and the server reads keys in lower case: those that differ in nothing else are one. */
function extraHeaders(extra: Impersonation['extra']): HttpHeaders {
  const headers: Record<string, readonly string[]> = {};
  for (const [key, values] of extra) {
    const name = `impersonate-extra-${headerKeyEscape(key).toLowerCase()}`;
    if (values.length > 0) headers[name] = [...(headers[name] ?? []), ...values];
  }
  return headers;
}

/** Characters that a header's name may not have (RFC 7230, token), and the percent sign, each byte as `%XX`. */
function headerKeyEscape(key: string): string {
  return key.replaceAll(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, (character) =>
    Buffer.from(character, 'utf8').toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  );
}
