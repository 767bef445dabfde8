import { equalJson } from '../codec/json-value.ts';
import type { KubeObject, ManagedFieldsEntry } from '../meta/object-meta.ts';
import { type Comparison, compareObjects, type ComparedFields } from './compare.ts';
import type { ManagerConflict } from './conflicts.ts';
import { extractFieldSet } from './extract-field-set.ts';
import { difference, EMPTY_SET, type FieldSet, intersection, isEmptySet, union } from './fieldset.ts';
import { fieldsOfLastApplied, KUBECTL_MANAGER, withLastApplied } from './last-applied.ts';
import {
  encodeManagers,
  entryTime,
  isSameManager,
  type ManagedEntry,
  type Manager,
  type Managers,
  storedManagers,
} from './managed-fields.ts';
import { mergeTyped } from './merge.ts';
import { removeItems, withNamedFields } from './remove-items.ts';
import type { TypeSchema } from './schema.ts';
import { comparedFields, partOf, type TrackedPart, trackedOnly } from './tracked-fields.ts';
import { takeOver } from './update-managers.ts';

/** Owns what was there before anybody applied (API-217). */
const BEFORE_FIRST_APPLY = 'before-first-apply';

export interface Application {
  /** As stored; for a create {@link emptyLive} itself. */
  readonly live: KubeObject;
  /** The empty object of the kind, as decoded. */
  readonly emptyLive: KubeObject;
  /** As the client sent it, valid by {@link validateTyped}. Not decoded: what it does not say must not be said for it. */
  readonly config: KubeObject;
  /** Its operation is Apply. */
  readonly manager: Manager;
  readonly type: TypeSchema;
  readonly tracked: TrackedPart;
  /** `force`: takes from other managers what it wants to change. */
  readonly onConflict: 'refuse' | 'force';
  /** Epoch ms. */
  readonly now: number;
}

export type Applied =
  | {
      readonly outcome: 'applied';
      /** Not yet decoded and defaulted; shares with `live` and `config`. Its managedFields are already those below. */
      readonly object: KubeObject;
      readonly managedFields: ManagedFieldsEntry[] | undefined;
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly ManagerConflict[] };

/**
 * Server-side apply (API-210 to API-223; structured-merge-diff `Updater.Apply` and the managers apimachinery puts around it):
 * the configuration is merged into the object, what its manager applied before and does not any more goes unless somebody
 * else owns it, and the manager owns exactly what the configuration says.
 */
export function applyConfiguration(application: Application): Applied {
  const applied = applyOnce(application);
  if (applied.outcome === 'applied' || application.manager.name !== KUBECTL_MANAGER) return applied;
  const allowed = fieldsOfLastApplied(application.live, application.type);
  if (isEmptySet(allowed)) return applied;
  const conflicts = applied.conflicts
    .map(({ manager, fields }) => ({ manager, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  return conflicts.length > 0 ? { outcome: 'conflict', conflicts } : applyOnce({ ...application, onConflict: 'force' });
}

function applyOnce(application: Application): Applied {
  const { live, config, manager, type, tracked } = application;
  const compared = comparedFields(tracked);
  const before = managersBefore(application, compared);
  // With the name in it, so that what goes does not take metadata along.
  const said = partOf(extractFieldSet(config, type), tracked);
  const last = before.find((entry) => isSameManager(entry, manager));
  const others = before.filter((entry) => entry !== last);

  const merged = mergeTyped(live, config, type) as KubeObject;
  const object =
    last === undefined || isEmptySet(last.fields)
      ? merged
      : prune(merged, {
          type,
          last: last.fields,
          owned: others.reduce((set, { fields }) => union(set, fields), said),
        });

  const changes = compareObjects(live, object, { type, fields: compared });
  const conflicts = conflictsOf(others, changes);
  if (conflicts.length > 0 && application.onConflict === 'refuse') return { outcome: 'conflict', conflicts };

  const touched = union(union(changes.added, changes.modified), changes.removed);
  const after: ManagedEntry[] = others.map((entry) => ({ ...entry, fields: difference(entry.fields, touched) }));
  const changed = !equalJson(live, object);
  // A new manager that changes nothing has no time: upstream renews it only with the object.
  after.push({
    ...manager,
    fields: trackedOnly(said, tracked),
    time: changed ? entryTime(application.now) : (last?.time ?? ''),
  });
  const managedFields = encodeManagers(after);
  const annotated = manager.name === KUBECTL_MANAGER ? withLastApplied(object, config) : object;
  return { outcome: 'applied', object: withManagedFields(annotated, managedFields), managedFields };
}

/** Those of the object; if it has none, one that owns all that is there. */
function managersBefore(
  { live, emptyLive, manager, type, tracked, now }: Application,
  fields: ComparedFields,
): Managers {
  const managers = storedManagers(live.metadata?.managedFields);
  if (managers.length > 0 || live === emptyLive) return managers;
  const owner: Manager = { ...manager, name: BEFORE_FIRST_APPLY, operation: 'Update' };
  return takeOver([], compareObjects(emptyLive, live, { type, fields }), { manager: owner, tracked, now });
}

function conflictsOf(others: Managers, { added, modified }: Comparison): ManagerConflict[] {
  const written = union(added, modified);
  return others
    .map((entry) => ({ manager: entry, fields: intersection(entry.fields, written) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

interface Pruning {
  readonly type: TypeSchema;
  /** What the manager applied last time. */
  readonly last: FieldSet;
  /** What anybody owns now, this manager's new configuration included. */
  readonly owned: FieldSet;
}

/**
 * API-214. Removing what was applied last time takes everything below along; what somebody owns, and what nobody owns but this
 * manager never had, is put back.
 */
function prune(merged: KubeObject, { type, last, owned }: Pruning): KubeObject {
  const named = (set: FieldSet): FieldSet => withNamedFields(set, type);
  const fieldsIn = (object: unknown): FieldSet => (object === null ? EMPTY_SET : named(extractFieldSet(object, type)));
  const lastFields = named(last);
  const all = fieldsIn(merged);
  const rough = removeItems(merged, lastFields, type);
  const kept = union(fieldsIn(rough), named(owned));
  const withOwned = removeItems(merged, difference(all, kept), type);
  return removeItems(merged, intersection(difference(all, fieldsIn(withOwned)), lastFields), type) as KubeObject;
}

function withManagedFields(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}
