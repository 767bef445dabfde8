import type { Identity, Uid } from '../types/identity.ts';

/** How the REST mapper serves a kind (COL-029). */
export interface KindMapping {
  /** Version under which the calls are made; for BETTER-12 another one than the reference names. */
  readonly apiVersion: string;
  /** Plural: `pods`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /**
   * Objects of the kind may be in another resource too, so that the absence of one from this resource proves nothing. Never set where
   * the resource of the object is known.
   */
  readonly alsoElsewhere?: true;
}

/** Where a call about one object goes. `namespace` is empty exactly for cluster-scoped kinds (COL-172). */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Whom we mean; not part of the path. */
  readonly uid: Uid;
}

export function targetOf(identity: Identity, mapping: KindMapping): Target {
  return {
    apiVersion: mapping.apiVersion,
    kind: identity.kind,
    resource: mapping.resource,
    namespace: mapping.namespaced ? identity.namespace : '',
    name: identity.name,
    uid: identity.uid,
  };
}

export function sameTarget(a: Target, b: Target): boolean {
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.namespace === b.namespace &&
    a.resource === b.resource &&
    a.apiVersion === b.apiVersion
  );
}
