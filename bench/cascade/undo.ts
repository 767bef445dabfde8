import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { planRecordedUndo } from '../../src/cascade/undo/plan-recorded-undo.ts';
import { formatRestoredFrom, RESTORED_FROM } from '../../src/cascade/undo/restored-from.ts';
import { runUndo } from '../../src/cascade/undo/run-undo.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import type { RestClient } from '../../src/client/rest/rest-client.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, levelOf, median } from '../result.ts';
import { cascadeClient, inFlight } from './cascade-client.ts';

/**
 * P18: the undo of a cascade of ten thousand ConfigMaps in three levels, with `kubegc up` on its durable store: it reads what is there, plans,
 * creates owners first with their new uids, and reads everything back. The baseline creates as many equal objects, with the annotation and the
 * field manager of an undo, and as many requests under way, over the same connection.
 */
const FAMILY = 101;
const AT_ONCE = 16;
const PAGE = 500;
const RECORD = '20261127t120000-0000abcd';
const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'default';
const collection = { gvr, namespace };
const cascade = 'bench=cascade';
const bare = 'bench=bare';

export const run: Benchmark = async ({ smoke }) => {
  const families = smoke ? 2 : 99;
  const count = 1 + families * FAMILY;
  const rounds = smoke ? 1 : 3;
  const server = new ServerProcess();
  const rates = { undo: [] as number[], bare: [] as number[] };
  try {
    await server.ready;
    const client = await cascadeClient(server.kubeconfig);
    try {
      await build(client, families);
      const anchor = await client.create(collection, configMap('anchor', 'anchor'));
      // The first round is for V8 to compile.
      for (let round = 0; round < rounds + 1; round++) {
        const undo = await undoRate(client, count);
        const create = await bareRate(client, count, ownedBy(anchor));
        if (round === 0 && !smoke) continue;
        rates.undo.push(undo);
        rates.bare.push(create);
      }
    } finally {
      await client.close();
    }
  } finally {
    await server.stop();
  }
  const value = median(rates.undo);
  const baseline = median(rates.bare);
  return [
    {
      id: 'P18',
      workload: `undo of a cascade of ${count.toLocaleString('en')} objects`,
      metric: 'objects/s',
      value,
      baseline: { what: `creates of equal objects with ${AT_ONCE} on the way`, value: baseline },
      ratio: value / baseline,
      level: levelOf(value / baseline, { good: 0.5, great: 0.8, better: 'more' }),
      demands: { good: '>= 0.5x', great: '>= 0.8x' },
    },
  ];
};

async function build(client: RestClient, families: number): Promise<void> {
  const root = await client.create(collection, configMap('root', cascade));
  const owners: KubeObject[] = [];
  await inFlight(families, AT_ONCE, async (n) => {
    owners[n] = await client.create(collection, configMap(`owner-${n}`, cascade, { owner: ownedBy(root) }));
  });
  const leaves = families * (FAMILY - 1);
  await inFlight(leaves, AT_ONCE, (n) =>
    client.create(collection, configMap(`leaf-${n}`, cascade, { owner: ownedBy(owners[n % families]!) })),
  );
}

/** Deletes the root, waits until everything is gone, and undoes it. Resolves with the objects a second of the undo alone. */
async function undoRate(client: RestClient, count: number): Promise<number> {
  const objects = (await listed(client, cascade)).map((body) => ({ body }));
  if (objects.length !== count) throw new Error(`there are ${objects.length} objects, not ${count}`);
  await client.delete({ ...collection, name: 'root' }, { propagationPolicy: 'Background' });
  await untilGone(client, cascade);
  const started = performance.now();
  const options = { id: RECORD, managed: 'rebuild', onConflict: 'fail' } as const;
  const cluster = { client, clock: systemClock, discovery: await discover(client) };
  const { summary, ownerEdges } = await runUndo(await planRecordedUndo(objects, options, cluster), cluster);
  const seconds = (performance.now() - started) / 1000;
  if (summary.created !== count || ownerEdges.valid !== count - 1 || ownerEdges.broken.length > 0)
    throw new Error(`${summary.created} of ${count} are back, ${ownerEdges.valid} references are valid`);
  return count / seconds;
}

/** Creates as many objects, which it then deletes. */
async function bareRate(client: RestClient, count: number, owner: OwnerReference): Promise<number> {
  const started = performance.now();
  await inFlight(count, AT_ONCE, (n) =>
    client.create(collection, configMap(`bare-${n}`, bare, { owner, restoredFrom: owner.uid }), {
      query: { fieldManager: 'kubegc-undo' },
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const found = await listed(client, bare);
  if (found.length !== count) throw new Error(`there are ${found.length} objects, not ${count}`);
  await client.deleteCollection(collection, undefined, { query: { labelSelector: bare } });
  await untilGone(client, bare);
  return count / seconds;
}

interface Parts {
  readonly owner?: OwnerReference;
  readonly restoredFrom?: string;
}

function configMap(name: string, label: string, { owner, restoredFrom }: Parts = {}): KubeObject {
  const [key = '', value = ''] = label.split('=');
  const metadata = {
    name,
    namespace,
    labels: { [key]: value },
    ...(restoredFrom === undefined
      ? {}
      : { annotations: { [RESTORED_FROM]: formatRestoredFrom(RECORD, restoredFrom) } }),
    ...(owner === undefined ? {} : { ownerReferences: [owner] }),
  };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { settings: 'x'.repeat(200) } };
}

const ownedBy = ({ metadata }: KubeObject): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
});

async function listed(client: RestClient, labelSelector: string): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  let token: string | undefined;
  do {
    const { items, metadata } = await client.list(collection, {
      query: { labelSelector, limit: PAGE, continue: token },
    });
    for (const item of items) found.push({ ...item, apiVersion: 'v1', kind: 'ConfigMap' });
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
  return found;
}

/** At most a minute. */
async function untilGone(client: RestClient, labelSelector: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { items } = await client.list(collection, { query: { labelSelector, limit: 1 } });
    if (items.length === 0) return;
    if (performance.now() > deadline) throw new Error('the cascade took more than a minute');
    await new Promise((next) => {
      setTimeout(next, 50);
    });
  }
}
