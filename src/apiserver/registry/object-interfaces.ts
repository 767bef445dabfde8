import { mergeTyped } from '../../api/apply/merge.ts';
import { validateTyped } from '../../api/apply/validate-typed.ts';
import { storageResource } from '../../api/conversion/convert.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { typeNameOf } from '../../api/kinds/type-table.ts';
import { apiVersionOf, type GroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ObjectInterfaces } from '../admission/chain/attributes.ts';
import { typeSchemaOf } from './field-tracking.ts';
import { objectSchema, type ObjectSchema } from './object/object-schema.ts';
import type { ResourceLookup, ResourceStore } from './resource-store.ts';

/** By storage resource. The list of served resources is another array after each change, so this is then rebuilt. */
const served = new WeakMap<readonly ResourceInfo[], ReadonlyMap<string, readonly ResourceInfo[]>>();

const interfaces = new WeakMap<ResourceStore, ObjectInterfaces>();

/** The versions and kinds of one resource for admission, created once, because every write needs them. */
export function objectInterfaces(resource: ResourceStore): ObjectInterfaces {
  let known = interfaces.get(resource);
  if (known === undefined) {
    known = makeInterfaces(resource);
    interfaces.set(resource, known);
  }
  return known;
}

function makeInterfaces(resource: ResourceStore): ObjectInterfaces {
  const { info, siblings } = resource;
  const findKind = (kind: GroupVersionKind): ResourceStore | undefined => {
    if (isKindOf(info, kind)) return resource;
    const other = sameStorage(siblings, info).find((candidate) => isKindOf(candidate, kind));
    return other === undefined ? undefined : siblings.find(other.group, other.version, other.resource);
  };
  return {
    equivalents: () => sameStorage(siblings, info),
    kindOf: (equivalent, subresource) =>
      subresource === '' ? equivalent : equivalent.subresources.find(({ name }) => name === subresource)?.kind,
    convert(object, to) {
      const source = findKind(kindOf(object));
      const target = findKind(to);
      // Kinds of subresources have only one version.
      if (source === undefined || target === undefined || source === target) return object;
      return target.convertFrom(source, object);
    },
    merge(object, configuration, kind) {
      const type = typeSchemaOf(findKind(kind)?.schema ?? plainSchema(kind));
      validateTyped(configuration, type);
      return mergeTyped(object, configuration, type) as KubeObject;
    },
    decode(tree, kind) {
      const schema = findKind(kind)?.schema ?? plainSchema(kind);
      const { object } = schema.decode(tree);
      schema.applyDefaults(object);
      return object;
    },
  };
}

function sameStorage(siblings: ResourceLookup, info: ResourceInfo): readonly ResourceInfo[] {
  const resources = siblings.resources();
  let byStorage = served.get(resources);
  if (byStorage === undefined) {
    byStorage = groupByStorage(resources);
    served.set(resources, byStorage);
  }
  return byStorage.get(storageKey(info)) ?? [info];
}

function groupByStorage(resources: readonly ResourceInfo[]): ReadonlyMap<string, readonly ResourceInfo[]> {
  const groups = new Map<string, ResourceInfo[]>();
  for (const info of resources) {
    const key = storageKey(info);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [info]);
    else group.push(info);
  }
  return groups;
}

function storageKey({ group, resource }: ResourceInfo): string {
  const storage = storageResource(group, resource);
  return `${storage.group}/${storage.resource}`;
}

function isKindOf(info: ResourceInfo, { group, version, kind }: GroupVersionKind): boolean {
  return info.kind === kind && info.group === group && info.version === version;
}

function kindOf({ apiVersion = '', kind = '' }: KubeObject): GroupVersionKind {
  return { ...(parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion }), kind };
}

function plainSchema(kind: GroupVersionKind): ObjectSchema {
  const typeName = typeNameOf(apiVersionOf(kind), kind.kind);
  return objectSchema({ ...kind, ...(typeName === undefined ? {} : { typeName }) });
}
