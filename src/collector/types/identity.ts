/** `metadata.uid`, as the server wrote it. */
export type Uid = string;

/**
 * The owner that a reference names: two references mean the same object only if all four fields are equal. `controller` and
 * `blockOwnerDeletion` are no part of it (COL-130).
 */
export interface Coordinates {
  /** `v1`, `apps/v1`; compared literally, another served version of the kind is another coordinate (COL-074). */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: Uid;
}

/** Coordinates and a namespace: one object in the cluster (COL-045). */
export interface Identity extends Coordinates {
  /** Empty for cluster-scoped objects, and for an owner that is only known from a cluster-scoped dependent. */
  readonly namespace: string;
}

export function sameCoordinates(a: Coordinates, b: Coordinates): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && sameCoordinates(a, b);
}

/** The order in which alternative identities are tried: kind, apiVersion, namespace, name, uid (COL-076). */
export function compareIdentities(a: Identity, b: Identity): number {
  return (
    compareText(a.kind, b.kind) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name) ||
    compareText(a.uid, b.uid)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
