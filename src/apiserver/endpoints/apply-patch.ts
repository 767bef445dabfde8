import { applyConfiguration } from '../../api/apply/apply.ts';
import { conflictError } from '../../api/apply/conflicts.ts';
import { TypedValueError } from '../../api/apply/typed-value-error.ts';
import { validateTyped } from '../../api/apply/validate-typed.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newBadRequest, newConflict, newUntypedInternal } from '../../api/status-error.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { emptyObject, trackedPart, typeSchemaOf } from '../registry/field-tracking.ts';
import type { ObjectSchema } from '../registry/object-schema.ts';
import { updateObject } from '../registry/update-object.ts';
import { readConfiguration } from './apply-body.ts';
import { writeObject } from './object-writer.ts';
import { type ResourceScope, writeContext } from './resource-scope.ts';
import { checkName, updatedPart } from './update.ts';
import { type ApplyOptions, parseApplyOptions } from './write-options.ts';

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
    next: (previous) => {
      const object = applied(scope, { previous, config: validated, options });
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
function validatedConfiguration(config: Record<string, unknown>, expected: ObjectSchema): KubeObject {
  const apiVersion = typeof config['apiVersion'] === 'string' ? config['apiVersion'] : '';
  const kind = typeof config['kind'] === 'string' ? config['kind'] : '';
  const gv = parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion };
  const type = formatGroupVersionKind({ ...gv, kind });
  if (apiVersion !== apiVersionOf(expected) || kind !== expected.kind) {
    throw newBadRequest(`invalid object type: ${type}`);
  }
  const metadata = (config['metadata'] ?? {}) as Record<string, unknown>;
  if ((metadata['managedFields'] ?? null) !== null) throw newBadRequest('metadata.managedFields must be nil');
  try {
    validateTyped(config, typeSchemaOf(expected));
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    const which = `${text(metadata['namespace'])}/${text(metadata['name'])}; ${type}`;
    throw newUntypedInternal(`failed to create typed patch object (${which}): ${error.message}`);
  }
  return config;
}

interface Applying {
  readonly previous: KubeObject | undefined;
  readonly config: KubeObject;
  readonly options: ApplyOptions;
}

/** The object with the configuration in it, decoded and defaulted, and with its managers. */
function applied(scope: ResourceScope, { previous, config, options }: Applying): KubeObject {
  const { resource, info, name } = scope;
  const { schema, environment } = resource;
  const { subresource, part } = updatedPart(scope);
  const emptyLive = emptyObject(schema);
  const result = applyConfiguration({
    live: previous ?? emptyLive,
    emptyLive,
    config,
    manager: { name: options.fieldManager, operation: 'Apply', apiVersion: apiVersionOf(schema), subresource },
    type: typeSchemaOf(schema),
    tracked: trackedPart(resource, part, subresource),
    onConflict: options.force ? 'force' : 'refuse',
    now: environment.clock.now(),
  });
  if (result.outcome === 'conflict') throw conflictError(result.conflicts);
  const uid = config.metadata?.uid ?? '';
  if (previous === undefined && uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw newConflict(info, name, why);
  }
  const { object } = schema.decode(result.object);
  schema.applyDefaults(object);
  checkName(object, name);
  return object;
}

function report(problems: readonly string[], options: ApplyOptions, warn: (text: string) => void): void {
  if (problems.length === 0 || options.fieldValidation === 'Ignore') return;
  const text = `error converting YAML to JSON: yaml: unmarshal errors:\n${problems.map((one) => `  ${one}`).join('\n')}`;
  if (options.fieldValidation === 'Strict') throw newBadRequest(`error strict decoding YAML: ${text}`);
  for (const problem of problems) warn(problem);
}
