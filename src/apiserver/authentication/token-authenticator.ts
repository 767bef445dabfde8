import { hash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../../base/http-message.ts';
import { newUnauthorized } from '../../api/status-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { UserInfo } from './user-info.ts';
import { withAuthenticatedGroup } from './user-info.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

export type TokenVerdict =
  /** `audiences` are the requested ones for which it is valid; empty if none were requested. */
  | { readonly outcome: 'authenticated'; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** The token does not belong to this verifier. */
  | { readonly outcome: 'unknown' }
  /** A token of this verifier that is not valid. A TokenReview returns the reason. */
  | { readonly outcome: 'refused'; readonly reason: string };

export const UNKNOWN_TOKEN: TokenVerdict = { outcome: 'unknown' };

/** Verifies a bare token, also for TokenReview (API-374). An answer without a lookup is not a promise. */
export interface TokenVerifier {
  /** The token must be valid for one of `audiences`; if absent, for this server. */
  verify(token: string, audiences?: readonly string[]): TokenVerdict | Promise<TokenVerdict>;
}

/**
 * Static bearer tokens. Only hashes are stored, and each lookup compares all of them in constant time, so neither a memory dump nor the
 * response time reveals a token. They are valid only for this server, under any of its `audiences`.
 */
export function staticTokenVerifier(
  tokens: readonly StaticToken[],
  audiences: readonly string[] = [],
): { verify(token: string, wanted?: readonly string[]): TokenVerdict } {
  const known = tokens.map(({ token, user }) => ({ digest: digestOf(token), user: withAuthenticatedGroup(user) }));
  return {
    verify(token, wanted = audiences) {
      const digest = digestOf(token);
      let found: UserInfo | undefined;
      for (const entry of known) {
        if (timingSafeEqual(entry.digest, digest)) found = entry.user;
      }
      if (found === undefined) return UNKNOWN_TOKEN;
      const common = audiences.filter((audience) => wanted.includes(audience));
      if (wanted.length > 0 && common.length === 0) return UNKNOWN_TOKEN;
      return { outcome: 'authenticated', user: found, audiences: common };
    },
  };
}

/** The first verifier that knows the token decides. If it refuses the token, another one may still accept it. */
export function unionTokenVerifier(verifiers: readonly TokenVerifier[]): TokenVerifier {
  const from = (
    start: number,
    token: string,
    { audiences, refusal }: { readonly audiences: readonly string[] | undefined; readonly refusal: TokenVerdict },
  ): TokenVerdict | Promise<TokenVerdict> => {
    const verifier = verifiers[start];
    if (verifier === undefined) return refusal;
    const next = (verdict: TokenVerdict): TokenVerdict | Promise<TokenVerdict> => {
      if (verdict.outcome === 'authenticated') return verdict;
      return from(start + 1, token, { audiences, refusal: verdict.outcome === 'refused' ? verdict : refusal });
    };
    const verdict = verifier.verify(token, audiences);
    return verdict instanceof Promise ? verdict.then(next) : next(verdict);
  };
  return { verify: (token, audiences) => from(0, token, { audiences, refusal: UNKNOWN_TOKEN }) };
}

/** Reads `Authorization: Bearer <token>`. An unknown or empty token is a 401; another scheme or no header is left to others (API-371). */
export function tokenAuthenticator(verifier: TokenVerifier): Authenticator {
  const accepted = (verdict: TokenVerdict): UserInfo => {
    if (verdict.outcome !== 'authenticated') throw newUnauthorized();
    return verdict.user;
  };
  return {
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return undefined;
      const verdict = verifier.verify(token);
      return verdict instanceof Promise ? verdict.then(accepted) : accepted(verdict);
    },
  };
}

/** The token in the `Authorization` header; undefined if the header is absent or has another scheme. */
export function bearerToken(request: HttpRequest): string | undefined {
  const header = request.headers['authorization'];
  const value = typeof header === 'string' ? header : header?.[0];
  if (value === undefined) return undefined;
  const match = /^\s*bearer(?:\s+(.*?))?\s*$/i.exec(value);
  return match === null ? undefined : (match[1] ?? '');
}

function digestOf(token: string): Buffer {
  // Avoids a Hash object, which is a stream, because this runs for every request.
  return hash('sha256', token, 'buffer');
}
