import { type FieldSet, isEmptySet, LEAF } from './fieldset.ts';
import type { ManagedEntry } from './managed-fields.ts';
import { fieldNameOf } from './path-element.ts';
import { DEDUCED, memberType, type TypeSchema } from './schema.ts';

/**
 * Adapts a set that was written before its schema changed. A manager of some part of a list or map that is atomic now owns all of it
 * (structured-merge-diff `ReconcileFieldSetWithSchema`). The reverse change needs nothing, as upstream. Returns the set itself if it fits.
 */
function fitSchema(set: FieldSet, type: TypeSchema): FieldSet {
  return isEmptySet(set) ? set : fitNode(set, type);
}

/** The same for a managed entry. Returns the entry itself if it fits. */
export function fittedEntry(entry: ManagedEntry, type: TypeSchema): ManagedEntry {
  const fields = fitSchema(entry.fields, type);
  return fields === entry.fields ? entry : { ...entry, fields };
}

function fitNode(node: FieldSet, type: TypeSchema): FieldSet {
  if (isEmptySet(node) || type === DEDUCED) return node;
  const { map, scalar, list } = type;
  if (map === undefined && scalar !== undefined) return node;
  const relationship = map?.relationship ?? list?.relationship;
  if (relationship === 'atomic') return LEAF;
  let fitted: Record<string, FieldSet> | undefined;
  for (const element in node) {
    const name = fieldNameOf(element);
    const below = map === undefined ? list?.element() : name === undefined ? undefined : memberType(map, name);
    if (element === '.' || below === undefined) continue;
    const child = fitNode(node[element]!, below);
    if (child !== node[element]) (fitted ??= { ...node })[element] = child;
  }
  return fitted ?? node;
}
