/** The authenticated sender of a request (apiserver `pkg/authentication/user`). */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members bypass every authorizer (API-372). */
export const GROUP_MASTERS = 'system:masters';
/** The user of the controllers that run in the server's process, as of kube-controller-manager. */
export const CONTROLLER_MANAGER = 'system:kube-controller-manager';
/** Every authenticated user is a member (API-371). */
export const GROUP_AUTHENTICATED = 'system:authenticated';
/** Requests without credentials have this group, where they are allowed (API-371). */
export const GROUP_UNAUTHENTICATED = 'system:unauthenticated';

/** An extra field that identifies the accepted credential without revealing it. */
export const EXTRA_CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** The user as a member of `system:authenticated`, which credentials need not state (API-371). */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(GROUP_AUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, GROUP_AUTHENTICATED] };
}
