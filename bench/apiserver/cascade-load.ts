import type { Load } from './load.ts';

export const configmaps = '/api/v1/namespaces/default/configmaps';
/** Connected during a cascade. */
export const watchers = 10;
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
export async function watchDeletions(load: Load, count: number): Promise<Watching> {
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

export async function createObjects(load: Load, count: number, owner?: { name: string; uid: string }): Promise<void> {
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

export interface Cascade {
  /** Objects created by HTTP under the root before, a second. */
  readonly created: number;
  /** Objects collected, a second: from the DELETE of the root to the last DELETED event that a watcher sees. */
  readonly collected: number;
}

/** Creates so many objects under one root, and deletes the root; watchers are connected by `streams`. */
export async function cascade(load: Load, streams: Load, count: number): Promise<Cascade> {
  const root = { metadata: { name: 'root' } };
  const { metadata } = await readJson<{ metadata: { uid: string } }>(load, 'POST', configmaps, root);
  const creating = performance.now();
  await createObjects(load, count, { name: 'root', uid: metadata.uid });
  const created = count / ((performance.now() - creating) / 1000);
  const watching = await watchDeletions(streams, count);
  const begun = performance.now();
  const status = await load.send('DELETE', `${configmaps}/root`, Buffer.from('{"propagationPolicy":"Background"}'));
  if (status !== 200) throw new Error(`DELETE of the root answered ${status}`);
  await watching.seen;
  const collected = count / ((performance.now() - begun) / 1000);
  watching.close();
  return { created, collected };
}
