import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { difference, EMPTY_SET, fieldSetOf, hasPath, union } from './fieldset.ts';
import { encodeManagers, type ManagedEntry, type Manager, storedManagers } from './managed-fields.ts';
import type { PathElement } from './path-element.ts';

const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_IN_SCALE: readonly PathElement[] = ['f:spec', 'f:replicas'];

/**
 * Who manages the replicas of an object, as the managers of its Scale: an apply to `/scale` decides about these
 * (apimachinery `managedfields.ScaleHandler`). `replicas`: where the object has the number.
 */
export function managersOfScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  replicas: readonly PathElement[],
): ManagedFieldsEntry[] | undefined {
  const fields = fieldSetOf(REPLICAS_IN_SCALE);
  return encodeManagers(
    storedManagers(entries)
      .filter((entry) => hasPath(entry.fields, replicas))
      .map((entry) => ({ ...withoutSource(entry), apiVersion: SCALE_VERSION, fields })),
  );
}

export interface ScaledParent {
  /** As stored. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  readonly replicas: readonly PathElement[];
  readonly apiVersion: string;
}

/**
 * The managers of the object after an apply to its Scale: who lost the replicas there loses them here, and who is new there has
 * them and nothing else. Unlike upstream, a manager that keeps them stays one entry.
 */
export function managersAfterScale(
  { entries, replicas, apiVersion }: ScaledParent,
  ofScale: readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const own = fieldSetOf(replicas);
  const left = storedManagers(ofScale).filter((entry) => hasPath(entry.fields, REPLICAS_IN_SCALE));
  const after: ManagedEntry[] = storedManagers(entries).map((entry) => {
    if (!hasPath(entry.fields, replicas)) return entry;
    const at = left.findIndex((scaled) => isSame(scaled, entry));
    if (at < 0) return { ...entry, fields: difference(entry.fields, own) };
    const [kept] = left.splice(at, 1);
    return { ...entry, time: kept?.time ?? entry.time };
  });
  for (const entry of left) {
    const at = after.findIndex((known) => isSame(known, entry));
    const known = after[at];
    const fields = union(known?.fields ?? EMPTY_SET, own);
    if (known === undefined) after.push({ ...withoutSource(entry), apiVersion, fields });
    else after[at] = { ...known, time: entry.time, fields };
  }
  return encodeManagers(after);
}

/** The version is that of the Scale on one side and that of the object on the other. */
function isSame(a: Manager, b: Manager): boolean {
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource;
}

function withoutSource({ stored: _stored, ...entry }: ManagedEntry): ManagedEntry {
  return entry;
}
