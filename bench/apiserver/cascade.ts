import { type Benchmark, levelOf } from '../result.ts';
import { ServerProcess } from '../program/server-process.ts';
import { Load } from './load.ts';

/**
 * P06: many objects under one root, durable, watchers connected; from the DELETE of the root to the last DELETED event a
 * client sees. The baseline deletes as many objects by 64 closed HTTP loops on the same server, with the same watchers.
 */
const configmaps = '/api/v1/namespaces/default/configmaps';
const watchers = 10;
const deletedMark = Buffer.from('{"type":"DELETED"');

interface Watching {
  /** Resolves when every watcher has seen this many DELETED events. */
  readonly seen: Promise<void>;
  close(): void;
}

async function readJson<T>(load: Load, method: string, path: string, body?: object): Promise<T> {
  const answer = await load.open(method, path, body && Buffer.from(JSON.stringify(body)));
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

/** Informers that have their list already: they see changes and nothing else. */
async function watchDeletions(load: Load, count: number): Promise<Watching> {
  const { metadata } = await readJson<{ metadata: { resourceVersion: string } }>(load, 'GET', `${configmaps}?limit=1`);
  const query = `watch=true&labelSelector=bench%3Dyes&resourceVersion=${metadata.resourceVersion}`;
  const streams = await Promise.all(Array.from({ length: watchers }, () => load.open('GET', `${configmaps}?${query}`)));
  const seen = Promise.all(
    streams.map(
      (stream) =>
        new Promise<void>((settle, reject) => {
          let found = 0;
          let tail = Buffer.alloc(0);
          stream.on('data', (chunk: Buffer) => {
            const text = Buffer.concat([tail, chunk]);
            let at = text.indexOf(deletedMark);
            while (at >= 0) {
              found++;
              at = text.indexOf(deletedMark, at + deletedMark.length);
            }
            // Only what could be the beginning of a mark is kept, so that none is counted twice.
            tail = text.subarray(Math.max(0, text.length - deletedMark.length + 1));
            if (found >= count) settle();
          });
          stream.on('error', reject);
          stream.on('end', () => reject(new Error(`a watch ended after ${found} of ${count} deletions`)));
        }),
    ),
  ).then(() => undefined);
  seen.catch(() => undefined);
  return { seen, close: () => streams.forEach((stream) => stream.destroy()) };
}

async function createObjects(load: Load, count: number, owner?: { name: string; uid: string }): Promise<void> {
  const ownerReferences = owner ? [{ apiVersion: 'v1', kind: 'ConfigMap', ...owner }] : [];
  await load.each(
    count,
    (index) =>
      load.send(
        'POST',
        configmaps,
        Buffer.from(
          JSON.stringify({
            metadata: { name: `leaf-${index}`, labels: { bench: 'yes' }, ownerReferences },
            data: { filler: 'x'.repeat(600) },
          }),
        ),
      ),
    201,
  );
}

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

    const root = { metadata: { name: 'root' } };
    const { metadata } = await readJson<{ metadata: { uid: string } }>(load, 'POST', configmaps, root);
    await createObjects(load, count, { name: 'root', uid: metadata.uid });
    const watching = await watchDeletions(streams, count);
    const begun = performance.now();
    const status = await load.send('DELETE', `${configmaps}/root`, Buffer.from('{"propagationPolicy":"Background"}'));
    if (status !== 200) throw new Error(`DELETE of the root answered ${status}`);
    await watching.seen;
    const value = count / ((performance.now() - begun) / 1000);
    watching.close();
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
