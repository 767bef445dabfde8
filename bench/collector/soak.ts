import { Load } from '../apiserver/load.ts';
import { type Benchmark, median } from '../result.ts';
import type { CollectProcess } from './collect-process.ts';
import {
  driftRow,
  handlesMore,
  mebibytes,
  residentAtRest,
  residentDuring,
  withLastingCollector,
} from './lasting-collector.ts';
import { definitionOf, DEFINITIONS_PATH, SOAK_GROUP } from './soak-definition.ts';

/**
 * P19: `kubegc collect` for a long time beside clients that create, change and delete, while definitions of resources come and go every ten
 * seconds. The result is good if at rest it needs as little memory at the end as after the first quarter, if no handle is left open, and if
 * at the end it knows exactly the existing objects, with no garbage left. `SOAK_MINUTES=60` is the row of the table. The C library returns
 * free memory, as docs/collect.md recommends for a collector that runs for long. The load begins with a burst, so that the memory is at its
 * maximum once before the first measure.
 */
const LOOPS = 8;
/** Ten million an hour. */
const EVENTS_A_MS = 10_000_000 / 3_600_000;
/** The engine takes up to 100 s to notice that the load is over, and to return the memory that it needed only for the load. */
const REST_MS = 150_000;
const DEFINITION_EVERY_MS = 10_000;
/** In the burst: how many at once, and for how long. */
const DEFINITIONS_IN_BURST = 20;
const DEFINITION_IN_BURST_MS = 600;
/** The part of the time in which clients do not wait for their turn, in the beginning. */
const BURST = 1 / 60;
/** Families in turn, each of one owner and its dependents, so that the number of objects stays what it is. */
const FAMILIES = 200;
const DEPENDENTS = 9;
/** Watch events of a family: dependents are made, changed and deleted, an owner is made, deleted and, if it waits, changed between. */
const EVENTS = { Background: 2 + 3 * DEPENDENTS, Foreground: 3 + 3 * DEPENDENTS, Orphan: 3 + 4 * DEPENDENTS } as const;
const configmaps = '/api/v1/namespaces/default/configmaps';

export const run: Benchmark = async ({ smoke }) => {
  const minutes = smoke ? 0.15 : Number(process.env['SOAK_MINUTES'] ?? 3);
  return await withLastingCollector({ smoke }, async (collector, kubeconfig) => {
    const load = new Load(kubeconfig, LOOPS + DEFINITIONS_IN_BURST);
    try {
      const handlesBefore = collector.openHandles;
      const state: State = { phase: 'burst', events: 0, definitions: 0 };
      const atRest = async (): Promise<number> => {
        state.phase = 'resting';
        const least = await residentAtRest(collector, smoke ? 500 : REST_MS);
        state.phase = 'loading';
        return least;
      };
      const loops = Array.from({ length: LOOPS }, (_, i) => families(load, i, state));
      const comingAndGoing = definitionsComeAndGo(load, state);
      // Until code is compiled and tables have their size.
      await pause(minutes * 60_000 * BURST);
      state.phase = 'loading';
      await pause(minutes * 60_000 * (0.25 - BURST));
      const first = await atRest();
      const early = median(await residentDuring(collector, minutes * 60_000 * 0.15));
      await pause(minutes * 60_000 * 0.45);
      const late = median(await residentDuring(collector, minutes * 60_000 * 0.15));
      const last = await atRest();
      state.phase = 'over';
      await Promise.all([...loops, comingAndGoing]);
      const lost = await lostEvents(load, collector);
      if (lost !== 0) throw new Error(`the collector is ${lost} objects off`);
      const handles = smoke ? 0 : await handlesMore(collector, handlesBefore);
      const seen = `${state.events.toLocaleString('en')} events and ${state.definitions} definitions later`;
      return [
        driftRow(
          {
            id: `P19 (${minutes} min)`,
            workload: 'families of ten made, changed and deleted by eight clients; a definition every ten seconds',
            told: `${seen}; under load ${mebibytes(early)} and ${mebibytes(late)} MiB; 0 lost, ${handles} handles more`,
          },
          { since: 'quarter', first, last },
        ),
      ];
    } finally {
      load.close();
    }
  });
};

interface State {
  phase: 'burst' | 'loading' | 'resting' | 'over';
  events: number;
  definitions: number;
}

/** As functions, because the compiler takes it for impossible that others change the phase meanwhile. */
function isOver({ phase }: State): boolean {
  return phase === 'over';
}

function isResting({ phase }: State): boolean {
  return phase === 'resting';
}

function isHurried({ phase }: State): boolean {
  return phase === 'burst';
}

