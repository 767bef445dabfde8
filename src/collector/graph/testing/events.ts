import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import type { DeletedEvent, MonitoredResource, ObservedEvent } from '../../types/event.ts';

export const pods: MonitoredResource = { apiVersion: 'v1', kind: 'Pod', resource: 'pods' };
/** A resource with the kind and version of {@link pods}, but other objects. */
export const standbyPods: MonitoredResource = { ...pods, resource: 'standbypods' };
export const nodes: MonitoredResource = { apiVersion: 'v1', kind: 'Node', resource: 'nodes' };
export const replicaSets: MonitoredResource = { apiVersion: 'apps/v1', kind: 'ReplicaSet', resource: 'replicasets' };

export const cluster = { namespace: '' };

/** An object for tests with a default for everything but the uid: the name is the uid, the namespace `ns`. */
export interface TestObject {
  readonly uid: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly owners?: readonly OwnerReference[];
  readonly deleting?: boolean;
  readonly finalizers?: readonly string[];
}

export function observed(resource: MonitoredResource, object: TestObject): ObservedEvent {
  const { uid, name = uid, namespace = 'ns', resourceVersion = '1', owners = [], deleting = false } = object;
  const { finalizers = [] } = object;
  return {
    type: 'observed',
    resource,
    object: { uid, name, namespace, resourceVersion, ownerReferences: owners, deleting, finalizers },
  };
}

export function deleted(
  resource: MonitoredResource,
  uid: string,
  { name = uid, namespace = 'ns' }: { readonly name?: string; readonly namespace?: string } = {},
): DeletedEvent {
  return { type: 'deleted', resource, uid, name, namespace };
}

/** A reference to a Pod of that name, unless changed. */
export function ref(uid: string, change: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'v1', kind: 'Pod', name: uid, uid, ...change };
}
