import { compareObjects } from '../../api/apply/compare.ts';
import {
  type ConversionRequest,
  type Converting,
  PAUSE,
  inVersion,
  type KindVersion,
  type OtherVersions,
} from '../../api/apply/kind-versions.ts';
import { comparedFields } from '../../api/apply/tracked-fields.ts';
import { TypedValueError } from '../../api/apply/typed-value-error.ts';
import type { ChangesElsewhere } from '../../api/apply/update-managers.ts';
import { validateTyped } from '../../api/apply/validate-typed.ts';
import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newUntypedInternal, StatusError } from '../../api/status-error.ts';
import { trackedPart, typeSchemaOf, type WrittenPart } from './field-tracking.ts';
import { betweenSteps } from './long-work.ts';
import type { ResourceStore } from './resource-store.ts';
import type { CustomVersions } from './strategy.ts';

/**
 * Managers own fields in the version of their write, in which fields may have other names, and that version is never rewritten. So the
 * effect of a write on a manager's fields is computed in that manager's version, to which the old and the new object are converted
 * (API-213, API-215, API-464; structured-merge-diff `Converter`).
 */

/** The endpoint of the write. */
export interface TrackedEndpoint {
  readonly part: WrittenPart;
  readonly subresource: string;
}

export function otherVersions(resource: ResourceStore, endpoint: TrackedEndpoint): OtherVersions {
  return (apiVersion) => {
    const { versions } = resource.strategy;
    return versions === undefined
      ? builtinVersion(resource, apiVersion, endpoint)
      : customVersion(versions, { resource, apiVersion, endpoint });
  };
}

/** Undefined if it is no longer served, and its managers are dropped. */
function builtinVersion(
  resource: ResourceStore,
  apiVersion: string,
  { part, subresource }: TrackedEndpoint,
): KindVersion | undefined {
  if (parseGroupVersion(apiVersion) === undefined) {
    throw newUntypedInternal(`unexpected GroupVersion string: ${apiVersion}`);
  }
  const other = servedAs(resource, apiVersion);
  if (other === undefined) return undefined;
  return { type: typeSchemaOf(other.schema), fields: comparedFields(trackedPart(other, part, subresource)) };
}

function servedAs({ info, siblings }: ResourceStore, apiVersion: string): ResourceStore | undefined {
  const gv = parseGroupVersion(apiVersion);
  return gv === undefined ? undefined : siblings.find(gv.group, gv.version, info.resource);
}

interface Asked {
  readonly resource: ResourceStore;
  readonly apiVersion: string;
  readonly endpoint: TrackedEndpoint;
}

/** Upstream requests a conversion even to a version that is gone, and is refused. */
function customVersion(versions: CustomVersions, { resource, apiVersion, endpoint }: Asked): KindVersion {
  const gv = parseGroupVersion(apiVersion);
  const found = gv?.group === resource.info.group ? versions.find(gv.version) : undefined;
  if (found === undefined) {
    throw newUntypedInternal(`request to convert CR to an invalid group/version: ${apiVersion}`);
  }
  const own = trackedPart(resource, endpoint.part, endpoint.subresource);
  const tracked = endpoint.part !== 'object' ? own : found.hasStatus ? ALL_BUT_STATUS : ALL;
  return { type: typeSchemaOf(found.schema), fields: comparedFields(tracked) };
}

const ALL = { part: 'all' } as const;
const ALL_BUT_STATUS = { part: 'allBut', members: ['status'] } as const;

/**
 * Runs the work and its conversions. Rejects with the answer for an apply if one fails. Pauses of the work yield the event loop if the
 * request has many bytes.
 */
export async function withConversions<T>(resource: ResourceStore, work: Converting<T>, bytes = 0): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    if (step.value === PAUSE) {
      const pause = betweenSteps(resource.environment.clock, bytes);
      if (pause !== undefined) await pause;
      step = work.next();
    } else {
      step = work.next(await answer(resource, step.value));
    }
  }
  return step.value;
}

async function answer(
  resource: ResourceStore,
  { object, apiVersion, trouble }: ConversionRequest,
): Promise<KubeObject> {
  try {
    return await converted(resource, object, apiVersion);
  } catch (error) {
    if (error instanceof StatusError || error instanceof TypedValueError) {
      throw newUntypedInternal(trouble + error.message);
    }
    throw error;
  }
}

async function converted(resource: ResourceStore, object: KubeObject, apiVersion: string): Promise<KubeObject> {
  const { versions } = resource.strategy;
  const { version = '' } = parseGroupVersion(apiVersion) ?? {};
  if (versions === undefined) return convertedBuiltin(resource, object, apiVersion);
  const next = await versions.convert(object, version);
  const schema = versions.find(version)?.schema;
  // Upstream cannot decode an object with fields that the version does not declare.
  if (schema !== undefined) validateTyped(next, typeSchemaOf(schema));
  return next;
}

async function convertedBuiltin(resource: ResourceStore, object: KubeObject, apiVersion: string): Promise<KubeObject> {
  const source = servedAs(resource, object.apiVersion ?? '') ?? resource;
  const target = servedAs(resource, apiVersion) ?? resource;
  return target.convertFrom(source, source.schema.decode(object).object);
}

export interface Change {
  readonly previous: KubeObject;
  readonly next: KubeObject;
}

/**
 * The effect of an update in the versions of other managers; undefined if all use the version of the write, as usual. `unknown` if a
 * conversion fails: then the managers stay unchanged.
 */
export function changesElsewhere(
  resource: ResourceStore,
  change: Change,
  endpoint: TrackedEndpoint,
): Promise<ChangesElsewhere | 'unknown'> | undefined {
  const apiVersions = foreignVersions(resource, change);
  return apiVersions === undefined ? undefined : compareElsewhere(resource, change, { endpoint, apiVersions });
}

/** Returns the versions of other groups in the entries of the managers. Nearly all objects have none. */
function foreignVersions({ info }: ResourceStore, { previous, next }: Change): ReadonlySet<string> | undefined {
  const own = apiVersionOf(info);
  let found: Set<string> | undefined;
  for (const entries of [previous.metadata?.managedFields, next.metadata?.managedFields]) {
    if (!Array.isArray(entries)) continue;
    for (const { apiVersion } of entries) {
      if (typeof apiVersion === 'string' && apiVersion !== '' && apiVersion !== own)
        (found ??= new Set()).add(apiVersion);
    }
  }
  return found;
}

interface Comparing {
  readonly endpoint: TrackedEndpoint;
  readonly apiVersions: ReadonlySet<string>;
}

async function compareElsewhere(
  resource: ResourceStore,
  change: Change,
  { endpoint, apiVersions }: Comparing,
): Promise<ChangesElsewhere | 'unknown'> {
  const found = new Map<string, 'gone' | ReturnType<typeof compareObjects>>();
  try {
    for (const apiVersion of apiVersions) {
      const version = otherVersions(resource, endpoint)(apiVersion);
      found.set(
        apiVersion,
        version === undefined ? 'gone' : await withConversions(resource, compareIn(apiVersion, version, change)),
      );
    }
  } catch (error) {
    if (error instanceof StatusError || error instanceof TypedValueError) return 'unknown';
    throw error;
  }
  return found;
}

function* compareIn(apiVersion: string, version: KindVersion, { previous, next }: Change) {
  const before = yield* inVersion(previous, apiVersion, '');
  return compareObjects(before, yield* inVersion(next, apiVersion, ''), version);
}
