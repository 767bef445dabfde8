import type { Identity, Uid } from '../types/identity.ts';

/** How the REST mapper serves a kind (COL-029). */
export interface KindMapping {
  /** The version for the calls; with BETTER-12 it may differ from the version in the reference. */
  readonly apiVersion: string;
  /** Plural: `pods`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /**
   * Objects of the kind may also be in another resource, so their absence from this one proves nothing. Never set if the resource of the
   * object is known.
   */
  readonly alsoElsewhere?: true;
}

/** The address of a call about one object. `namespace` is empty exactly for cluster-scoped kinds (COL-172). */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The uid of the intended object; not part of the path. */
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
