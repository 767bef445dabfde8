import type { HttpRequest } from '../../base/http-message.ts';
import type { UserInfo } from './user-info.ts';
import { withAuthenticatedGroup } from './user-info.ts';

/** A user, or none. A promise only if a lookup is needed. */
export type Authentication = UserInfo | undefined;

/**
 * Authenticates the credentials of a request. Three outcomes (API-371): a user; `undefined` if the request has no credentials that this
 * authenticator reads, so that another one or the anonymous rule decides; a thrown 401 {@link StatusError} for invalid ones. Invalid
 * credentials never fall through to anonymous.
 */
export interface Authenticator {
  authenticate(request: HttpRequest): Authentication | Promise<Authentication>;
}

/**
 * The first authenticator that returns a user decides; the user is a member of `system:authenticated`. Invalid credentials do not fail the
 * request while others may be valid: a client with a foreign certificate and our token is accepted by the token. If no authenticator
 * returns a user, the first error is thrown (apiserver `pkg/authentication/request/union`).
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return { authenticate: (request) => authenticateFrom(authenticators, request, {}) };
}

interface Search {
  readonly start?: number;
  /** The first error of earlier authenticators. */
  readonly problem?: { readonly thrown: unknown } | undefined;
}

function authenticateFrom(
  authenticators: readonly Authenticator[],
  request: HttpRequest,
  { start = 0, problem }: Search,
): Authentication | Promise<Authentication> {
  const authenticator = authenticators[start];
  if (authenticator === undefined) {
    if (problem !== undefined) throw problem.thrown;
    return undefined;
  }
  const next = (found: Search['problem']): Authentication | Promise<Authentication> =>
    authenticateFrom(authenticators, request, { start: start + 1, problem: found });
  const accepted = (user: Authentication): Authentication | Promise<Authentication> =>
    user === undefined ? next(problem) : withAuthenticatedGroup(user);
  const failed = (thrown: unknown): Authentication | Promise<Authentication> => next(problem ?? { thrown });
  let user: Authentication | Promise<Authentication>;
  try {
    user = authenticator.authenticate(request);
  } catch (thrown) {
    return failed(thrown);
  }
  return user instanceof Promise ? user.then(accepted, failed) : accepted(user);
}
