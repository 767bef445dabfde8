import { applySteps } from '../../../api/apply/apply.ts';
import { conflictError } from '../../../api/apply/conflicts.ts';
import type { Converting, OtherVersions } from '../../../api/apply/kind-versions.ts';
import type { TypeSchema } from '../../../api/apply/schema.ts';
import type { TrackedPart } from '../../../api/apply/tracked-fields.ts';
import { TypedValueError } from '../../../api/apply/typed-value-error.ts';
import { validateTyped } from '../../../api/apply/validate-typed.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newBadRequest, newConflict, newUntypedInternal, type StatusError } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { emptyObject, trackedPart, typeSchemaOf } from '../../registry/field-tracking.ts';
import { otherVersions, withConversions } from '../../registry/manager-versions.ts';
import type { ObjectSchema } from '../../registry/object-schema.ts';
import { updateObject } from '../../registry/update-object.ts';
import { readConfiguration } from '../request/apply-body.ts';
import { repeatedKeys } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { checkName, updatedPart } from './update.ts';
import { type ApplyOptions, parseApplyOptions } from '../request/write-options.ts';

/** PATCH with an apply configuration, of an object or of a subresource that has the object's own kind (section 11). */
export async function handleApply(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, namespace, name } = scope;
  const options = parseApplyOptions(context.query);
  const { config, problems } = await readConfiguration(context);
  const { subresource, part } = updatedPart(scope);
  const validated = validatedConfiguration(config, resource.schema);
  let reported = false;
  const result = await updateObject(resource, {
    namespace,
    name,
    subresource,
    part,
    method: 'apply',
    next: async (previous) => {
      const object = await applied(scope, { previous, config: validated, options });
      // API-235: after what the merge has to say, and once.
      if (!reported) report(problems, options, context.warn);
      reported = true;
      return object;
    },
    context: { ...writeContext(scope, options.dryRun), tracking: { by: 'apply' } },
  });
  return writeObject(scope, result.outcome === 'created' ? 201 : 200, result.object);
}

/** API-211, API-212, API-223: judged by itself, whatever the object looks like. */
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

/** apimachinery `objectGVKNN`. */
function whichOne(object: Record<string, unknown>, type: string): string {
  const { namespace, name } = metadataIn(object);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}; ${type}`;
}

/**
 * What is stored was never meant for the schema of server-side apply: an element without its key is there, though nobody can be
 * said to manage it. Upstream cannot apply to such an object either, and says so in these words.
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

interface Applying {
  readonly previous: KubeObject | undefined;
  readonly config: KubeObject;
  readonly options: ApplyOptions;
}

/** The object with the configuration in it, decoded and defaulted, and with its managers. */
async function applied(scope: ResourceScope, { previous, config, options }: Applying): Promise<KubeObject> {
  const { resource, info, name } = scope;
  const { schema, environment } = resource;
  const { subresource, part } = updatedPart(scope);
  const work = appliedTo(previous, {
    config,
    schema,
    subresource,
    options,
    tracked: trackedPart(resource, part, subresource),
    others: otherVersions(resource, { part, subresource }),
    now: environment.clock.now(),
  });
  const result = await withConversions(resource, work);
  const uid = config.metadata?.uid ?? '';
  if (previous === undefined && uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw newConflict(info, name, why);
  }
  // What is stored has no null where there may be none: such a null is one of the configuration.
  const { object } = schema.decode(result, 'kept');
  schema.applyDefaults(object);
  checkName(object, name);
  return object;
}

export interface Configured {
  readonly config: KubeObject;
  readonly schema: ObjectSchema;
  readonly subresource: string;
  readonly options: ApplyOptions;
  readonly tracked: TrackedPart;
  /** Absent: all managers speak the version of the configuration. */
  readonly others?: OtherVersions;
  /** Epoch ms. */
  readonly now: number;
}

/** The object with the configuration merged into it and its new managers, not yet decoded. 409 when others are in the way. */
export function* appliedTo(
  previous: KubeObject | undefined,
  { config, schema, subresource, options, tracked, others, now }: Configured,
): Converting<KubeObject> {
  const emptyLive = emptyObject(schema);
  const live = previous ?? emptyLive;
  const manager = {
    name: options.fieldManager,
    operation: 'Apply',
    apiVersion: apiVersionOf(schema),
    subresource,
  } as const;
  const onConflict = options.force ? 'force' : 'refuse';
  try {
    const type = typeSchemaOf(schema);
    const result = yield* applySteps({
      live,
      emptyLive,
      config,
      manager,
      type,
      tracked,
      onConflict,
      ...(others === undefined ? {} : { others }),
      now,
    });
    if (result.outcome === 'conflict') throw conflictError(result.conflicts);
    return result.object;
  } catch (error) {
    throw error instanceof TypedValueError ? untypedLiveObject(live, schema) : error;
  }
}

/** Keys that occur twice in the body, after what the merge has to say (API-235). */
export function report(problems: readonly string[], options: ApplyOptions, warn: (text: string) => void): void {
  if (problems.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') {
    throw newBadRequest(`error strict decoding YAML: error converting YAML to JSON: ${repeatedKeys(problems)}`);
  }
  for (const problem of problems) warn(problem);
}
