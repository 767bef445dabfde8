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
  /** `audiences`: which of those asked for it is good for; empty where nobody cares. */
  | { readonly outcome: 'authenticated'; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** Not one of ours. */
  | { readonly outcome: 'unknown' }
  /** A token of ours that is not valid. A TokenReview returns the reason. */
  | { readonly outcome: 'refused'; readonly reason: string };

export const UNKNOWN_TOKEN: TokenVerdict = { outcome: 'unknown' };

/** Judges a bare token, also for TokenReview (API-374). An answer without a look-up is no promise. */
export interface TokenVerifier {
  /** `audiences`: it must be for one of these; absent: for this server. */
  verify(token: string, audiences?: readonly string[]): TokenVerdict | Promise<TokenVerdict>;
}

/**
 * Static bearer tokens. Only hashes are kept, and every one of them is compared in constant time on each look-up, so
 * neither a memory dump nor the response time reveals a token. They are for this server alone, by whichever of its `audiences`.
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

/** The first that knows the token decides, unless it refuses it and another one accepts it. */
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

/** `Authorization: Bearer <token>`: unknown or empty token is 401, another scheme or no header is not ours (API-371). */
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

/** The token of the `Authorization` header; undefined when the header is absent or of another scheme. */
export function bearerToken(request: HttpRequest): string | undefined {
  const header = request.headers['authorization'];
  const value = typeof header === 'string' ? header : header?.[0];
  if (value === undefined) return undefined;
  const match = /^\s*bearer(?:\s+(.*?))?\s*$/i.exec(value);
  return match === null ? undefined : (match[1] ?? '');
}

function digestOf(token: string): Buffer {
  // No Hash object: it is a stream, and this happens once a request.
  return hash('sha256', token, 'buffer');
}
