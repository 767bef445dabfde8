import { openEtcdStore } from '../../src/apiserver/storage/etcd/open-etcd-store.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { EtcdProcess } from '../../test/compat/etcd-process.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, levelOf } from '../result.ts';
import { cascade, watchers } from './cascade-load.ts';
import { Load } from './load.ts';

const IN_FLIGHT = 100;

/**
 * P07: the cascade of P06 over a real etcd, which flushes each write to its disk. The baseline is what etcd itself gives to one client: guarded
 * transactions of one key, 100 on the way, on the same etcd, without a server or anybody who watches.
 */
export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 300 : 20_000;
  await using etcd = await EtcdProcess.start();
  const baseline = await guardedDeletes(etcd.url, count);
  const server = new ServerProcess({ args: ['--store', 'etcd', '--etcd-endpoints', etcd.url] });
  await server.ready;
  const load = new Load(server.kubeconfig, 64);
  const streams = new Load(server.kubeconfig, watchers);
  try {
    const { created, collected: value } = await cascade(load, streams, count);
    const workload = `${count} ConfigMaps under one root on a real etcd, durable, ${watchers} watchers`;
    return [
      {
        id: 'P07',
        workload,
        metric: `collected/s, until the last DELETED event is seen (creates by HTTP before: ${Math.round(created)}/s)`,
        value,
        baseline: { what: `guarded transactions of one key, ${IN_FLIGHT} on the way`, value: baseline },
        ratio: value / baseline,
        level: levelOf(value / baseline, { good: 1, great: 3, better: 'more' }),
        demands: { good: '>= 1x', great: '>= 3x' },
      },
    ];
  } finally {
    load.close();
    streams.close();
    await server.stop();
  }
};

/** Deletions a second of one client that does nothing else. */
async function guardedDeletes(url: string, count: number): Promise<number> {
  const common = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const { store } = await openEtcdStore({ ...common, endpoints: [url], prefix: '/baseline' });
  const value = Buffer.alloc(900, 'x');
  const revisions: number[] = [];
  const each = async (work: (index: number) => Promise<void>): Promise<void> => {
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  };
  await each(async (index) => {
    const written = await store.create(`/registry/core/configmaps/default/leaf-${index}`, value);
    if (!written.succeeded) throw new Error('a key was there already');
    revisions[index] = written.kv.modRevision;
  });
  const started = performance.now();
  await each(async (index) => {
    const deleted = await store.delete(`/registry/core/configmaps/default/leaf-${index}`, revisions[index] ?? 0);
    if (!deleted.succeeded) throw new Error('a guard did not hold');
  });
  const rate = count / ((performance.now() - started) / 1000);
  await store.close();
  return rate;
}
