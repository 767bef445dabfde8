import { type Benchmark, levelOf } from '../result.ts';
import { ServerProcess } from '../program/server-process.ts';
import { cascade, configmaps, createObjects, watchDeletions, watchers } from './cascade-load.ts';
import { Load } from './load.ts';

/**
 * P06: many objects under one root, durable, watchers connected; from the DELETE of the root to the last DELETED event a
 * client sees. The baseline deletes as many objects by 64 closed HTTP loops on the same server, with the same watchers.
 */
export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 500 : 100_000;
  const server = new ServerProcess();
  await server.ready;
  const load = new Load(server.kubeconfig, 64);
  const streams = new Load(server.kubeconfig, watchers);
  try {
    await createObjects(load, count);
    const loopWatching = await watchDeletions(streams, count);
    const started = performance.now();
    await load.each(count, (index) => load.send('DELETE', `${configmaps}/leaf-${index}`), 200);
    await loopWatching.seen;
    const baseline = count / ((performance.now() - started) / 1000);
    loopWatching.close();

    const { collected: value } = await cascade(load, streams, count);
    return [
      {
        id: 'P06',
        workload: `${count} ConfigMaps under one root, durable, ${watchers} watchers`,
        metric: 'collected/s, until the last DELETED event is seen',
        value,
        baseline: { what: 'an HTTP DELETE loop with 64 in flight', value: baseline },
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
