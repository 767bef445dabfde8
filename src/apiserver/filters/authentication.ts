import { newUnauthorized } from '../../api/status-error.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import { isPublicPath } from '../authorization/authorizer.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';

const anonymousUser: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

export interface AuthenticationOptions {
  /** If absent, no credentials are accepted. */
  readonly authenticator?: Authenticator;
  /** `refused` answers only health and version without credentials (API-013, API-014). */
  readonly anonymous: 'allowed' | 'refused';
}

/** Invalid credentials are a 401 even where none are needed (API-371). */
export function authenticate(
  context: RequestContext,
  { authenticator, anonymous }: AuthenticationOptions,
): UserInfo | Promise<UserInfo> {
  const orAnonymous = (user: UserInfo | undefined): UserInfo => {
    if (user !== undefined) return user;
    if (anonymous === 'refused' && !isPublicPath(context.path, context.info.verb)) throw newUnauthorized();
    return anonymousUser;
  };
  const user = authenticator?.authenticate(context.request);
  return user instanceof Promise ? user.then(orAnonymous) : orAnonymous(user);
}
