/** An object to which a token is bound: the token is valid only while this object exists. */
export interface ObjectClaim {
  readonly name: string;
  /** Absent for a node that does not exist; then only its name is given. */
  readonly uid?: string;
}

/** The claims in the token of a service account (upstream `pkg/serviceaccount/claims.go`). Times in seconds since the epoch. */
export interface ServiceAccountClaims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly 'kubernetes.io': KubernetesClaims;
  readonly nbf: number;
  readonly sub: string;
}

export interface KubernetesClaims {
  readonly namespace: string;
  readonly node?: ObjectClaim;
  readonly pod?: ObjectClaim;
  readonly secret?: ObjectClaim;
  readonly serviceaccount: ObjectClaim;
  /** From this time on, uses are reported, because the client should have renewed the token. */
  readonly warnafter?: number;
}

/** The object to which a token is bound in addition to its account. The node of a pod is included with the pod. */
export interface Binding {
  readonly pod?: ObjectClaim;
  readonly secret?: ObjectClaim;
  readonly node?: ObjectClaim;
}

export interface ClaimsRequest {
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly binding: Binding;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** True if the server is the only audience. */
  readonly forServer: boolean;
}

/** Kubelets request this lifetime for every pod. Such tokens live longer, so that clients that never reload them are found. */
const WARN_ONLY_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 60 * 60;

/** `now` in epoch milliseconds. */
export function claimsOf(
  request: ClaimsRequest,
  { issuer, now, id }: { readonly issuer: string; readonly now: number; readonly id: string },
): ServiceAccountClaims {
  const { namespace, account, binding, audiences, expirationSeconds, forServer } = request;
  const seconds = Math.floor(now / 1000);
  const extended = forServer && binding.pod !== undefined && expirationSeconds === WARN_ONLY_SECONDS;
  return {
    aud: audiences,
    exp: seconds + (extended ? EXTENDED_SECONDS : expirationSeconds),
    iat: seconds,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(binding.node === undefined ? {} : { node: binding.node }),
      ...(binding.pod === undefined ? {} : { pod: binding.pod }),
      ...(binding.secret === undefined ? {} : { secret: binding.secret }),
      serviceaccount: account,
      ...(extended ? { warnafter: seconds + expirationSeconds } : {}),
    },
    nbf: seconds,
    sub: serviceAccountUsername(namespace, account.name),
  };
}

export function serviceAccountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The groups of every account of a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Tolerance for clocks of other machines. */
const LEEWAY_SECONDS = 60;

/** The reason why the token is not valid at `now`, in epoch milliseconds; undefined if it is. */
export function timeProblem(
  { exp, nbf, iat }: Pick<ServiceAccountClaims, 'exp' | 'nbf' | 'iat'>,
  now: number,
): string | undefined {
  const seconds = now / 1000;
  if (seconds + LEEWAY_SECONDS < nbf) return 'service account token is not valid yet';
  if (seconds - LEEWAY_SECONDS > exp) return 'service account token has expired';
  if (seconds + LEEWAY_SECONDS < iat) return 'service account token is issued in the future';
  return undefined;
}

/** An object whose deletion began longer ago counts as gone. */
export const DELETION_LEEWAY_MS = LEEWAY_SECONDS * 1000;

/** The claims of a payload that this server has signed; undefined for another issuer's. */
export function readClaims(payload: Readonly<Record<string, unknown>>): ServiceAccountClaims | undefined {
  const { aud, exp, iat, nbf, iss, jti, sub } = payload;
  const kubernetes = payload['kubernetes.io'];
  if (typeof kubernetes !== 'object' || kubernetes === null) return undefined;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (!Array.isArray(audiences) || typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number') {
    return undefined;
  }
  if (typeof iss !== 'string' || typeof sub !== 'string') return undefined;
  const id = typeof jti === 'string' ? jti : '';
  return { aud: audiences, exp, iat, iss, jti: id, 'kubernetes.io': kubernetes as KubernetesClaims, nbf, sub };
}
