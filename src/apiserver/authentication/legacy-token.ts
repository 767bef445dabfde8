import { type ObjectClaim, serviceAccountUsername } from './service-account-claims.ts';

/** `iss` of the tokens in Secrets (upstream `pkg/serviceaccount/legacy.go`). These tokens have no audience and do not expire. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';

const PREFIX = 'kubernetes.io/serviceaccount';

/** The content of a token in a Secret. */
export interface LegacyClaims {
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly secret: string;
  readonly username: string;
}

export function legacyClaims({ namespace, account, secret }: Omit<LegacyClaims, 'username'>): object {
  return {
    iss: LEGACY_ISSUER,
    [`${PREFIX}/namespace`]: namespace,
    [`${PREFIX}/secret.name`]: secret,
    [`${PREFIX}/service-account.name`]: account.name,
    [`${PREFIX}/service-account.uid`]: account.uid,
    sub: serviceAccountUsername(namespace, account.name),
  };
}

/** Undefined for an incomplete payload, or for another subject. */
export function readLegacyClaims(payload: Readonly<Record<string, unknown>>): LegacyClaims | undefined {
  const text = (name: string): string => {
    const value = payload[name];
    return typeof value === 'string' ? value : '';
  };
  const namespace = text(`${PREFIX}/namespace`);
  const secret = text(`${PREFIX}/secret.name`);
  const account = { name: text(`${PREFIX}/service-account.name`), uid: text(`${PREFIX}/service-account.uid`) };
  const username = serviceAccountUsername(namespace, account.name);
  if ([namespace, secret, account.name, account.uid].includes('') || text('sub') !== username) return undefined;
  return { namespace, account, secret, username };
}
