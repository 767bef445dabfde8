import { isJsonObject, setKey } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newUntypedInternal } from '../../../api/status-error.ts';
import type { ScalePaths } from '../../registry/strategy.ts';

/** The values of a Scale; undefined if the object lacks them. */
export interface ScaleValues {
  readonly wanted: number | undefined;
  readonly current: number | undefined;
  readonly selector: string;
}

/** Reads the values of a Scale from the definition's paths (API-467). */
export function customScale(parent: KubeObject, paths: ScalePaths): ScaleValues {
  const selector = paths.labelSelector === undefined ? undefined : valueAt(parent, paths.labelSelector);
  return {
    wanted: numberAt(parent, paths.specReplicas),
    current: numberAt(parent, paths.statusReplicas),
    selector: typeof selector === 'string' ? selector : '',
  };
}

/** A copy with the number at its path; missing objects on the path are created. */
export function withCustomReplicas(parent: KubeObject, { specReplicas }: ScalePaths, replicas: number): KubeObject {
  const steps = stepsOf(specReplicas);
  const copy: KubeObject = { ...parent };
  let inner: Record<string, unknown> = copy;
  for (const step of steps.slice(0, -1)) {
    const before = inner[step];
    if (before !== undefined && !isJsonObject(before)) {
      throw newUntypedInternal(`value cannot be set because ${specReplicas} is not a map[string]interface{}`);
    }
    const next = { ...before };
    setKey(inner, step, next);
    inner = next;
  }
  setKey(inner, steps.at(-1) ?? '', replicas);
  return copy;
}

/** The value at a path like `.spec.replicas`; undefined if part of the path is missing. */
export function valueAt(object: KubeObject, path: string): unknown {
  let value: unknown = object;
  for (const step of stepsOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

function numberAt(object: KubeObject, path: string): number | undefined {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : undefined;
}

export function stepsOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}
