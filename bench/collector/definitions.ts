import { Load } from '../apiserver/load.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, levelOf } from '../result.ts';
import { CollectProcess } from './collect-process.ts';
import { GIVES_BACK, mebibytes, residentAtRest } from './resident-memory.ts';
import { definitionOf, DEFINITIONS_PATH, kindOf, SOAK_GROUP } from './soak-definition.ts';

/**
 * P19, definitions: ten thousand definitions of resources come and go beside `kubegc collect`, twenty at a time, and of each an object is
 * collected. What counts: its memory at rest after all of them is what it was after the first tenth, it watches what it watched before,
 * and no handle is left open.
 */
const AT_ONCE = 20;
const DEFINITIONS = 10_000;
const REST_MS = 60_000;
const REST_SMOKE_MS = 500;
const configmaps = '/api/v1/namespaces/default/configmaps';

export const run: Benchmark = async ({ smoke }) => {
  const rounds = (smoke ? 2 * AT_ONCE : Number(process.env['BENCH_DEFINITIONS'] ?? DEFINITIONS)) / AT_ONCE;
  const restMs = smoke ? REST_SMOKE_MS : REST_MS;
  const server = new ServerProcess({ args: ['--controllers', 'namespace-controller', '--store', 'memory'] });
  await server.ready;
  const collector = new CollectProcess(server.kubeconfig, ['--mode', 'collect'], { env: smoke ? {} : GIVES_BACK });
  const load = new Load(server.kubeconfig, AT_ONCE);
  try {
    await collector.ready;
    const handles = collector.openHandles;
    const watched = String(await collector.rescan());
    let first = Number.NaN;
    for (let round = 0; round < rounds; round++) {
      await comeAndGo(load, round);
      if (round + 1 === Math.ceil(rounds / 10)) first = await residentAtRest(collector, restMs);
    }
    await until('it watches what it watched before', async () => String(await collector.rescan()) === watched);
    const last = await residentAtRest(collector, restMs);
    // Idle connections are kept for a while: after the rest of a real run they are gone.
    const more = smoke ? 0 : collector.openHandles - handles;
    if (more > 5) throw new Error(`${more} handles more than at the beginning`);
    const drift = ((last - first) / first) * 100;
    return [
      {
        id: 'P19 (definitions)',
        workload: `${(rounds * AT_ONCE).toLocaleString('en')} definitions made and deleted, ${AT_ONCE} at a time, an object of each collected`,
        metric: `% drift of resident memory at rest after the first tenth; ${mebibytes(last)} MiB in the end, ${more} handles more`,
        value: drift,
        baseline: { what: 'MiB after the first tenth', value: first / 2 ** 20 },
        ratio: last / first,
        level: levelOf(drift, { good: 5, great: 1, better: 'less' }),
        demands: { good: '< 5 %', great: '< 1 %' },
      },
    ];
  } finally {
    load.close();
    await collector.stop();
    await server.stop();
  }
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
