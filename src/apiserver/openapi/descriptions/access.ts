import type { FieldTexts } from './field-texts.ts';

const RULES = 'Actions that are allowed; no rule takes a right away.';
const SUBJECTS = 'Who gets it.';

export const ACCESS: FieldTexts = {
  'rbac.Role': { rules: RULES },
  'rbac.ClusterRole': {
    aggregationRule:
      'Takes the rules of other ClusterRoles; a controller keeps rules up to date, so nobody else should write them.',
    rules: RULES,
  },
  'rbac.AggregationRule': {
    clusterRoleSelectors: 'ClusterRoles whose rules are taken: those that one of the selectors picks.',
  },
  'rbac.PolicyRule': {
    apiGroups: 'Groups of the resources; an empty text is the core group, * is all.',
    nonResourceURLs: 'Paths that are no resources, such as /healthz or /metrics/*; only in ClusterRoles.',
    resourceNames: 'Only the objects with these names. Creating and listing everything cannot be allowed that way.',
    resources: 'Resources, such as pods or pods/log; * is all.',
    verbs: 'Allowed verbs, such as get, list, watch, create, update, patch, delete; * is all.',
  },
  'rbac.RoleBinding': {
    roleRef: 'Role of the same namespace, or ClusterRole, that is granted in this namespace. Cannot be changed.',
    subjects: SUBJECTS,
  },
  'rbac.ClusterRoleBinding': {
    roleRef: 'ClusterRole that is granted everywhere. Cannot be changed.',
    subjects: SUBJECTS,
  },
  'rbac.RoleRef': {
    apiGroup: 'Always rbac.authorization.k8s.io.',
    kind: 'Role or ClusterRole.',
    name: 'Name of the role.',
  },
  'rbac.Subject': {
    apiGroup: 'Empty for a ServiceAccount, rbac.authorization.k8s.io for User and Group.',
    kind: 'User, Group or ServiceAccount.',
    name: 'Name of the user, group or account.',
    namespace: 'Namespace of the ServiceAccount.',
  },
  'authentication.TokenRequestSpec': {
    audiences: 'Whom the token is for; the API server unless set.',
    boundObjectRef: 'Pod or Secret with which the token loses its validity.',
    expirationSeconds: 'Seconds the token should be valid.',
  },
  'authentication.TokenRequestStatus': {
    expirationTimestamp: 'When the token expires.',
    token: 'The token.',
  },
  'authentication.TokenReviewSpec': {
    audiences: 'Audiences one of which the token has to be for.',
    token: 'The token to check.',
  },
  'authentication.TokenReviewStatus': {
    audiences: 'Audiences that fit.',
    authenticated: 'Whether the token is good.',
    error: 'Why the token could not be checked.',
    user: 'The user that the token belongs to.',
  },
  'authentication.UserInfo': {
    extra: 'Whatever else the authenticator knows.',
    groups: 'Groups of the user.',
    uid: 'Id that distinguishes users who had one name at different times.',
    username: 'Name of the user.',
  },
  'authorization.SubjectAccessReviewSpec': {
    extra: 'Whatever else the authenticator knows of the user.',
    groups: 'Groups of the user.',
    nonResourceAttributes: 'The request, if it is for a path that is no resource.',
    resourceAttributes: 'The request, if it is for a resource.',
    uid: 'Id of the user.',
    user: 'Name of the user.',
  },
  'authorization.SelfSubjectAccessReviewSpec': {
    nonResourceAttributes: 'The request, if it is for a path that is no resource.',
    resourceAttributes: 'The request, if it is for a resource.',
  },
  'authorization.SubjectAccessReviewStatus': {
    allowed: 'Whether the request would be allowed.',
    denied: 'Whether it would be refused, whatever others say.',
    evaluationError: 'Errors during the evaluation; the answer may be right still.',
    reason: 'Why.',
  },
  'authorization.ResourceAttributes': {
    fieldSelector: 'Fields by which the request is narrowed.',
    group: 'Group of the resource; * is all.',
    labelSelector: 'Labels by which the request is narrowed.',
    name: 'Name of the object; empty is all.',
    namespace: 'Namespace of the request; empty for cluster scope, or for all namespaces.',
    resource: 'The resource, such as pods; * is all.',
    subresource: 'The subresource, such as log.',
    verb: 'The verb to check, such as get; * is all.',
    version: 'Version of the API; * is all.',
  },
  'authorization.NonResourceAttributes': { path: 'The path.', verb: 'The method, in small letters.' },
};
