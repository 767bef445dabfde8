import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { difference, EMPTY_SET, fieldSetOf, hasPath, union } from './fieldset.ts';
import { encodeManagers, type ManagedEntry, type Manager, namedManager, storedManagers } from './managed-fields.ts';
import type { PathElement } from './path-element.ts';

const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_IN_SCALE: readonly PathElement[] = ['f:spec', 'f:replicas'];

/**
 * The path of the replica count in objects of a version. `nowhere` means that the version has no Scale. Undefined means that the version no
 * longer exists, and its managers are dropped.
 */
export type ReplicasPaths = (apiVersion: string) => readonly PathElement[] | 'nowhere' | undefined;

/**
 * The managers of an object's replicas, shown as managers of its Scale, because a write to `/scale` can change them (apimachinery
 * `managedfields.ScaleHandler`).
 */
export function managersOfScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  replicas: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const fields = fieldSetOf(REPLICAS_IN_SCALE);
  return encodeManagers(
    storedManagers(entries)
      .filter((entry) => {
        const path = replicas(entry.apiVersion);
        return path !== undefined && path !== 'nowhere' && hasPath(entry.fields, path);
      })
      .map((entry) => ({ ...withoutSource(entry), apiVersion: SCALE_VERSION, fields })),
  );
}

export interface ScaledParent {
  /** As stored. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  readonly replicas: ReplicasPaths;
  /** The version of the write. It has a Scale. */
  readonly apiVersion: string;
}

/**
 * The managers of the object after a write to its Scale. A manager that lost the replicas on the Scale loses them on the object. A new
 * manager of the Scale owns only the replicas, without a time, as upstream. Unlike upstream, an updater that keeps the replicas stays one
 * entry.
 */
export function managersAfterScale(
  { entries, replicas, apiVersion }: ScaledParent,
  ofScale: readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const left = storedManagers(ofScale).filter((entry) => hasPath(entry.fields, REPLICAS_IN_SCALE));
  const after: ManagedEntry[] = [];
  for (const entry of storedManagers(entries)) {
    const path = replicas(entry.apiVersion);
    if (path === undefined) continue;
    if (path === 'nowhere' || !hasPath(entry.fields, path)) {
      after.push(entry);
      continue;
    }
    const at = left.findIndex((scaled) => isSame(scaled, entry));
    if (at >= 0) left.splice(at, 1);
    after.push(at >= 0 ? entry : { ...entry, fields: difference(entry.fields, fieldSetOf(path)) });
  }
  const path = replicas(apiVersion);
  const own = path === undefined || path === 'nowhere' ? EMPTY_SET : fieldSetOf(path);
  for (const entry of left) {
    const at = after.findIndex((known) => isSame(known, entry));
    const known = after[at];
    if (known === undefined) after.push({ ...withoutSource(entry), apiVersion, time: '', fields: own });
    else after[at] = { ...known, fields: union(known.fields, own) };
  }
  return encodeManagers(after);
}

/**
 * The same for an update of the Scale. The updater owns a changed number if the number had a manager before. As with whole objects,
 * tracking does not begin with an update (API-217).
 */
export function managersAfterScaling(
  parent: ScaledParent,
  { manager, replicas }: { readonly manager: string; readonly replicas: 'changed' | 'same' },
): ManagedFieldsEntry[] | undefined {
  const ofScale = managersOfScale(parent.entries, parent.replicas);
  if (ofScale === undefined || replicas === 'same') return managersAfterScale(parent, ofScale);
  const scaler = namedManager({
    name: manager,
    operation: 'Update',
    apiVersion: SCALE_VERSION,
    subresource: 'scale',
  });
  const fields = fieldSetOf(REPLICAS_IN_SCALE);
  return managersAfterScale(parent, encodeManagers([{ ...scaler, fields, time: '' }]));
}

/** One side has the version of the Scale, the other the version of the object. */
function isSame(a: Manager, b: Manager): boolean {
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource;
}

function withoutSource({ stored: _stored, ...entry }: ManagedEntry): ManagedEntry {
  return entry;
}
