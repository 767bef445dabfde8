import type { HttpResponse } from '../../base/http-message.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

export const OPENID_CONFIGURATION = '/.well-known/openid-configuration';
export const OPENID_KEYS = '/openid/v1/jwks';

/** Clients may cache the documents for this time. */
const MAX_AGE_SECONDS = 3600;

/**
 * The documents with which other parties verify tokens of service accounts (API-378; OpenID Connect discovery). `address` is the server's
 * address for clients.
 */
export function openIdDocument(
  path: typeof OPENID_CONFIGURATION | typeof OPENID_KEYS,
  tokens: Pick<ServiceAccountTokens, 'issuer' | 'jwks'>,
  address: string,
): HttpResponse {
  const [contentType, document] =
    path === OPENID_KEYS
      ? ['application/jwk-set+json', { keys: tokens.jwks }]
      : [
          'application/json',
          {
            issuer: tokens.issuer,
            jwks_uri: `https://${address}${OPENID_KEYS}`,
            response_types_supported: ['id_token'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['ES256'],
          },
        ];
  return {
    status: 200,
    headers: { 'content-type': contentType, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` },
    body: Buffer.from(JSON.stringify(document)),
  };
}
