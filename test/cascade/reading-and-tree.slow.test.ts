import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { graphDocument } from '../../src/cascade/tree/graph-document.ts';
import { reach } from '../../src/cascade/tree/reach.ts';
import { Dies } from '../../src/cascade/dominators/dies.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import { startCluster } from '../../src/testing/testing.ts';

const named = (name: string, owner?: KubeObject): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'default',
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata!.name!, uid: owner.metadata!.uid! },
          ],
        }),
  },
});

it('CAS-001 reads lists of metadata alone, in protobuf, 500 a page, several at once', async () => {
  await using cluster = await startCluster({ controllers: [] });
  for (let i = 0; i < 501; i++) await cluster.client.create(named(`c${i}`));
  const lists: { path: string; accept: string; query: URLSearchParams }[] = [];
  let inFlight = 0;
  let most = 0;
  const client = cluster.client.rest.through(async (request, next) => {
    const [path = '', query = ''] = request.target.split('?');
    const isList = /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/./.test(path);
    if (isList) lists.push({ path, accept: String(request.headers['accept']), query: new URLSearchParams(query) });
    most = Math.max(most, ++inFlight);
    try {
      return await next(request);
    } finally {
      inFlight--;
    }
  });
  const { graph } = await readSnapshot({ client, clock: systemClock });
  expect(graph.find((await cluster.client.get(named('c500'))).metadata!.uid!)).toBeGreaterThanOrEqual(0);
  expect(lists.length).toBeGreaterThan(30);
  for (const { accept, query } of lists) {
    expect(accept).toMatch(/^application\/vnd\.kubernetes\.protobuf;.*as=PartialObjectMetadataList/);
    expect(query.get('limit')).toBe('500');
  }
  expect(lists.filter(({ path }) => path === '/api/v1/configmaps').map(({ query }) => query.has('continue'))).toEqual([
    false,
    true,
  ]);
  expect(most).toBeGreaterThan(1);
});

it('CAS-020 CAS-021 shows dependents down to a depth, owners upwards, and edges from dependent to owner', async () => {
  await using cluster = await startCluster({ controllers: [] });
  const root = await cluster.client.create(named('root'));
  const child = await cluster.client.create(named('child', root));
  const grandchild = await cluster.client.create(named('grandchild', child));
  const snapshot = await readSnapshot({ client: cluster.client.rest, clock: systemClock });
  const documentFrom = (object: KubeObject, direction: 'down' | 'up', depth: number) => {
    const ids = reach(snapshot.graph, [snapshot.graph.find(object.metadata!.uid!)], { direction, depth });
    return graphDocument(snapshot, ids, new Dies(snapshot));
  };
  const namesOf = (...from: Parameters<typeof documentFrom>): string[] =>
    documentFrom(...from).nodes.map(({ ref }) => ref.name);
  expect(namesOf(root, 'down', 1)).toEqual(['root', 'child']);
  expect(namesOf(grandchild, 'up', 9)).toEqual(['grandchild', 'child', 'root']);
  const all = documentFrom(root, 'down', 9);
  expect(all).toMatchObject({ apiVersion: 'kubegc.io/v1alpha1', kind: 'Graph' });
  expect(all.edges.map(({ from, to }) => [from, to])).toEqual([
    [child.metadata!.uid, root.metadata!.uid],
    [grandchild.metadata!.uid, child.metadata!.uid],
  ]);
});
