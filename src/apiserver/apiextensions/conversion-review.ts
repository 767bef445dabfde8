import { isJsonObject, textOf } from '../../api/codec/json/json-value.ts';
import { formatFieldError } from '../../api/field-error.ts';
import {
  apiVersionOf,
  formatGroupVersionKind,
  type GroupVersion,
  parseGroupVersion,
} from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { quoted } from '../../api/meta/quoted.ts';
import { validateAnnotations, validateLabels } from '../../api/validation/labels.ts';

const KNOWN_VERSIONS = ['v1', 'v1beta1'] as const;
export type ConversionReviewVersion = (typeof KNOWN_VERSIONS)[number];

/** The first supported version in the definition's list. */
export function conversionReviewVersion(versions: readonly string[] = []): ConversionReviewVersion | undefined {
  for (const version of versions) {
    const known = KNOWN_VERSIONS.find((candidate) => candidate === version);
    if (known !== undefined) return known;
  }
  return undefined;
}

export interface ConversionRequest {
  readonly uid: string;
  readonly desired: GroupVersion;
  /** Objects in other versions than the desired one. */
  readonly objects: readonly KubeObject[];
}

/** The request to a conversion webhook (API-464). */
export function conversionReview(
  version: ConversionReviewVersion,
  { uid, desired, objects }: ConversionRequest,
): object {
  return {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersionOf(desired), objects },
  };
}

/** A wrong answer. The message follows `conversion webhook for <kind> `. */
export class ConversionAnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConversionAnswerError';
  }
}

/**
 * The converted objects in the order of the request, each with its original metadata: only labels and annotations of the webhook's answer
 * count. Throws a {@link ConversionAnswerError} (apiextensions `apiserver/conversion/webhook_converter.go`).
 */
export function convertedObjects(
  answer: unknown,
  version: ConversionReviewVersion,
  { uid, desired, objects }: ConversionRequest,
): KubeObject[] {
  const converted = responseObjects(answer, version, uid);
  if (converted.length !== objects.length) {
    throw new ConversionAnswerError(`returned ${converted.length} objects, expected ${objects.length}`);
  }
  return objects.map((original, index) => adoptConverted(original, converted[index], desired));
}

function responseObjects(answer: unknown, version: ConversionReviewVersion, uid: string): readonly unknown[] {
  const review = isJsonObject(answer) ? answer : {};
  const { response } = review;
  if (version === 'v1') {
    const wanted = 'apiextensions.k8s.io/v1, Kind=ConversionReview';
    const got = kindText(review);
    if (got !== wanted) throw failed(`expected webhook response of ${wanted}, got ${got}`);
  }
  if (!isJsonObject(response)) throw failed('no response provided');
  if (version === 'v1' && response['uid'] !== uid) {
    throw failed(`expected response.uid=${quoted(uid)}, got ${quoted(textOf(response['uid']))}`);
  }
  const result = isJsonObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success') {
    const message = textOf(result['message']);
    throw failed(message === '' ? `response.result.status was '${textOf(result['status'])}', not 'Success'` : message);
  }
  const objects = response['convertedObjects'];
  return Array.isArray(objects) ? objects : [];
}

function failed(why: string): ConversionAnswerError {
  return new ConversionAnswerError(`failed: ${why}`);
}

function adoptConverted(original: KubeObject, converted: unknown, desired: GroupVersion): KubeObject {
  if (!isJsonObject(converted)) throw failed('a converted object is no object');
  const given = groupVersionOf(textOf(converted['apiVersion']));
  if (given.group !== desired.group || given.version !== desired.version) {
    const detail = `invalid groupVersion (expected ${apiVersionOf(desired)}, received ${apiVersionOf(given)})`;
    throw new ConversionAnswerError(`returned invalid object at index 0: ${detail}`);
  }
  const kind = textOf(converted['kind']);
  if (kind !== original.kind) {
    const detail = `invalid kind (expected ${original.kind ?? ''}, received ${kind})`;
    throw new ConversionAnswerError(`returned invalid object at index 0: ${detail}`);
  }
  const { metadata } = converted;
  if (!isJsonObject(metadata)) {
    const detail =
      metadata === undefined ? 'missing metadata in converted object' : 'invalid metadata in converted object';
    throw new ConversionAnswerError(`returned invalid metadata: ${detail}`);
  }
  const before = original.metadata ?? {};
  requireSame('name', before.name, metadata['name']);
  requireSame('namespace', before.namespace, metadata['namespace']);
  requireSame('UID', before.uid, metadata['uid']);
  return { ...(converted as KubeObject), metadata: restoredMetadata(before, metadata) };
}

function requireSame(what: string, before = '', after: unknown): void {
  const given = textOf(after);
  if (before !== given) {
    throw new ConversionAnswerError(`returned invalid object: must have the same ${what}: ${before} != ${given}`);
  }
}

function restoredMetadata(before: ObjectMeta, given: Record<string, unknown>): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = before;
  const labels = stringMap(given['labels'], 'labels');
  const annotations = stringMap(given['annotations'], 'annotations');
  const errors = [
    ...(labels === undefined ? [] : validateLabels(labels, 'metadata.labels')),
    ...(annotations === undefined ? [] : validateAnnotations(annotations, 'metadata.annotations')),
  ];
  if (errors.length > 0) throw invalidMetadata(errors.map(formatFieldError).join(', '));
  return {
    ...kept,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function stringMap(value: unknown, field: string): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw invalidMetadata(`invalid metadata.${field} in converted object`);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string') {
      throw invalidMetadata(`metadata.${field}[${key}] must be a string, but is ${typeof item} in converted object`);
    }
  }
  return value as Record<string, string>;
}

function invalidMetadata(why: string): ConversionAnswerError {
  return new ConversionAnswerError(`returned invalid metadata: ${why}`);
}

function kindText({ apiVersion, kind }: Record<string, unknown>): string {
  return formatGroupVersionKind({ ...groupVersionOf(textOf(apiVersion)), kind: textOf(kind) });
}

function groupVersionOf(apiVersion: string): GroupVersion {
  return parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion };
}
