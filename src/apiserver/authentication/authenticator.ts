import type { HttpRequest } from '../../base/http-message.ts';
import type { UserInfo } from './user-info.ts';
import { withAuthenticatedGroup } from './user-info.ts';

/**
 * Turns the credentials of a request into a user.
 *
 * Three outcomes (API-371): a user; `undefined` when the request carries no credentials this authenticator reads, so
 * that another one or the anonymous rule decides; a thrown 401 {@link StatusError} when it carries bad ones. Bad
 * credentials never fall through to anonymous.
 */
export interface Authenticator {
  authenticate(request: HttpRequest): UserInfo | undefined;
}

/**
 * The first authenticator that recognises its kind of credentials decides; the user it finds is a member of
 * `system:authenticated`. An authenticator that throws ends the search.
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate(request) {
      for (const authenticator of authenticators) {
        const user = authenticator.authenticate(request);
        if (user !== undefined) return withAuthenticatedGroup(user);
      }
      return undefined;
    },
  };
}
