import { equalJson } from '../codec/json/json-value.ts';
import type { KubeObject, ManagedFieldsEntry } from '../meta/object-meta.ts';
import { type Comparison, compareObjects, type ComparedFields, NO_CHANGE, touchedBy } from './compare.ts';
import type { ManagerConflict } from './conflicts.ts';
import { extractFieldSet } from './extract-field-set.ts';
import { fittedEntry } from './fit-schema.ts';
import { difference, intersection, isEmptySet, union } from './fieldset.ts';
import {
  type Converting,
  PAUSE,
  inVersion,
  type KindVersion,
  type OtherVersions,
  withoutConversion,
} from './kind-versions.ts';
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
import { prune, type VersionedFields } from './prune.ts';
import type { TypeSchema } from './schema.ts';
import { comparedFields, partOf, type TrackedPart, trackedOnly } from './tracked-fields.ts';
import { takeOver } from './update-managers.ts';

/** This manager owns the fields that existed before the first apply (API-217). */
const BEFORE_FIRST_APPLY = 'before-first-apply';

export interface Application {
  /** The stored object; for a create, {@link emptyLive} itself. */
  readonly live: KubeObject;
  /** The empty object of the kind, as decoded. */
  readonly emptyLive: KubeObject;
  /**
   * The configuration as the client sent it, valid by {@link validateTyped}. It is not decoded, because decoding would add fields that the
   * client did not set.
   */
  readonly config: KubeObject;
  /** Its operation is Apply. */
  readonly manager: Manager;
  readonly type: TypeSchema;
  readonly tracked: TrackedPart;
  /** `force` takes fields in conflict from other managers. */
  readonly onConflict: 'refuse' | 'force';
  /** The versions of other managers. If absent, all managers use the version of the write. */
  readonly others?: OtherVersions;
  /** Epoch ms. */
  readonly now: number;
}

export type Applied =
  | {
      readonly outcome: 'applied';
      /**
       * The result before decoding and defaulting. It shares parts with `live` and `config`, and its managedFields are already the new
       * ones.
       */
      readonly object: KubeObject;
      readonly managedFields: ManagedFieldsEntry[] | undefined;
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly ManagerConflict[] };

/**
 * Server-side apply (API-210 to API-223; structured-merge-diff `Updater.Apply` and the managers that apimachinery puts around it). The
 * configuration is merged into the object. Fields that the manager applied before and leaves out now are removed unless another manager
 * owns them. The manager then owns exactly the fields of the configuration. Fields of another manager are compared in the version in which
 * that manager wrote them, and stay in that version.
 */
