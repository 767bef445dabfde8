import { Load } from '../apiserver/load.ts';
import type { Benchmark } from '../result.ts';
import { driftRow, handlesMore, mebibytes, residentAtRest, withLastingCollector } from './lasting-collector.ts';
import { definitionOf, DEFINITIONS_PATH, kindOf, SOAK_GROUP } from './soak-definition.ts';

/**
 * P19, definitions: ten thousand definitions of resources come and go beside `kubegc collect`, twenty at a time, and one object of each is
 * collected. The result is good if the memory at rest after all of them is the same as after the first tenth, if the collector watches the
 * same resources as before, and if no handle is left open.
 */
const AT_ONCE = 20;
const DEFINITIONS = 10_000;
const REST_MS = 60_000;
const REST_SMOKE_MS = 500;
const configmaps = '/api/v1/namespaces/default/configmaps';

export const run: Benchmark = async ({ smoke }) => {
  const rounds = (smoke ? 2 * AT_ONCE : Number(process.env['BENCH_DEFINITIONS'] ?? DEFINITIONS)) / AT_ONCE;
  const restMs = smoke ? REST_SMOKE_MS : REST_MS;
  return await withLastingCollector({ smoke }, async (collector, kubeconfig) => {
    const load = new Load(kubeconfig, AT_ONCE);
    try {
      const handles = collector.openHandles;
      const watched = String(await collector.rescan());
      let [first, middle] = [Number.NaN, Number.NaN];
      for (let round = 0; round < rounds; round++) {
        await comeAndGo(load, round);
        if (round + 1 === Math.ceil(rounds / 10)) first = await residentAtRest(collector, restMs);
        if (round + 1 === Math.ceil(rounds / 2)) middle = await residentAtRest(collector, restMs);
      }
      await until('it watches what it watched before', async () => String(await collector.rescan()) === watched);
      const last = await residentAtRest(collector, restMs);
      const more = smoke ? 0 : await handlesMore(collector, handles);
      const made = (rounds * AT_ONCE).toLocaleString('en');
      return [
        driftRow(
          {
            id: 'P19 (definitions)',
            workload: `${made} definitions made and deleted, ${AT_ONCE} at a time, an object of each collected`,
            told: `${made} definitions later; ${mebibytes(middle)} MiB after half of them, ${mebibytes(last)} in the end, ${more} handles more`,
          },
          { since: 'tenth', first, last },
        ),
      ];
    } finally {
      load.close();
    }
  });
};

/** Definitions whose names nobody has used before; an object of each goes with its owner. */
async function comeAndGo(load: Load, round: number): Promise<void> {
  const plurals = Array.from({ length: AT_ONCE }, (_, i) => `things${round * AT_ONCE + i}`);
  await Promise.all(plurals.map((plural) => load.json('POST', DEFINITIONS_PATH, definitionOf(plural))));
  const owner = await load.json<Created>('POST', configmaps, { metadata: { name: `owner-${round}` } });
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
  await Promise.all(
    plurals.map(async (plural) => {
      await until(`${plural} is served`, async () => {
        const status = await load.send('POST', pathOf(plural), bodyOf(plural, ownerReferences));
        return status === 201;
      });
    }),
  );
  await load.json('DELETE', `${configmaps}/${name}`, { propagationPolicy: 'Background' });
  await Promise.all(
    plurals.map((plural) =>
      until(`the object of ${plural} is gone`, async () => (await load.send('GET', `${pathOf(plural)}/one`)) === 404),
    ),
  );
  await Promise.all(
    plurals.map(async (plural) => {
      const path = `${DEFINITIONS_PATH}/${plural}.${SOAK_GROUP}`;
      await load.json('DELETE', path);
      await until(`${plural} is gone`, async () => (await load.send('GET', path)) === 404);
    }),
  );
}

interface Created {
  readonly metadata: { readonly name: string; readonly uid: string };
}

const pathOf = (plural: string): string => `/apis/${SOAK_GROUP}/v1/namespaces/default/${plural}`;

function bodyOf(plural: string, ownerReferences: readonly object[]): Buffer {
  const metadata = { name: 'one', ownerReferences };
  return Buffer.from(JSON.stringify({ apiVersion: `${SOAK_GROUP}/v1`, kind: kindOf(plural), metadata }));
}

/** At most half a minute. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it took more than 30 s until ${what}`);
    await new Promise((next) => {
      setTimeout(next, 10);
    });
  }
}
