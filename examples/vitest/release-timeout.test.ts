import { expect } from 'vitest';
import { clusterTest } from 'kubegc/testing/vitest';
import { FINALIZER, GIVE_UP_MS, startOperator } from './timeout-operator.ts';

const photos = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'photos', namespace: 'default', labels: { bucket: 'photos' }, finalizers: [FINALIZER] },
};
const test = clusterTest.extend({ clusterOptions: { objects: [photos] } });

test('a release that hangs is given up after half a minute, and tried again', async ({ cluster }) => {
  let attempts = 0;
  await startOperator(cluster, (_, signal) => (++attempts < 3 ? hang(signal) : Promise.resolve()));
  await cluster.client.delete(photos);

  // The operator waits for its own time-out, which is seen, and passes only when the test says so.
  expect(await cluster.settled()).toEqual({ waiting: [`1 timer of cluster.clock, due in ${GIVE_UP_MS} ms`] });
  await expect(await cluster.client.get(photos)).toHaveFinalizer(FINALIZER);
  await cluster.clock.advance(GIVE_UP_MS);
  expect(attempts).toBe(1);

  await cluster.settled({ advanceMs: 10 * 60_000 });
  expect(attempts).toBe(3);
  await expect(photos).toBeCollected(cluster);
});

/** Never resolves, as a service that does not answer; rejects when it is given up. */
function hang(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('given up')));
  });
}
