import { isJsonObject } from '../codec/json/json-value.ts';
import { newBadRequest, newUntypedInternal } from '../status-error.ts';
import { orderElements } from './element-order.ts';
import { elementIdentity, requireMergeKey } from './merge-key.ts';
import { DIRECTIVE, readDirective, withoutDirectives } from './patch-directives.ts';
import { rejectedPatch } from './rejected-patch.ts';

type Json = Record<string, unknown>;

export interface ListMerge {
  /** Absent for lists of scalars. */
  readonly mergeKey?: string;
  /** Merges an element of the patch into the live one of the same key. */
  readonly mergeElement: (live: Json, patch: Json) => Json;
}

/**
 * Merges a list whose field has strategy `merge`: scalars as a set, objects by the merge key. Elements keep the live order; elements in the
 * patch have the patch's order ({@link orderElements}).
 */
export function mergeList(live: readonly unknown[], patch: readonly unknown[], merge: ListMerge): unknown[] {
  if (live.length === 0 && patch.length === 0) return [];
  const merged =
    elementKind(live, patch) === 'object'
      ? mergeObjects(live as readonly Json[], patch as readonly Json[], merge)
      : mergeScalars(live, patch);
  const identify = (item: unknown): unknown => elementIdentity(item, merge.mergeKey);
  return orderElements(merged, identify, {
    patchOrder: patch.filter((item) => !isDirective(item)).map(identify),
    serverOrder: live.map(identify),
  });
}

/** `$deleteFromPrimitiveList` removes all occurrences, whatever the field's strategy. */
export function removeFromList(live: readonly unknown[], values: readonly unknown[]): unknown[] {
  if (live.length > 0 && values.length > 0 && elementKind(live, values) === 'object') {
    throw newBadRequest('invalid patch format of primitive list');
  }
  const removed = new Set(values);
  return live.filter((item) => !removed.has(item));
}

function mergeScalars(live: readonly unknown[], patch: readonly unknown[]): unknown[] {
  return [...new Set([...live, ...patch])];
}

function mergeObjects(live: readonly Json[], patch: readonly Json[], merge: ListMerge): Json[] {
  const { mergeKey, mergeElement } = merge;
  if (mergeKey === undefined) throw newUntypedInternal('cannot merge lists without merge key');
  let replaces = false;
  const deleted = new Set<unknown>();
  const content: Json[] = [];
  for (const element of patch) {
    const directive = readDirective(element);
    if (directive === 'replace') replaces = true;
    else if (directive === 'delete') deleted.add(requireMergeKey(element, mergeKey));
    else content.push(element);
  }

  const merged: Json[] = replaces ? [] : live.filter((element) => !deleted.has(element[mergeKey]));
  for (const element of merged) requireMergeKey(element, mergeKey);
  const position = new Map<unknown, number>();
  for (const [index, element] of merged.entries()) {
    if (!position.has(element[mergeKey])) position.set(element[mergeKey], index);
  }
  for (const element of content) {
    const identity = requireMergeKey(element, mergeKey);
    const at = position.get(identity);
    const current = at === undefined ? undefined : merged[at];
    // A replacing patch keeps its duplicates, as upstream, because nothing is merged.
    if (at === undefined || current === undefined || replaces) {
      position.set(identity, merged.length);
      merged.push(withoutDirectives(element) as Json);
    } else {
      merged[at] = mergeElement(current, element);
    }
  }
  return merged;
}

function isDirective(element: unknown): boolean {
  return isJsonObject(element) && Object.hasOwn(element, DIRECTIVE) && readDirective(element) !== 'merge';
}

/**
 * The kind that all elements have.
 * @throws StatusError 422 for lists of lists, 400 for a mixture (API-196)
 */
function elementKind(live: readonly unknown[], patch: readonly unknown[]): string {
  let kind: string | undefined;
  for (const element of [...live, ...patch]) {
    if (Array.isArray(element)) throw rejectedPatch('lists of lists are not supported');
    const found = element === null ? 'null' : typeof element;
    if (found === 'null' || (kind !== undefined && found !== kind)) {
      throw newBadRequest('list element types are not identical');
    }
    kind = found;
  }
  return kind ?? 'null';
}
