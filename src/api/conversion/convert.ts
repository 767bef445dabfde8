import { builtinResources } from '../kinds/builtin-resources.ts';
import type { ResourceInfo } from '../kinds/resource-info.ts';
import { typeNameOf } from '../kinds/type-table.ts';
import { apiVersionOf } from '../meta/group-version-kind.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { decodeTyped } from '../schema/decoding/typed-decoding.ts';
import { coreEventToEvents, eventsEventToCore } from './events-conversion.ts';
import { autoscalerV1ToV2, autoscalerV2ToV1 } from './autoscaling-conversion.ts';

/** The one group and version in which all versions of a kind are stored. */
export interface StorageResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
}

type Fields = Record<string, unknown>;

interface Conversion {
  readonly storage: StorageResource;
  readonly toStorage: (object: Fields) => Fields;
  readonly fromStorage: (object: Fields) => Fields;
}

/** Conversions by served `<group>/<version>/<resource>`. Every other resource is stored as it is served. */
const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  'events.k8s.io/v1/events': {
    storage: { group: '', version: 'v1', resource: 'events', kind: 'Event' },
    toStorage: eventsEventToCore,
    fromStorage: coreEventToEvents,
  },
  'autoscaling/v1/horizontalpodautoscalers': {
    storage: {
      group: 'autoscaling',
      version: 'v2',
      resource: 'horizontalpodautoscalers',
      kind: 'HorizontalPodAutoscaler',
    },
    toStorage: autoscalerV1ToV2,
    fromStorage: autoscalerV2ToV1,
  },
};

function conversionOf(info: ResourceInfo): Conversion | undefined {
  return CONVERSIONS[`${info.group}/${info.version}/${info.resource}`];
}

/**
 * The stored form of a decoded object of the served version. Returns the object itself if nothing has to be converted, otherwise a new
 * object in the form of `decodeTyped`.
 */
export function toStorage(object: KubeObject, info: ResourceInfo): KubeObject {
  const conversion = conversionOf(info);
  if (conversion === undefined) return object;
  return asKind(conversion.toStorage(object), apiVersionOf(conversion.storage), conversion.storage.kind);
}

/** The served form of a stored object; never changes its input. */
export function fromStorage(object: KubeObject, info: ResourceInfo): KubeObject {
  const conversion = conversionOf(info);
  return conversion === undefined ? object : asKind(conversion.fromStorage(object), apiVersionOf(info), info.kind);
}

/** True where served and stored form differ, so that bytes of the store cannot be sent as they are. */
export function isConverted(info: ResourceInfo): boolean {
  return conversionOf(info) !== undefined;
}

/**
 * The resource under which objects are stored, for any served version. A custom resource is stored under its own group and name; its
 * definition determines version and kind, so they are empty here.
 */
export function storageResource(group: string, resource: string): StorageResource {
  // Preferred version first.
  const info = builtinResources().find((row) => row.group === group && row.resource === resource);
  if (info === undefined) return { group, version: '', resource, kind: '' };
  return conversionOf(info)?.storage ?? { group, version: info.version, resource, kind: info.kind };
}

function asKind(fields: Fields, apiVersion: string, kind: string): KubeObject {
  const typeName = typeNameOf(apiVersion, kind);
  if (typeName === undefined) throw new Error(`no type for ${apiVersion} ${kind}`);
  return decodeTyped({ ...fields, apiVersion, kind }, typeName).object;
}