/** Families of one loop, one after the other: made, changed, and their owner deleted. Their dependents are the collector's. */
async function families(load: Load, loop: number, state: State): Promise<void> {
  let due = performance.now();
  for (let turn = 0; !isOver(state); turn++) {
    if (isResting(state)) {
      await pause(50);
      due = performance.now();
      continue;
    }
    const name = `family-${loop}-${turn % FAMILIES}-${turn}`;
    const owner = await load.json<{ metadata: { uid: string } }>('POST', configmaps, { metadata: { name } });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: owner.metadata.uid, blockOwnerDeletion: true };
    for (let n = 0; n < DEPENDENTS; n++) {
      const metadata = { name: `${name}-${n}`, ownerReferences: [reference] };
      await send(load, 'POST', configmaps, { metadata });
      await send(load, 'PATCH', `${configmaps}/${name}-${n}`, { metadata: { labels: { turn: String(turn) } } });
    }
    const policy = policyOf(turn);
    await send(load, 'DELETE', `${configmaps}/${name}`, { propagationPolicy: policy });
    if (policy === 'Orphan') {
      for (let n = 0; n < DEPENDENTS; n++) await send(load, 'DELETE', `${configmaps}/${name}-${n}`);
    }
    state.events += EVENTS[policy];
    // The same load from beginning to end, whatever else the machine does: memory follows the load.
    due += (LOOPS * EVENTS[policy]) / EVENTS_A_MS;
    if (isHurried(state)) due = performance.now();
    else await pause(Math.max(0, due - performance.now()));
  }
}

/**
 * One in a hundred is orphaned, as rare as it is in clusters: the collector remembers each orphaned owner for an hour (LIFE-561) with some
 * 45 bytes, and a record that grows until it is full would hide a leak.
 */
function policyOf(turn: number): keyof typeof EVENTS {
  if (turn % 100 === 99) return 'Orphan';
  return turn % 2 === 0 ? 'Background' : 'Foreground';
}

/**
 * One in ten seconds; in the burst many at once and one after the other, because the engine compiles what so seldom happens little by
 * little, over hours, and code is no leak.
 */
async function definitionsComeAndGo(load: Load, state: State): Promise<void> {
  let made = 0;
  while (!isOver(state)) {
    const hurried = isHurried(state);
    const plurals = Array.from({ length: hurried ? DEFINITIONS_IN_BURST : 1 }, () => `things${made++}`);
    const halfMs = (hurried ? DEFINITION_IN_BURST_MS : DEFINITION_EVERY_MS) / 2;
    await Promise.all(plurals.map((plural) => load.json('POST', DEFINITIONS_PATH, definitionOf(plural))));
    const until = performance.now() + halfMs;
    while (performance.now() < until && !isOver(state)) await pause(100);
    await Promise.all(plurals.map((plural) => load.json('DELETE', `${DEFINITIONS_PATH}/${plural}.${SOAK_GROUP}`)));
    state.definitions += plurals.length;
    const next = performance.now() + halfMs;
    while ((performance.now() < next || isResting(state)) && !isOver(state)) await pause(100);
  }
}

/** How far what the collector knows is from what there is, after it has had time to finish. */
async function lostEvents(load: Load, collector: CollectProcess): Promise<number> {
  let off = Number.NaN;
  for (let tries = 0; tries < 240; tries++) {
    await pause(250);
    const left = await familiesLeft(load);
    const known = await collector.metric('kubegc_collector_graph_nodes', 'state="observed"');
    const other = await metadataOfAll(load);
    off = known - other;
    if (left === 0 && off === 0) return 0;
  }
  return off;
}

async function familiesLeft(load: Load): Promise<number> {
  const { items } = await load.json<{ items: { metadata: { name: string } }[] }>('GET', configmaps);
  return items.filter(({ metadata }) => metadata.name.startsWith('family-')).length;
}

/** Objects of everything the collector watches, by the server's own lists. */
async function metadataOfAll(load: Load): Promise<number> {
  let count = 0;
  for (const root of ['/api', '/apis']) {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = await load.json<Discovery>('GET', root, undefined, accept);
    for (const { metadata, versions } of items) {
      const seen = new Set<string>();
      for (const { version, resources } of versions) {
        for (const { resource, verbs } of resources) {
          const watched = ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb));
          if (!watched || resource === 'events' || seen.has(resource)) continue;
          seen.add(resource);
          const group = metadata.name === undefined ? '/api' : `/apis/${metadata.name}`;
          const path = metadata.name === '' ? '/api' : group;
          count += (await load.json<{ items: unknown[] }>('GET', `${path}/${version}/${resource}`)).items.length;
        }
      }
    }
  }
  return count;
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly { readonly resource: string; readonly verbs: readonly string[] }[];
    }[];
  }[];
}

async function send(load: Load, method: string, path: string, body?: object): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const status = await load.send(method, path, body && Buffer.from(JSON.stringify(body)), type);
  if (status >= 400 && status !== 404) throw new Error(`${method} ${path} answered ${status}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
