import type { TypeSchema } from '../../../api/apply/schema.ts';
import { copyJson } from '../../../api/codec/json/json-value.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { applyDefaults, defaultsMetadata } from '../../../api/schema/defaults/defaults.ts';
import { decodeMetadata, decodeTyped } from '../../../api/schema/decoding/typed-decoding.ts';

export interface DecodedObject {
  /** A new object that shares nothing with the input. */
  readonly object: KubeObject;
  /** Paths of dropped unknown fields. */
  readonly unknownFields: readonly string[];
}

/** Decodes a client's tree as an object of a kind. */
export interface ObjectSchema {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Key into the type table; absent for custom resources, which have no protobuf form and no strategic merge. */
  readonly typeName?: string;
  /** The schema for server-side apply; absent if it comes from the type table, or is unknown. */
  readonly typeSchema?: TypeSchema;
  /**
   * Throws a 400 for values of the wrong type. Nulls in fields that are not nullable count as unset and are dropped. With `kept`, such
   * nulls of a custom resource stay where a type forbids them, so that validation refuses them, as for an apply.
   */
  decode(object: KubeObject, nulls?: 'kept'): DecodedObject;
  applyDefaults(object: KubeObject): void;
  /** True if defaults also change metadata, such as labels from a template. */
  readonly defaultsMetadata?: boolean;
}

type SchemaKind = Pick<ResourceInfo, 'group' | 'version' | 'kind' | 'typeName'>;

/** The schema of a built-in kind, from the type table, or of a custom resource without one, which allows any field beside metadata. */
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

/** Metadata must always have the right types, because all other code relies on that. */
function openDecode(object: KubeObject, of: { readonly kind: string; readonly version: string }): DecodedObject {
  const { metadata, unknownFields } = decodeMetadata(object.metadata, of);
  return {
    object: { ...copyJson(object), metadata },
    unknownFields: unknownFields.map((path) => `metadata.${path}`),
  };
}
