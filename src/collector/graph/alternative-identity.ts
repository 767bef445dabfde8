import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { compareIdentities, sameCoordinates, sameIdentity, type Identity } from '../types/identity.ts';

/** The facts about a dependent that its references need. */
export interface ReferringDependent {
  readonly namespace: string;
  readonly ownerReferences: readonly OwnerReference[];
}

/**
 * Another identity for the uid that was just proven absent under `absent` (COL-076), taken from the references of dependents. It is the
 * next one in the order of identities, or the first one after the last, so that each is tried. Undefined if there is no other.
 */
export function alternativeIdentity(dependents: Iterable<ReferringDependent>, absent: Identity): Identity | undefined {
  let first: Identity | undefined;
  let following: Identity | undefined;
  for (const dependent of dependents) {
    for (const reference of dependent.ownerReferences) {
      const other = identityFrom(reference, dependent.namespace, absent);
      if (other === undefined) continue;
      if (first === undefined || compareIdentities(other, first) < 0) first = other;
      if (
        compareIdentities(other, absent) > 0 &&
        (following === undefined || compareIdentities(other, following) < 0)
      ) {
        following = other;
      }
    }
  }
  return following ?? first;
}

function identityFrom(reference: OwnerReference, dependentNamespace: string, absent: Identity): Identity | undefined {
  const { apiVersion, kind, name, uid } = reference;
  if (uid !== absent.uid) return undefined;
  const clusterScoped = absent.namespace === '';
  const inReach = clusterScoped || absent.namespace === dependentNamespace;
  if (inReach && sameCoordinates(reference, absent)) return undefined;
  // The read that proved the absence also showed the scope of this kind.
  const sameKind = apiVersion === absent.apiVersion && kind === absent.kind;
  const namespace = clusterScoped && sameKind ? '' : dependentNamespace;
  const identity = { apiVersion, kind, namespace, name, uid };
  return sameIdentity(identity, absent) ? undefined : identity;
}
