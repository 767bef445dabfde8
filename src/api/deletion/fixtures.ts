import type { Int64 } from '../../base/json/exact-json.ts';
import type { ResourceInfo } from '../kinds/resource-info.ts';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';

/** Rows and objects for the tests of this folder only. */

/** 2026-11-21T12:00:00.250Z, which is not a whole second, so that truncation shows. */
export const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 250);
export const NOW_TEXT = '2026-11-21T12:00:00Z';
export const EARLIER_TEXT = '2026-11-21T11:00:00Z';
export const LATER_TEXT = '2026-11-21T13:00:00Z';

export function resourceInfo(overrides: Partial<ResourceInfo> = {}): ResourceInfo {
  return {
    group: 'apps',
    version: 'v1',
    resource: 'things',
    kind: 'Thing',
    listKind: 'ThingList',
    singular: 'thing',
    namespaced: true,
    verbs: ['delete'],
    shortNames: [],
    categories: [],
    subresources: [],
    defaultPropagation: 'Background',
    deleteReturnsObject: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    generation: 'spec',
    nameRule: 'dnsSubdomain',
    ...overrides,
  };
}

export const PODS = resourceInfo({ group: '', resource: 'pods', kind: 'Pod', deleteReturnsObject: true });
export const NAMESPACES = resourceInfo({
  group: '',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  deleteReturnsObject: true,
});

export function thing(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Thing',
    metadata: { name: 'n', namespace: 'ns', uid: 'uid-1', resourceVersion: '7', ...metadata },
    spec: { keep: 'me' },
  };
}

export interface PodShape {
  readonly nodeName?: string;
  readonly terminationGracePeriodSeconds?: Int64;
  readonly phase?: string;
}

export function pod(shape: PodShape = {}, metadata: Partial<ObjectMeta> = {}): KubeObject {
  const { phase = 'Running', nodeName = 'node-1', terminationGracePeriodSeconds = 30 } = shape;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: 'uid-p', resourceVersion: '8', generation: 1, ...metadata },
    spec: { nodeName, terminationGracePeriodSeconds },
    status: { phase },
  };
}

export function namespace(
  specFinalizers: readonly string[] = ['kubernetes'],
  metadata: Partial<ObjectMeta> = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', uid: 'uid-n', resourceVersion: '9', ...metadata },
    spec: { finalizers: [...specFinalizers] },
    status: { phase: 'Active' },
  };
}

/** Freezes an object at every depth, so that a decision that changes its input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
