import type { KubeObject } from '../meta/object-meta.ts';
import type { ComparedFields } from './compare.ts';
import type { TypeSchema } from './schema.ts';

/** One version of a kind, as the managers see it that write in it. */
export interface KindVersion {
  readonly type: TypeSchema;
  /** Those that the write in question can change. */
  readonly fields: ComparedFields;
}

/**
 * The versions of a kind by apiVersion, other than the one of the write. Undefined: there is none by that name any more, and with it
 * goes whoever speaks it.
 *
 * @throws StatusError where upstream finds out only when it converts
 */
export type OtherVersions = (apiVersion: string) => KindVersion | undefined;

/** To go on, this object is needed in another version of its kind. */
export interface ConversionRequest {
  readonly object: KubeObject;
  readonly apiVersion: string;
  /** The beginning of the message when a version cannot be had. */
  readonly trouble: string;
}

/** Work that stops where it needs a conversion, and is handed the converted object: converting may be somebody else's business. */
export type Converting<T> = Generator<ConversionRequest, T, KubeObject>;

/** Versions for work in which all managers use one version. */
export function withoutConversion<T>(work: Converting<T>): T {
  const step = work.next();
  if (step.done === true) return step.value;
  throw new TypeError(`a conversion to ${step.value.apiVersion} was not expected`);
}

/** The object in that version, which it may be in already. */
export function* inVersion(object: KubeObject, apiVersion: string, trouble: string): Converting<KubeObject> {
  return object.apiVersion === apiVersion ? object : yield { object, apiVersion, trouble };
}
