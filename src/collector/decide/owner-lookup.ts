import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Coordinates } from '../graph/identity.ts';
import type { OwnerAnswer } from './facts.ts';
import { isWaiting, type LiveObject } from './live-object.ts';
import type { Target } from './target.ts';

/** A live read of one owner. Two references with equal coordinates are one lookup. */
export interface OwnerLookup {
  /** Under which the answer is handed back. */
  readonly key: OwnerKey;
  readonly reference: OwnerReference;
  readonly target: Target;
}

export type OwnerKey = string;

/** A separator that no field can contain: names, kinds and versions have no control characters. */
const SEPARATOR = '\u0000';

export function ownerKey({ apiVersion, kind, name, uid }: Coordinates): OwnerKey {
  return [apiVersion, kind, name, uid].join(SEPARATOR);
}

/** What a read at the reference's coordinates proves. Pass `absent` only for a proof (COL-116), `error` for all else. */
export function ownerAnswer(reference: Coordinates, read: LiveObject | 'absent' | 'error'): OwnerAnswer {
  if (read === 'absent' || read === 'error') return read;
  if (read.uid !== reference.uid) return 'absent';
  return isWaiting(read) ? 'waiting' : 'solid';
}
