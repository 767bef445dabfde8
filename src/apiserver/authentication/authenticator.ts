import type { HttpRequest } from '../../base/http-message.ts';
import type { UserInfo } from './user-info.ts';
import { withAuthenticatedGroup } from './user-info.ts';

/** A user, or nobody; a promise only where something has to be looked up. */
export type Authentication = UserInfo | undefined;

/**
 * Turns the credentials of a request into a user.
 *
 * Three outcomes (API-371): a user; `undefined` when the request carries no credentials this authenticator reads, so
 * that another one or the anonymous rule decides; a thrown 401 {@link StatusError} when it carries bad ones. Bad
 * credentials never fall through to anonymous.
 */
export interface Authenticator {
  authenticate(request: HttpRequest): Authentication | Promise<Authentication>;
}

/**
 * The first authenticator that finds a user decides; the user is a member of `system:authenticated`. Bad credentials do not fail the request
 * while others may be good: a client with a certificate of another authority and our token is accepted by the token. When no authenticator finds
 * a user, the first problem met is thrown (apiserver `pkg/authentication/request/union`).
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return { authenticate: (request) => authenticateFrom(authenticators, request, {}) };
}

interface Search {
  readonly start?: number;
  /** The first error of the earlier ones. */
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
