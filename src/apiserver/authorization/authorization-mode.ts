import type { Authorizer } from './authorizer.ts';

/** The source of authorization decisions (API-372). `RBAC`: the roles and bindings in the store. */
export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC';

export const authorizationModes: readonly AuthorizationMode[] = ['AlwaysAllow', 'AlwaysDeny', 'RBAC'];

/** Nobody but `system:masters` may do anything, in upstream's words. */
export const alwaysDenyAuthorizer: Authorizer = {
  authorize: ({ user }) =>
    user.groups.includes('system:masters')
      ? { allowed: true, reason: '' }
      : { allowed: false, reason: 'Everything is forbidden.' },
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};
