/** The sender of a request whose credentials were accepted (apiserver `pkg/authentication/user`). */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Bypasses every authorizer (API-372). */
export const GROUP_MASTERS = 'system:masters';
/** Every user whose credentials were accepted is a member (API-371). */
export const GROUP_AUTHENTICATED = 'system:authenticated';
/** Whoever brought no credentials, where that is allowed (API-371). */
export const GROUP_UNAUTHENTICATED = 'system:unauthenticated';

/** Extra field that identifies the accepted credential without revealing it. */
export const EXTRA_CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** The same user with membership of `system:authenticated`, which no credential has to spell out (API-371). */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(GROUP_AUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, GROUP_AUTHENTICATED] };
}
