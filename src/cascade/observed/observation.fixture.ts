import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { discover } from '../../client/discovery/discovery.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Observation } from './observed-object.ts';
import { readObservation } from './read-observation.ts';

/** Reads a cluster like a command. */
export async function observe(client: RestClient, clock: Clock, namespace?: string): Promise<Observation> {
  const discovery = await discover(client);
  return readObservation({ client, clock, discovery, ...(namespace === undefined ? {} : { namespace }) });
}

export function ownedBy(owner: KubeObject, flags: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion = '', kind = '', metadata } = owner;
  return { apiVersion, kind, name: metadata!.name!, uid: metadata!.uid!, ...flags };
}

/** A ConfigMap of the namespace `default`. */
export const configMap = (name: string, ownerReferences: OwnerReference[] = [], metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ownerReferences, ...metadata },
});

/** A namespaced definition of `Widget` in a group, served as v1 with a status. */
export const widgetDefinition = (group: string, properties: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
