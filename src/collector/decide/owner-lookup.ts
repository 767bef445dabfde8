import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Coordinates } from '../types/identity.ts';
import type { OwnerAnswer } from './facts.ts';
import { isWaiting, type LiveObject } from './live-object.ts';
import { targetOf, type KindMapping, type Target } from './target.ts';

/** A live read of one owner. Two references with equal coordinates are one lookup. */
export interface OwnerLookup {
  /** The key under which the answer is returned. */
  readonly key: OwnerKey;
  readonly reference: OwnerReference;
  readonly target: Target;
  /** The read must not come from an older state than this version. */
  readonly notOlderThan?: string;
  /** The owner may also be in another resource of its kind, so only its presence in this one proves something. */
  readonly alsoElsewhere?: true;
}

export type OwnerKey = string;

/** No field can contain it. */
const SEPARATOR = '\u0000';

/** Coordinates and place: an answer is valid only for the place that was read. */
export function ownerKey({ apiVersion, kind, name, uid }: Coordinates, target: Target): OwnerKey {
  const { apiVersion: servedVersion, resource, namespace } = target;
  return [apiVersion, kind, name, uid, servedVersion, resource, namespace].join(SEPARATOR);
}

/** The lookup of an owner for a dependent in `namespace` (empty if cluster-scoped). */
export function ownerLookup(reference: OwnerReference, mapping: KindMapping, namespace: string): OwnerLookup {
  const { apiVersion, kind, name, uid } = reference;
  const target = targetOf({ apiVersion, kind, name, uid, namespace }, mapping);
  const lookup = { key: ownerKey(reference, target), reference, target };
  return mapping.alsoElsewhere === true ? { ...lookup, alsoElsewhere: true } : lookup;
}

/** The conclusion from a read at the lookup's target. Pass `absent` only for a proof (COL-116), otherwise `error`. */
export function ownerAnswer(
  { reference, alsoElsewhere }: Pick<OwnerLookup, 'reference' | 'alsoElsewhere'>,
  read: LiveObject | 'absent' | 'error',
): OwnerAnswer {
  if (read === 'error') return read;
  if (read === 'absent' || read.uid !== reference.uid) return alsoElsewhere === true ? 'error' : 'absent';
  return isWaiting(read) ? 'waiting' : 'solid';
}
