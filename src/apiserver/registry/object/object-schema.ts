import type { TypeSchema } from '../../../api/apply/schema.ts';
import { copyJson } from '../../../api/codec/json/json-value.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { applyDefaults, defaultsMetadata } from '../../../api/schema/defaults/defaults.ts';
import { decodeMetadata, decodeTyped } from '../../../api/schema/decoding/typed-decoding.ts';

export interface DecodedObject {
  /** New: shares nothing with the input. */
  readonly object: KubeObject;
  /** Paths of what the schema does not know and was dropped. */
  readonly unknownFields: readonly string[];
}

/** How a tree that a client sent becomes an object of a kind. */
export interface ObjectSchema {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Key into the type table; absent for custom resources, which have no protobuf form and no strategic merge. */
  readonly typeName?: string;
  /** How managers share values; absent where the type table says it, and where nothing is known. */
  readonly typeSchema?: TypeSchema;
  /**
   * 400 for values of the wrong type. Nulls where there may be none mean "not set" and go; `kept` leaves those of a custom resource for
   * validation to refuse, as an apply does.
   */
  decode(object: KubeObject, nulls?: 'kept'): DecodedObject;
  applyDefaults(object: KubeObject): void;
  /** Defaults write into metadata as well: labels of a template. Absent: they do not. */
  readonly defaultsMetadata?: boolean;
}

type SchemaKind = Pick<ResourceInfo, 'group' | 'version' | 'kind' | 'typeName'>;

/** The schema of a built-in kind, from the type table, or of a custom resource without one: anything goes beside metadata. */
export function objectSchema({ group, version, kind, typeName }: SchemaKind): ObjectSchema {
  if (typeName === undefined) {
    const decode = (object: KubeObject): DecodedObject => openDecode(object, { kind, version });
    return { group, version, kind, decode, applyDefaults: () => undefined };
  }
  const apiVersion = apiVersionOf({ group, version });
  return {
    group,
    version,
    kind,
    typeName,
    decode: (object) => decodeTyped(object, typeName),
    applyDefaults: (object) => applyDefaults(object, apiVersion, kind),
    defaultsMetadata: defaultsMetadata(apiVersion, kind),
  };
}

/** Everything else relies on metadata being what it says it is. */
function openDecode(object: KubeObject, of: { readonly kind: string; readonly version: string }): DecodedObject {
  const { metadata, unknownFields } = decodeMetadata(object.metadata, of);
  return {
    object: { ...copyJson(object), metadata },
    unknownFields: unknownFields.map((path) => `metadata.${path}`),
  };
}
