import type { KubeObject } from '../meta/object-meta.ts';
import type { ComparedFields } from './compare.ts';
import type { TypeSchema } from './schema.ts';

/** One version of a kind, for the managers that write in it. */
export interface KindVersion {
  readonly type: TypeSchema;
  /** The fields that the current write can change. */
  readonly fields: ComparedFields;
}

/**
 * Versions of a kind by apiVersion, without the version of the write. Undefined means that the version no longer exists, and the managers
 * that use it are dropped.
 * @throws StatusError where upstream fails only at the conversion
 */
export type OtherVersions = (apiVersion: string) => KindVersion | undefined;

/** A request for this object in another version of its kind, which the work needs to continue. */
export interface ConversionRequest {
  readonly object: KubeObject;
  readonly apiVersion: string;
  /** The first part of the message if the conversion fails. */
  readonly trouble: string;
}

/**
 * A generator that yields where it needs a conversion and receives the converted object. The caller converts, because a conversion may need
 * a webhook.
 */
export type Converting<T> = Generator<ConversionRequest | typeof PAUSE, T, KubeObject>;

/** Between two long steps, at which the caller may yield the event loop. It has no answer. */
export const PAUSE = 'pause';

/** Runs work in which all managers use one version. */
export function withoutConversion<T>(work: Converting<T>): T {
  let step = work.next();
  while (step.value === PAUSE) step = work.next();
  if (step.done === true) return step.value;
  throw new TypeError(`a conversion to ${step.value.apiVersion} was not expected`);
}

/** The object in that version. Yields nothing if the object already has that version. */
export function* inVersion(object: KubeObject, apiVersion: string, trouble: string): Converting<KubeObject> {
  return object.apiVersion === apiVersion ? object : yield { object, apiVersion, trouble };
}
