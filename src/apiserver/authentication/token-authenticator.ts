import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../../base/http-message.ts';
import { newUnauthorized } from '../../api/status-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { UserInfo } from './user-info.ts';
import { withAuthenticatedGroup } from './user-info.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

/** Looks a bare token up; also what TokenReview asks (API-374). */
export interface TokenVerifier {
  verify(token: string): UserInfo | undefined;
}

/**
 * Static bearer tokens. Only hashes are kept, and every one of them is compared in constant time on each look-up, so
 * neither a memory dump nor the response time tells a token.
 */
export function staticTokenVerifier(tokens: readonly StaticToken[]): TokenVerifier {
  const known = tokens.map(({ token, user }) => ({ digest: digestOf(token), user: withAuthenticatedGroup(user) }));
  return {
    verify(token) {
      const digest = digestOf(token);
      let found: UserInfo | undefined;
      for (const entry of known) {
        if (timingSafeEqual(entry.digest, digest)) found = entry.user;
      }
      return found;
    },
  };
}

/** `Authorization: Bearer <token>`: unknown or empty token is 401, another scheme or no header is not ours (API-371). */
export function tokenAuthenticator(verifier: TokenVerifier): Authenticator {
  return {
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return undefined;
      const user = verifier.verify(token);
      if (user === undefined) throw newUnauthorized();
      return user;
    },
  };
}

/** The token of the `Authorization` header; undefined when the header is absent or of another scheme. */
export function bearerToken(request: HttpRequest): string | undefined {
  const header = request.headers['authorization'];
  const value = typeof header === 'string' ? header : header?.[0];
  if (value === undefined) return undefined;
  const match = /^\s*bearer(?:\s+(.*?))?\s*$/i.exec(value);
  return match === null ? undefined : (match[1] ?? '');
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
