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
 * The first authenticator that recognises its kind of credentials decides; the user it finds is a member of
 * `system:authenticated`. An authenticator that throws ends the search.
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  const from = (start: number, request: HttpRequest): Authentication | Promise<Authentication> => {
    const authenticator = authenticators[start];
    if (authenticator === undefined) return undefined;
    const next = (user: Authentication): Authentication | Promise<Authentication> =>
      user === undefined ? from(start + 1, request) : withAuthenticatedGroup(user);
    const user = authenticator.authenticate(request);
    return user instanceof Promise ? user.then(next) : next(user);
  };
  return { authenticate: (request) => from(0, request) };
}