export function* applySteps(application: Application): Converting<Applied> {
  const applied = yield* applyOnce(application);
  if (applied.outcome === 'applied' || application.manager.name !== KUBECTL_MANAGER) return applied;
  const allowed = fieldsOfLastApplied(application.live, application.type);
  if (isEmptySet(allowed)) return applied;
  const conflicts = applied.conflicts
    .map(({ manager, fields }) => ({ manager, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length > 0) return { outcome: 'conflict', conflicts };
  return yield* applyOnce({ ...application, onConflict: 'force' });
}

/** {@link applySteps} for managers that all use one version. */
export function applyConfiguration(application: Application): Applied {
  return withoutConversion(applySteps(application));
}

function* applyOnce(application: Application): Converting<Applied> {
  const { live, config, manager, type, tracked } = application;
  const compared = comparedFields(tracked);
  const { before, elsewhere } = yield* speakers(application, managersBefore(application, compared));
  yield PAUSE;
  // Includes the name, so that removing fields never removes the whole of metadata.
  const said = partOf(extractFieldSet(config, type), tracked);
  yield PAUSE;
  const last = before.find((entry) => isSameManager(entry, manager));
  const others = before.filter((entry) => entry !== last);

  const merged = mergeTyped(live, config, type) as KubeObject;
  const own = manager.apiVersion;
  const versionOf = (entry: Manager): string => (elsewhere.has(entry.apiVersion) ? entry.apiVersion : own);
  const versioned = (entry: ManagedEntry): VersionedFields => ({ apiVersion: versionOf(entry), fields: entry.fields });
  const object =
    last === undefined || isEmptySet(last.fields)
      ? merged
      : yield* prune(merged, {
          apiVersion: own,
          last: versioned(last),
          owned: [{ apiVersion: own, fields: said }, ...others.map(versioned)],
          typeOf: (apiVersion) => elsewhere.get(apiVersion)?.version.type ?? type,
        });

  yield PAUSE;
  const changes = new Map<string, Comparison>([[own, compareObjects(live, object, { type, fields: compared })]]);
  for (const [apiVersion, seen] of elsewhere) {
    const next = yield* inVersion(object, apiVersion, 'failed to convert new object: ');
    changes.set(apiVersion, compareObjects(seen.live, next, seen.version));
  }
  yield PAUSE;
  const changesFor = (entry: Manager): Comparison => changes.get(versionOf(entry)) ?? NO_CHANGE;
  const conflicts = conflictsOf(others, changesFor);
  if (conflicts.length > 0 && application.onConflict === 'refuse') return { outcome: 'conflict', conflicts };

  const after: ManagedEntry[] = others.map((entry) => ({
    ...entry,
    fields: difference(entry.fields, touchedBy(changesFor(entry))),
  }));
  const changed = !equalJson(live, object);
  // A new manager that changes nothing has no time, because upstream sets the time only when the object changes.
  after.push({
    ...manager,
    fields: trackedOnly(said, tracked),
    time: changed ? entryTime(application.now) : (last?.time ?? ''),
  });
  yield PAUSE;
  const managedFields = encodeManagers(after);
  const annotated = manager.name === KUBECTL_MANAGER ? withLastApplied(object, config) : object;
  return { outcome: 'applied', object: withManagedFields(annotated, managedFields), managedFields };
}

interface Seen {
  readonly version: KindVersion;
  readonly live: KubeObject;
}

/** The managers whose version still exists, and the object in each version other than the version of the write. */
function* speakers(
  { live, manager, type, others }: Application,
  managers: Managers,
): Converting<{ readonly before: Managers; readonly elsewhere: ReadonlyMap<string, Seen> }> {
  const elsewhere = new Map<string, Seen>();
  if (others === undefined) return { before: managers.map((entry) => fittedEntry(entry, type)), elsewhere };
  const before: ManagedEntry[] = [];
  for (const entry of managers) {
    const { apiVersion } = entry;
    if (apiVersion !== manager.apiVersion && !elsewhere.has(apiVersion)) {
      const version = others(apiVersion);
      if (version === undefined) continue;
      elsewhere.set(apiVersion, { version, live: yield* inVersion(live, apiVersion, '') });
    }
    before.push(fittedEntry(entry, elsewhere.get(apiVersion)?.version.type ?? type));
  }
  return { before, elsewhere };
}

/** The managers of the object. An object without managers gets one that owns every field it has. */
function managersBefore(
  { live, emptyLive, manager, type, tracked, now }: Application,
  fields: ComparedFields,
): Managers {
  const managers = storedManagers(live.metadata?.managedFields);
  if (managers.length > 0 || live === emptyLive) return managers;
  const owner: Manager = { ...manager, name: BEFORE_FIRST_APPLY, operation: 'Update' };
  return takeOver([], compareObjects(emptyLive, live, { type, fields }), { manager: owner, tracked, now });
}

function conflictsOf(others: Managers, changesFor: (entry: Manager) => Comparison): ManagerConflict[] {
  return others
    .map((entry) => {
      const { added, modified } = changesFor(entry);
      return { manager: entry, fields: intersection(entry.fields, union(added, modified)) };
    })
    .filter(({ fields }) => !isEmptySet(fields));
}

function withManagedFields(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}
