import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import type { GraphDocument } from '../../src/cascade/documents/graph-document.ts';
import { Dies } from '../../src/cascade/dominators/dies.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import { ResourceCatalogue } from '../../src/cascade/snapshot/resource-catalogue.ts';
import { graphDocument } from '../../src/cascade/tree/graph-document.ts';
import { reach } from '../../src/cascade/tree/reach.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../src/client/codec/accept.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import type { RestClient } from '../../src/client/rest/rest-client.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { cascadeClient, inFlight } from './cascade-client.ts';

/**
 * TREE: the tree of nine thousand ConfigMaps in three levels, with how many die with each. Cold: as `kubectl cascade tree` makes it, over a new
 * TLS connection, from lists of every kind; the baseline reads the same pages as JSON over a new connection, and makes nothing of them. Warm: from
 * `/kubegc/v1/graph`, out of the running collector's graph, once as the text for people with a line for each object, once as the document for
 * programs; the baseline lists the metadata of the same objects in one request.
 */
const CHILDREN = 99;
const AT_ONCE = 16;
const PAGE = 500;
const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const collection = { gvr, namespace: 'default' };

export const run: Benchmark = async ({ smoke }) => {
  const families = smoke ? 2 : 90;
  const rounds = smoke ? 2 : 9;
  const count = 1 + families * (1 + CHILDREN);
  const server = new ServerProcess({ args: ['--store', 'memory'] });
  const times = {
    cold: [] as number[],
    lists: [] as number[],
    text: [] as number[],
    warm: [] as number[],
    list: [] as number[],
  };
  try {
    await server.ready;
    const client = await cascadeClient(server.kubeconfig);
    try {
      const root = await build(client, families);
      for (let round = 0; round < rounds; round++) {
        times.cold.push(await connected(server, (fresh) => coldTree(fresh, { root, count })));
        times.lists.push(await connected(server, bareLists));
        times.text.push(await timed(() => warmText(client, count)));
        times.warm.push(await timed(() => warmTree(client, count)));
        times.list.push(await timed(() => bareList(client, count)));
      }
    } finally {
      await client.close();
    }
  } finally {
    await server.stop();
  }
  const row = (
    id: string,
    values: readonly number[],
    baseline: BenchResult['baseline'],
    demands: Demands,
  ): BenchResult => {
    const value = median(values);
    return {
      id,
      workload: `the tree of ${count.toLocaleString('en')} objects`,
      metric: 'ms',
      value,
      baseline,
      ratio: baseline.value / value,
      level: levelOf(value, { ...demands, better: 'less' }),
      demands: { good: `<= ${demands.good} ms`, great: `<= ${demands.great} ms` },
    };
  };
  const lists = { what: 'the same pages as JSON over a new connection', value: median(times.lists) };
  const list = { what: 'one list of their metadata', value: median(times.list) };
  return [
    row('TREE (cold)', times.cold, lists, { good: 1000, great: 500 }),
    row('TREE (warm, text)', times.text, list, { good: 100, great: 50 }),
    row('TREE (warm)', times.warm, list, { good: 100, great: 50 }),
  ];
};

interface Demands {
  readonly good: number;
  readonly great: number;
}

/** Resolves with the uid of the root. */
async function build(client: RestClient, families: number): Promise<string> {
  const root = await client.create(collection, configMap('root'));
  const owners: KubeObject[] = [];
  await inFlight(families, AT_ONCE, async (n) => {
    owners[n] = await client.create(collection, configMap(`owner-${n}`, root));
  });
  await inFlight(families * CHILDREN, AT_ONCE, (n) =>
    client.create(collection, configMap(`leaf-${n}`, owners[n % families]!)),
  );
  return root.metadata?.uid ?? '';
}

function configMap(name: string, owner?: KubeObject): KubeObject {
  const { name: ownerName = '', uid = '' } = owner?.metadata ?? {};
  const ownerReferences: OwnerReference[] = [{ apiVersion: 'v1', kind: 'ConfigMap', name: ownerName, uid }];
  const metadata = { name, labels: { bench: 'tree' }, ...(owner === undefined ? {} : { ownerReferences }) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

async function connected(server: ServerProcess, work: (client: RestClient) => Promise<void>): Promise<number> {
  const started = performance.now();
  const client = await cascadeClient(server.kubeconfig);
  try {
    await work(client);
    return performance.now() - started;
  } finally {
    await client.close();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function coldTree(
  client: RestClient,
  { root, count }: { readonly root: string; readonly count: number },
): Promise<void> {
  const catalogue = new ResourceCatalogue(await discover(client));
  const snapshot = await readSnapshot({ client, clock: systemClock, catalogue, detail: 'ages' });
  const { graph } = snapshot;
  const ids = reach(graph, [graph.find(root)], { direction: 'down', depth: Number.POSITIVE_INFINITY });
  check(graphDocument(snapshot, ids, new Dies(snapshot)), count);
}

async function warmTree(client: RestClient, count: number): Promise<void> {
  const { body } = await client.stream({
    method: 'GET',
    path: '/kubegc/v1/graph',
    query: { object: 'configmaps/root' },
  });
  const document = JSON.parse(await textOf(body)) as GraphDocument;
  if (document.source !== 'warm') throw new Error('the answer is not from the graph of the collector');
  check(document, count);
}

async function warmText(client: RestClient, count: number): Promise<void> {
  const { body } = await client.stream({
    method: 'GET',
    path: '/kubegc/v1/graph',
    query: { object: 'configmaps/root', output: 'tree', all: 'true' },
  });
  const lines = (await textOf(body)).split('\n');
  // The first line has the titles of the columns, and the last one ends with a line feed.
  if (lines.length !== count + 2) throw new Error(`the tree has ${lines.length - 2} of ${count} objects`);
}

function check({ nodes, edges }: GraphDocument, count: number): void {
  const dies = nodes.find(({ ref }) => ref.name === 'root')?.dies;
  if (nodes.length !== count || edges.length !== count - 1 || dies !== count)
    throw new Error(`${nodes.length} objects, ${edges.length} references, ${dies} die with the root`);
}

async function bareLists(client: RestClient): Promise<void> {
  const { deletable } = new ResourceCatalogue(await discover(client));
  await inFlight(deletable.length, AT_ONCE, async (n) => {
    const { group, version, resource } = deletable[n]!;
    let token: string | undefined;
    do {
      const query = { limit: PAGE, continue: token };
      const list = await client.list(
        { gvr: { group, version, resource } },
        { query, accept: ACCEPT_METADATA_LIST_JSON },
      );
      token = list.metadata.continue === '' ? undefined : list.metadata.continue;
    } while (token !== undefined);
  });
}

async function bareList(client: RestClient, count: number): Promise<void> {
  const query = { labelSelector: 'bench=tree' };
  const { items } = await client.list(collection, { query, accept: ACCEPT_METADATA_LIST_JSON });
  if (items.length !== count) throw new Error(`the list has ${items.length} objects`);
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
