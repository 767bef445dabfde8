import { append } from '../../base/collections/append.ts';
import { A_TURN, finished, type Steps } from '../../base/time/steps.ts';
import { equalJson } from '../codec/json/json-value.ts';
import type { KubeObject, ManagedFieldsEntry } from '../meta/object-meta.ts';
import { type Comparison, compareInSteps, NO_CHANGE, touchedBy } from './compare.ts';
import { fittedEntry } from './fit-schema.ts';
import { difference, EMPTY_SET, type FieldSet, isEmptySet, union } from './fieldset.ts';
import {
  encodeManagers,
  entryTime,
  isSameManager,
  type ManagedEntry,
  type Manager,
  type Managers,
  managerIdentifier,
  namedManager,
  requestedManagers,
  storedManagers,
} from './managed-fields.ts';
import type { TypeSchema } from './schema.ts';
import { comparedFields, type TrackedPart, trackedOnly } from './tracked-fields.ts';
import { TypedValueError } from './typed-value-error.ts';

/** The number of update entries that an object keeps. Older entries are merged (API-217). */
const MAX_UPDATE_MANAGERS = 10;
const OLD_UPDATES_MANAGER = 'ancient-changes';

/** A write other than an apply: a create, an update or another patch. */
export interface TrackedUpdate {
  /** The stored object; for a create, the empty object of its kind, decoded. */
  readonly live: KubeObject;
  /** The object that the client wants, decoded. Its managedFields are the client's as well. */
  readonly next: KubeObject;
  /** Its operation is Update. */
  readonly manager: Manager;
  readonly type: TypeSchema;
  readonly tracked: TrackedPart;
  /** The effect of the write in the other versions that managers use. If absent, all managers use the version of the write. */
  readonly elsewhere?: ChangesElsewhere;
  /** The schema of a version, if schemas can change while objects exist. If absent, schemas cannot change. */
  typeAt?(apiVersion: string): TypeSchema | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** Comparisons by apiVersion. `gone` means that the version is no longer served, and its managers are dropped. */
export type ChangesElsewhere = ReadonlyMap<string, Comparison | 'gone'>;

/**
 * The managedFields of the object after an update (API-215 to API-220): the writer of a field is its only owner. Undefined means none.
 * Never fails: if a value cannot be compared, the stored entries stay.
 */
export function trackUpdate(update: TrackedUpdate): ManagedFieldsEntry[] | undefined {
  return finished(trackInSteps(update));
}

/** The same, with pauses. */
export function* trackInSteps(update: TrackedUpdate): Steps<ManagedFieldsEntry[] | undefined> {
  const { live, next, manager } = update;
  const stored = live.metadata?.managedFields;
  // A write through a subresource cannot change managedFields.
  const sent = manager.subresource === '' ? next.metadata?.managedFields : undefined;
  // Most clients send managedFields back unchanged.
  const given = sent === undefined || sent === null || equalJson(sent, stored) ? undefined : sent;
  // Tracking begins when the object is created or first applied, never later.
  const exists = (live.metadata?.uid ?? '') !== '';
  if (given === undefined && stored === undefined && exists) return undefined;
  let changes: Comparison;
  try {
    changes = yield* compareInSteps(live, next, { type: update.type, fields: comparedFields(update.tracked) });
  } catch (error) {
    if (error instanceof TypedValueError) return stored;
    throw error;
  }
  const { elsewhere, typeAt } = update;
  const settled = given === undefined && changes === NO_CHANGE && elsewhere === undefined;
  if (settled && typeAt === undefined) return stored;
  const asked = given === undefined ? storedManagers(stored) : requestedManagers(given, stored);
  if (asked.length === 0 && exists) return undefined;
  const managers = asked.map((entry) => {
    const type = typeAt?.(entry.apiVersion);
    return type === undefined ? entry : fittedEntry(entry, type);
  });
  if (settled && managers.every((entry, index) => entry === asked[index])) return stored;
  const taken = takeOver(managers, changes, update);
  yield A_TURN;
  return encodeManagers(taken);
}

/**
 * Moves changed fields from all managers to this one, and renews its time if it receives any. An entry loses the fields that changed in the
 * version in which it was written.
 */
export function takeOver(
  managers: Managers,
  changes: Comparison,
  { manager, tracked, elsewhere, now }: Pick<TrackedUpdate, 'manager' | 'tracked' | 'elsewhere' | 'now'>,
): Managers {
  const written = union(changes.added, changes.modified);
  const touched = union(written, changes.removed);
  if (isEmptySet(touched) && elsewhere === undefined) return managers;
  const owner = namedManager(manager);
  const taken = trackedOnly(written, tracked);
  const touchedThere = new Map<string, FieldSet | 'gone'>();
  for (const [apiVersion, there] of elsewhere ?? []) {
    touchedThere.set(apiVersion, there === 'gone' ? there : touchedBy(there));
  }
  const result: ManagedEntry[] = [];
  let own: FieldSet = EMPTY_SET;
  let stored: ManagedFieldsEntry | undefined;
  for (const entry of managers) {
    if (!isEmptySet(taken) && isSameManager(entry, owner)) {
      // The manager already owns the fields that it writes, so only removed fields are searched for.
      own = difference(entry.fields, isEmptySet(changes.removed) ? EMPTY_SET : touched);
      stored = entry.stored;
      continue;
    }
    const there = touchedThere.get(entry.apiVersion);
    if (there === 'gone') continue;
    const fields = difference(entry.fields, there ?? touched);
    if (fields === entry.fields) result.push(entry);
    else if (!isEmptySet(fields)) result.push({ ...entry, fields });
  }
  if (!isEmptySet(taken)) {
    const { name, operation, apiVersion, subresource } = owner;
    const fields = union(own, taken);
    result.push({ name, operation, apiVersion, subresource, fields, time: entryTime(now), stored });
  }
  return capped(result);
}

/** Merges the oldest update entries of each version into one until few enough are left (API-217). */
function capped(managers: ManagedEntry[]): Managers {
  if (managers.length <= MAX_UPDATE_MANAGERS) return managers;
  const oldest = oldestFirst(managers);
  let surplus = oldest.length - MAX_UPDATE_MANAGERS;
  if (surplus <= 0) return managers;
  const buckets = bucketsOf(managers);
  const kept = new Set(managers);
  const groups = new Map<string, ManagedEntry[]>();
  for (const entry of oldest) {
    if (surplus <= 0) break;
    if (!kept.has(entry)) continue;
    const { apiVersion } = entry;
    const group = groups.get(apiVersion);
    if (group === undefined) {
      // A single old entry keeps its name.
      groups.set(apiVersion, [entry]);
      continue;
    }
    const [first] = group;
    // An earlier bucket may be younger than the entries that are merged now, if both have the same second.
    const earlier = group.length > 1 ? [] : (buckets.get(apiVersion) ?? []);
    const joining = [...earlier.filter((other) => other !== first && other !== entry), entry];
    append(group, joining);
    kept.delete(first!);
    for (const other of joining) kept.delete(other);
    // The version whose manager received fields last comes last.
    groups.delete(apiVersion);
    groups.set(apiVersion, group);
    surplus -= joining.length;
  }
  return [...kept, ...[...groups.values()].filter(({ length }) => length > 1).map(bucketOf)];
}

/** The entries into which earlier writes merged others, by version. */
function bucketsOf(managers: Managers): ReadonlyMap<string, readonly ManagedEntry[]> {
  const buckets = new Map<string, ManagedEntry[]>();
  for (const entry of managers) {
    const { name, operation, apiVersion, subresource } = entry;
    if (name !== OLD_UPDATES_MANAGER || operation !== 'Update' || subresource !== '') continue;
    const others = buckets.get(apiVersion);
    if (others === undefined) buckets.set(apiVersion, [entry]);
    else others.push(entry);
  }
  return buckets;
}

/** One entry for a group. It has the time of the youngest entry, which is the last. */
function bucketOf(group: readonly ManagedEntry[]): ManagedEntry {
  const fields = unionOf(group.map((entry) => entry.fields));
  return { ...group.at(-1)!, name: OLD_UPDATES_MANAGER, subresource: '', fields };
}

/** Unites pairs, then pairs of pairs, because one after the other would copy all earlier sets each time. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? EMPTY_SET;
  const half = Math.ceil(sets.length / 2);
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/** Update entries by age, oldest first. Entries of one second are ordered by identifier. */
function oldestFirst(managers: Managers): ManagedEntry[] {
  return managers
    .filter(({ operation }) => operation === 'Update')
    .map((entry) => ({ entry, identifier: managerIdentifier(entry) }))
    .sort((a, b) => {
      if (a.entry.time !== b.entry.time) return a.entry.time < b.entry.time ? -1 : 1;
      return a.identifier < b.identifier ? -1 : 1;
    })
    .map(({ entry }) => entry);
}
