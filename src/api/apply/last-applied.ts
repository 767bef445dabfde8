import { parseExactJson } from '../../base/json/exact-json.ts';
import { isJsonObject } from '../codec/json/json-value.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { marshalled } from '../meta/quoted.ts';
import { compareObjects } from './compare.ts';
import { extractFieldSet } from './extract-field-set.ts';
import { difference, EMPTY_SET, type FieldSet, union } from './fieldset.ts';
import type { TypeSchema } from './schema.ts';
import { TypedValueError } from './typed-value-error.ts';
import { validateTyped } from './validate-typed.ts';

/** The annotation in which client-side `kubectl apply` keeps the last applied configuration. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The only manager for which the annotation counts (API-221). */
export const KUBECTL_MANAGER = 'kubectl';
/** All annotations together (API-066). */
const MAX_ANNOTATIONS_BYTES = 262_144;

const ALL = { member: () => true, metadata: () => true };

/**
 * The fields that client-side apply set and nobody changed since. Server-side apply by kubectl may take them without a conflict. Empty
 * if the annotation is absent or cannot be read.
 */
export function fieldsOfLastApplied(live: KubeObject, type: TypeSchema): FieldSet {
  const config = lastAppliedOf(live);
  if (config === undefined || config.apiVersion !== live.apiVersion) return EMPTY_SET;
  try {
    validateTyped(config, type);
    const { added, modified, removed } = compareObjects(config, live, { type, fields: ALL });
    return difference(extractFieldSet(config, type), union(union(added, modified), removed));
  } catch (error) {
    if (error instanceof TypedValueError) return EMPTY_SET;
    throw error;
  }
}

function lastAppliedOf(live: KubeObject): KubeObject | undefined {
  const text = live.metadata?.annotations?.[LAST_APPLIED] ?? '';
  if (text === '') return undefined;
  try {
    const config: unknown = parseExactJson(text);
    return isJsonObject(config) ? (config as KubeObject) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The object with the annotation set to the configuration that was applied now, so that a later client-side apply has the right base. An
 * object without the annotation gets none.
 */
export function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const annotations = object.metadata?.annotations;
  if ((annotations?.[LAST_APPLIED] ?? '') === '') return object;
  const { [LAST_APPLIED]: _old, ...others } = annotations ?? {};
  const next = { ...others, [LAST_APPLIED]: `${marshalled(sortedKeys(withoutLastApplied(config)))}\n` };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: sizeOf(next) > MAX_ANNOTATIONS_BYTES ? others : next },
  };
}

function withoutLastApplied(config: KubeObject): KubeObject {
  if (config.metadata?.annotations?.[LAST_APPLIED] === undefined) return config;
  const { [LAST_APPLIED]: _, ...annotations } = config.metadata.annotations;
  return { ...config, metadata: { ...config.metadata, annotations } };
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}

function sizeOf(annotations: Readonly<Record<string, string>>): number {
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
}
