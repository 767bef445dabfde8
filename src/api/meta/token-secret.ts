import type { KubeObject } from './object-meta.ts';

/** The type of Secrets with a permanent token of a ServiceAccount. */
export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';
/** Annotations of such a Secret: the name and the uid of its account. */
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
export const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
/** Labels of such a Secret: the day of its last use, and the day since which the server refuses it. */
export const LAST_USED = 'kubernetes.io/legacy-token-last-used';
export const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
/** The ConfigMap of `kube-system` that says since when uses have been noted. */
export const TOKEN_TRACKING = 'kube-apiserver-legacy-service-account-token-tracking';
/** The type of Secrets with a token by which a node joins the cluster. */
export const BOOTSTRAP_TOKEN_TYPE = 'bootstrap.kubernetes.io/token';

/** The name of the account of a Secret; empty if it names none. */
export function accountOf(secret: KubeObject): string {
  return secret.metadata?.annotations?.[ACCOUNT_NAME] ?? '';
}
