import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { startCluster } from '../../testing/testing.ts';
import { captureBodies } from './capture-bodies.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { name },
});
const referenceTo = ({ metadata }: KubeObject): ObjectReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'default',
  name: metadata!.name!,
  uid: metadata!.uid!,
});

async function drained(bodies: AsyncIterable<KubeObject>): Promise<KubeObject[]> {
  const all: KubeObject[] = [];
  for await (const body of bodies) all.push(body);
  return all;
}

describe('bodies of a plan', () => {
  it('CAS-060 are read whole, one by one or with one list, and one that changed is refused', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    const references: ObjectReference[] = [];
    for (let i = 0; i < 12; i++) references.push(referenceTo(await client.create(configMap(`c${i}`))));
    for (const wanted of [references.slice(0, 3), references]) {
      const bodies = await drained(captureBodies(client.rest, wanted));
      expect(bodies.map(({ metadata }) => metadata?.uid).toSorted()).toEqual(wanted.map(({ uid }) => uid).toSorted());
      for (const body of bodies) {
        expect(body).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { name: body.metadata!.name } });
      }
      const stale = wanted.with(0, { ...wanted[0]!, uid: 'another' });
      await expect(drained(captureBodies(client.rest, stale))).rejects.toMatchObject({
        code: 'changed',
        message: 'configmaps default/c0 changed since the plan was made',
      });
    }
  });
});
