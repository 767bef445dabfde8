import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { coordinatesOf, coordinatesOfObject, coordinatesOfOwner, type UndoFacts } from './undo-facts.ts';
import type { ConflictPolicy, UndoAction } from '../documents/undo-plan.ts';

/** The result for one owner reference of a recorded object. */
export type OwnerFate =
  /** The owner is in the cluster, with this uid. */
  | { readonly fate: 'live'; readonly uid: string }
  /** The owner is restored too; it was recorded with this uid. */
  | { readonly fate: 'restored'; readonly recordedUid: string }
  /** The owner does not exist and is not restored. */
  | { readonly fate: 'absent' };

/** The plan's decisions about recorded objects, by recorded uid. */
export type DecidedActions = ReadonlyMap<string, { readonly body: KubeObject; readonly action: UndoAction }>;

/**
 * Finds the owner of a recorded reference. Another object with the owner's name takes its place, as in `relink`; for a recorded owner only
 * if conflicts are skipped.
 */
export function fateOfOwner(
  dependent: KubeObject,
  reference: OwnerReference,
  { decided, facts, onConflict }: { decided: DecidedActions; facts: UndoFacts; onConflict: ConflictPolicy },
): OwnerFate {
  const recorded = decided.get(reference.uid);
  if (recorded?.action === 'create') return { fate: 'restored', recordedUid: reference.uid };
  if (recorded?.action === 'impossible') return { fate: 'absent' };
  if (recorded?.action === 'conflict' && onConflict === 'fail') return { fate: 'absent' };
  const at =
    recorded === undefined
      ? coordinatesOfOwner(dependent, reference, facts.served)
      : coordinatesOfObject(recorded.body);
  const live = facts.live.get(at);
  return live === undefined || live.terminating ? { fate: 'absent' } : { fate: 'live', uid: live.uid };
}

/** The place of the ServiceAccount that an object of a namespace names. */
export const accountCoordinates = (namespace: string | undefined, name: string): string =>
  coordinatesOf('v1', 'ServiceAccount', namespace, name);

export const volumeCoordinates = (name: string): string => coordinatesOf('v1', 'PersistentVolume', undefined, name);
