import type { Authorizer } from './authorizer.ts';

/** The source of authorization decisions (API-372). `RBAC` uses the stored roles and bindings. */
export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC';

export const authorizationModes: readonly AuthorizationMode[] = ['AlwaysAllow', 'AlwaysDeny', 'RBAC'];

/** Denies everything except for `system:masters`, in upstream's words. */
export const alwaysDenyAuthorizer: Authorizer = {
  authorize: ({ user }) =>
    user.groups.includes('system:masters')
      ? { allowed: true, reason: '' }
      : { allowed: false, reason: 'Everything is forbidden.' },
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};
