import type { KubeObject } from '../meta/object-meta.ts';
import { extractFieldSet } from './extract-field-set.ts';
import { difference, EMPTY_SET, type FieldSet, intersection, union } from './fieldset.ts';
import { type Converting, inVersion } from './kind-versions.ts';
import { removeItems, withNamedFields } from './remove-items.ts';
import type { TypeSchema } from './schema.ts';

/** Fields, written in one version. */
export interface VersionedFields {
  readonly apiVersion: string;
  readonly fields: FieldSet;
}

export interface Pruning {
  /** The version of the object, which is also that of the result. */
  readonly apiVersion: string;
  /** The fields that the manager applied last time. */
  readonly last: VersionedFields;
  /** The fields that any manager owns now, including this manager's new configuration. */
  readonly owned: readonly VersionedFields[];
  typeOf(apiVersion: string): TypeSchema;
}

const TROUBLE = 'failed to prune fields: ';

/**
 * Removes the fields that the manager applied last time and leaves out now, with everything below them (API-214). Fields that another
 * manager owns, and fields without an owner that this manager never applied, are added back. Each set is applied in the version in which it
 * was written (structured-merge-diff `prune`).
 */
export function* prune(merged: KubeObject, pruning: Pruning): Converting<KubeObject> {
  const { apiVersion, last, typeOf } = pruning;
  const type = typeOf(last.apiVersion);
  const before = yield* inVersion(
    merged,
    last.apiVersion,
    `${TROUBLE}failed to convert merged object to last applied version: `,
  );
  const lastFields = withNamedFields(last.fields, type);
  const rough = withIdentity(removeItems(before, lastFields, type), before);
  const withOwned = yield* addOwned(before, rough, pruning);
  const left = yield* inVersion(
    withOwned,
    last.apiVersion,
    `${TROUBLE}failed add back dangling items: failed to convert pruned object to last applied version: `,
  );
  const gone = difference(fieldsOf(before, type), fieldsOf(left, type));
  const pruned = removeItems(before, intersection(gone, lastFields), type) as KubeObject;
  return yield* inVersion(pruned, apiVersion, TROUBLE);
}

/**
 * Adds fields in the version of the last application first: the other versions may remove fields without which the object cannot be
 * converted.
 */
function* addOwned(merged: KubeObject, pruned: KubeObject, { last, owned, typeOf }: Pruning): Converting<KubeObject> {
  const byVersion = new Map<string, FieldSet>();
  for (const { apiVersion, fields } of owned) {
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? EMPTY_SET, fields));
  }
  const versions = [...byVersion.keys()].sort((a, b) => Number(b === last.apiVersion) - Number(a === last.apiVersion));
  let whole = merged;
  let left = pruned;
  for (const apiVersion of versions) {
    const type = typeOf(apiVersion);
    const trouble = (what: string): string =>
      `${TROUBLE}failed add back owned items: failed to convert ${what} object at version ${apiVersion}: `;
    whole = yield* inVersion(whole, apiVersion, trouble('merged'));
    left = yield* inVersion(left, apiVersion, trouble('pruned'));
    const kept = union(fieldsOf(left, type), withNamedFields(byVersion.get(apiVersion) ?? EMPTY_SET, type));
    left = withIdentity(removeItems(whole, difference(fieldsOf(whole, type), kept), type), whole);
  }
  return left;
}

function fieldsOf(object: KubeObject, type: TypeSchema): FieldSet {
  return withNamedFields(extractFieldSet(object, type), type);
}

/** Keeps the identity: a manager that applied only metadata would remove all of it, and the object could not be converted. */
function withIdentity(pruned: unknown, { apiVersion, kind, metadata = {} }: KubeObject): KubeObject {
  const { name, namespace, uid } = metadata;
  const rest = (pruned ?? {}) as KubeObject;
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...rest,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...rest.metadata,
    },
  };
}
