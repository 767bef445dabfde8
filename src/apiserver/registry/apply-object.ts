import { applySteps } from '../../api/apply/apply.ts';
import { conflictError } from '../../api/apply/conflicts.ts';
import type { Converting, OtherVersions } from '../../api/apply/kind-versions.ts';
import type { TypeSchema } from '../../api/apply/schema.ts';
import type { TrackedPart } from '../../api/apply/tracked-fields.ts';
import { TypedValueError } from '../../api/apply/typed-value-error.ts';
import { validateTyped } from '../../api/apply/validate-typed.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newBadRequest, newConflict, newUntypedInternal, type StatusError } from '../../api/status-error.ts';
import { emptyObject, trackedPart, typeSchemaOf } from './field-tracking.ts';
import { betweenSteps } from './long-work.ts';
import { otherVersions, withConversions } from './manager-versions.ts';
import { checkName } from './object/object-meta.ts';
import type { ObjectSchema } from './object/object-schema.ts';
import type { ResourceStore } from './resource-store.ts';
import type { WriteContext } from './strategy.ts';
import { updateObject, type UpdateRequest, type UpdateResult } from './update-object.ts';

/** A validated apply configuration with everything that its apply depends on. */
export interface ApplyRequest extends Pick<UpdateRequest, 'namespace' | 'name' | 'subresource' | 'part'> {
  /** The result of {@link validatedConfiguration}. */
  readonly config: KubeObject;
  readonly manager: ApplyManager;
  readonly repeatedKeys: RepeatedKeys;
  readonly context: Omit<WriteContext, 'tracking'>;
}

export interface ApplyManager {
  readonly fieldManager: string;
  /** Takes over fields of other managers instead of a conflict. */
  readonly force: boolean;
}

/** Reports repeated keys of the body, after the merge has succeeded (API-235). */
export interface RepeatedKeys {
  readonly refusal: StatusError | undefined;
  readonly warnings: readonly string[];
}

/** Applies a configuration to a stored object, which is created if it does not exist (API-210). */
export function applyObject(resource: ResourceStore, request: ApplyRequest): Promise<UpdateResult> {
  const { namespace, name, subresource, part, repeatedKeys, context } = request;
  let warned = false;
  return updateObject(resource, {
    namespace,
    name,
    subresource,
    part,
    method: 'apply',
    next: async (previous) => {
      const object = await applied(resource, request, previous);
      if (repeatedKeys.refusal !== undefined) throw repeatedKeys.refusal;
      if (!warned) for (const text of repeatedKeys.warnings) context.warn(text);
      warned = true;
      return object;
    },
    context: { ...context, tracking: { by: 'apply' } },
  });
}

/** The object with the configuration merged, decoded and defaulted, and with its managers. */
async function applied(
  resource: ResourceStore,
  { name, subresource, part, config, manager, context }: ApplyRequest,
  previous: KubeObject | undefined,
): Promise<KubeObject> {
  const { info, schema, environment } = resource;
  const work = appliedTo(previous, {
    config,
    schema,
    subresource,
    manager,
    tracked: trackedPart(resource, part, subresource),
    others: otherVersions(resource, { part, subresource }),
    now: environment.clock.now(),
  });
  const bytes = context.bodyBytes ?? 0;
  const result = await withConversions(resource, work, bytes);
  const pause = betweenSteps(environment.clock, bytes);
  if (pause !== undefined) await pause;
  const uid = config.metadata?.uid ?? '';
  if (previous === undefined && uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw newConflict(info, name, why);
  }
  // A stored object has no null in fields that are not nullable, so such a null comes from the configuration.
  const { object } = schema.decode(result, 'kept');
  schema.applyDefaults(object);
  checkName(object, name);
  return object;
}

export interface Configured {
  readonly config: KubeObject;
  readonly schema: ObjectSchema;
  readonly subresource: string;
  readonly manager: ApplyManager;
  readonly tracked: TrackedPart;
  /** If absent, all managers use the version of the configuration. */
  readonly others?: OtherVersions;
  /** Epoch ms. */
  readonly now: number;
}

/** Pure: the object with the configuration merged and its new managers, not yet decoded. Throws a 409 for conflicts. */
export function* appliedTo(
  previous: KubeObject | undefined,
  { config, schema, subresource, manager, tracked, others, now }: Configured,
): Converting<KubeObject> {
  const emptyLive = emptyObject(schema);
  const live = previous ?? emptyLive;
  try {
    const result = yield* applySteps({
      live,
      emptyLive,
      config,
      manager: { name: manager.fieldManager, operation: 'Apply', apiVersion: apiVersionOf(schema), subresource },
      type: typeSchemaOf(schema),
      tracked,
      onConflict: manager.force ? 'force' : 'refuse',
      ...(others === undefined ? {} : { others }),
      now,
    });
    if (result.outcome === 'conflict') throw conflictError(result.conflicts);
    return result.object;
  } catch (error) {
    throw error instanceof TypedValueError ? untypedLiveObject(live, schema) : error;
  }
}

/** Pure: validates the configuration by itself, without the stored object (API-211, API-212, API-223). */
export function validatedConfiguration(config: Record<string, unknown>, expected: ObjectSchema): KubeObject {
  const apiVersion = typeof config['apiVersion'] === 'string' ? config['apiVersion'] : '';
  const kind = typeof config['kind'] === 'string' ? config['kind'] : '';
  const gv = parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion };
  const type = formatGroupVersionKind({ ...gv, kind });
  if (apiVersion !== apiVersionOf(expected) || kind !== expected.kind) {
    throw newBadRequest(`invalid object type: ${type}`);
  }
  const metadata = metadataIn(config);
  if ((metadata['managedFields'] ?? null) !== null) throw newBadRequest('metadata.managedFields must be nil');
  try {
    validateTyped(config, typeSchemaOf(expected));
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    throw newUntypedInternal(`failed to create typed patch object (${whichOne(config, type)}): ${error.message}`);
  }
  return config;
}

function metadataIn(object: Record<string, unknown>): Record<string, unknown> {
  return (object['metadata'] ?? {}) as Record<string, unknown>;
}

/** Names the object like apimachinery's `objectGVKNN`. */
function whichOne(object: Record<string, unknown>, type: string): string {
  const { namespace, name } = metadataIn(object);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}; ${type}`;
}

/**
 * The stored object does not fit the schema of server-side apply; for example an element lacks its key. Upstream cannot apply to such an
 * object either, and answers with these words.
 */
function untypedLiveObject(live: KubeObject, schema: ObjectSchema): StatusError {
  const which = whichOne(live, formatGroupVersionKind(schema));
  const problem = typedProblem(live, typeSchemaOf(schema));
  return (live.metadata?.managedFields ?? []).length > 0
    ? newUntypedInternal(`failed to create typed live object (${which}): ${problem}`)
    : newUntypedInternal(
        `failed to create manager for existing fields: failed to convert new object (${which}) to smd typed: ${problem}`,
      );
}

function typedProblem(live: KubeObject, type: TypeSchema): string {
  try {
    validateTyped(live, type, 'allowed');
  } catch (error) {
    if (error instanceof TypedValueError) return error.message;
    throw error;
  }
  return 'the object does not fit its schema';
}
