import type { Steps } from '../../base/time/steps.ts';
import { equalJson } from '../../api/codec/json/json-value.ts';
import { CUSTOM_OBJECT, schemaOf, type TypeSchema } from '../../api/apply/schema.ts';
import type { TrackedPart } from '../../api/apply/tracked-fields.ts';
import { type ChangesElsewhere, trackInSteps } from '../../api/apply/update-managers.ts';
import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../api/meta/object-meta.ts';
import { metadataOf } from './object/object-meta.ts';
import type { ObjectSchema } from './object/object-schema.ts';
import type { ResourceStore } from './resource-store.ts';
import { hasStatusSubresource } from './object/status-split.ts';
import type { StrategyContext } from './strategy.ts';

/** Subresources for which the server writes without recording managers, as upstream. */
const UNTRACKED_SUBRESOURCES: ReadonlySet<string> = new Set(['binding', 'eviction']);

/** The part of an object that whole-object subresources write; their strategy resets the rest (API-218). */
const WRITTEN_BY_SUBRESOURCE: Readonly<Record<string, readonly string[]>> = {
  approval: ['status'],
  ephemeralcontainers: ['spec'],
  finalize: ['spec'],
  resize: ['spec'],
};

export type WrittenPart = 'object' | 'status' | 'whole';

/** The fields that can have managers through this endpoint. */
export function trackedPart(resource: ResourceStore, part: WrittenPart, subresource: string): TrackedPart {
  const { info, strategy } = resource;
  if (part === 'object') return hasStatusSubresource(info) ? ALL_BUT_STATUS : ALL;
  if (part === 'whole') return { part: 'only', members: WRITTEN_BY_SUBRESOURCE[subresource] ?? [] };
  const keepsMetadata = info.typeName === undefined || strategy.statusKeepsMetadata === true;
  return keepsMetadata ? STATUS_ONLY : STATUS_AND_METADATA;
}

const ALL: TrackedPart = { part: 'all' };
const ALL_BUT_STATUS: TrackedPart = { part: 'allBut', members: ['status'] };
const STATUS_ONLY: TrackedPart = { part: 'only', members: ['status'] };
const STATUS_AND_METADATA: TrackedPart = { part: 'only', members: ['metadata', 'status'] };

/** The schema of a kind for server-side apply (API-222). */
export function typeSchemaOf(schema: ObjectSchema): TypeSchema {
  return schema.typeSchema ?? (schema.typeName === undefined ? CUSTOM_OBJECT : schemaOf(schema.typeName));
}

const emptyObjects = new WeakMap<ObjectSchema, KubeObject>();

/** The empty object before any manager has set a field, with the values that Go always prints (API-521). Shared. */
export function emptyObject(schema: ObjectSchema): KubeObject {
  let empty = emptyObjects.get(schema);
  if (empty === undefined) {
    empty = schema.decode({ apiVersion: apiVersionOf(schema), kind: schema.kind }).object;
    emptyObjects.set(schema, empty);
  }
  return empty;
}

/** The manager of a create (API-216). An object that the server creates for itself has none; an applied one already has some. */
export function* recordCreate(resource: ResourceStore, object: KubeObject, context: StrategyContext): Steps<void> {
  const { tracking } = context;
  if (tracking?.by === 'apply') return;
  setManagedFields(
    object,
    tracking === undefined
      ? undefined
      : yield* trackInSteps({
          live: emptyObject(resource.schema),
          next: object,
          manager: updateManager(resource, tracking.manager, ''),
          type: typeSchemaOf(resource.schema),
          tracked: trackedPart(resource, 'object', ''),
          ...othersGone(resource, object),
          now: context.now,
        }),
  );
}

/** Managers that the client sends lose all fields that the create sets. An entry in another version has no other fields. */
function othersGone({ info }: ResourceStore, { metadata }: KubeObject): { elsewhere?: ChangesElsewhere } {
  const own = apiVersionOf(info);
  const others = (metadata?.managedFields ?? []).map(({ apiVersion }) => apiVersion ?? own);
  const gone = others.filter((apiVersion) => apiVersion !== own);
  return gone.length === 0 ? {} : { elsewhere: new Map(gone.map((apiVersion) => [apiVersion, 'gone'])) };
}

interface TrackedWrite {
  readonly next: KubeObject;
  readonly previous: KubeObject;
  readonly part: WrittenPart;
  /** `unknown` if it cannot be determined. If absent, all managers use the version of the write. */
  readonly elsewhere?: ChangesElsewhere | 'unknown' | undefined;
  readonly context: StrategyContext;
}

/** Writes the managers into `next` (API-216 to API-220). */
export function* recordUpdate(resource: ResourceStore, write: TrackedWrite): Steps<void> {
  const { next, previous, part, elsewhere, context } = write;
  const { tracking, subresource } = context;
  if (tracking?.by === 'apply') return;
  const tracked = tracking !== undefined && elsewhere !== 'unknown' && !UNTRACKED_SUBRESOURCES.has(subresource);
  setManagedFields(
    next,
    tracked
      ? yield* trackInSteps({
          live: previous,
          next,
          manager: updateManager(resource, tracking.manager, subresource),
          type: typeSchemaOf(resource.schema),
          tracked: trackedPart(resource, part, subresource),
          ...(elsewhere === undefined ? {} : { elsewhere }),
          ...(resource.strategy.versions === undefined ? {} : { typeAt: typeAt(resource) }),
          now: context.now,
        })
      : previous.metadata?.managedFields,
  );
}

/** The schema of a definition that may have changed since the object was written. */
function typeAt({ info, strategy }: ResourceStore): (apiVersion: string) => TypeSchema | undefined {
  return (apiVersion) => {
    const { group, version } = parseGroupVersion(apiVersion) ?? {};
    const schema = version === undefined || group !== info.group ? undefined : strategy.versions?.find(version)?.schema;
    return schema === undefined ? undefined : typeSchemaOf(schema);
  };
}

function updateManager(resource: ResourceStore, name: string, subresource: string) {
  return { name, operation: 'Update' as const, apiVersion: apiVersionOf(resource.info), subresource };
}

export function setManagedFields(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): void {
  const meta = metadataOf(object);
  if (managedFields === undefined) delete meta.managedFields;
  else meta.managedFields = managedFields;
}

/** True if only times of managers differ; such a write changes nothing (API-220). */
export function differInTimesOnly(
  entries: readonly ManagedFieldsEntry[] = [],
  previous: readonly ManagedFieldsEntry[] = [],
): boolean {
  const timeless = (all: readonly ManagedFieldsEntry[]): unknown[] => all.map((entry) => ({ ...entry, time: '' }));
  return entries.length === previous.length && equalJson(timeless(entries), timeless(previous));
}
