import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { encodeStored } from '../storage/stored-object.ts';
import { StoreServiceResolver } from './service-resolver.ts';

const service = (spec: object): Record<string, KubeObject> => ({
  '/registry/core/services/n/s': { kind: 'Service', apiVersion: 'v1', metadata: { name: 's', namespace: 'n' }, spec },
});
const slice = (name: string, fields: object, of = 's'): Record<string, KubeObject> => ({
  [`/registry/discovery.k8s.io/endpointslices/n/${name}`]: {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name, namespace: 'n', labels: { 'kubernetes.io/service-name': of } },
    ...fields,
  },
});
const endpoints = (subsets: object[]): Record<string, KubeObject> => ({
  '/registry/core/endpoints/n/s': {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'n' },
    subsets,
  },
});
const named = { ports: [{ name: 'https', port: 443 }] };

async function resolve(objects: Record<string, KubeObject>, port = 443): Promise<string> {
  const store = openMemoryStore({ clock: new FakeClock() });
  for (const [key, object] of Object.entries(objects)) await store.create(key, encodeStored(object));
  // Always chooses the last endpoint.
  const resolver = new StoreServiceResolver({ store, random: { integer: (n) => n - 1 } });
  try {
    const { host, port: found } = await resolver.resolve('n', 's', port);
    return `${host}:${found}`;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('API-358 where a service is', () => {
  it.each<[string, Record<string, KubeObject>, string]>([
    ['not there', {}, 'service "s" not found'],
    ['another port', service({ ports: [{ port: 80 }] }), 'no service port 443 found for service "s"'],
    ['nobody behind it', service(named), 'no endpoints available for service "s"'],
    ['an external name', service({ type: 'ExternalName', externalName: 'localhost' }), 'localhost:443'],
    [
      'a slice, by the name of the port',
      {
        ...service(named),
        ...slice('a', {
          ports: [
            { name: 'http', port: 1 },
            { name: 'https', port: 2 },
          ],
          endpoints: [{ addresses: ['10.0.0.1'] }],
        }),
      },
      '10.0.0.1:2',
    ],
    [
      'the slice of another service',
      { ...service(named), ...slice('a', { ports: named.ports, endpoints: [{ addresses: ['10.0.0.1'] }] }, 'other') },
      'no endpoints available for service "s"',
    ],
    [
      'an endpoint that is not ready',
      {
        ...service(named),
        ...slice('a', {
          ports: named.ports,
          endpoints: [
            { addresses: ['10.0.0.1'], conditions: { ready: true } },
            { addresses: ['10.0.0.2'], conditions: { ready: false } },
          ],
        }),
      },
      '10.0.0.1:443',
    ],
    [
      'endpoints',
      {
        ...service(named),
        ...endpoints([{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: [{ name: 'https', port: 8443 }] }]),
      },
      '10.0.0.2:8443',
    ],
  ])('%s', async (_name, objects, found) => {
    expect(await resolve(objects)).toBe(found);
  });
});
