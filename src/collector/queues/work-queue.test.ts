import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { formatUuid } from '../../base/random/uuid.ts';
import { QueueFullError } from '../../workqueue/queue.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { workKey } from './work-key.ts';
import { WorkQueue } from './work-queue.ts';
import type { QueuedUid } from './work-key-table.ts';

const uids: readonly QueuedUid[] = (['virtual', 'observed'] as const).flatMap((as) => [
  { w0: 1, w1: 2, w2: 3, w3: 4, text: undefined, as },
  { w0: -1, w1: -2, w2: -3, w3: -4, text: undefined, as },
  { w0: 0, w1: 0, w2: 0, w3: 0, text: 'of another form', as },
]);
const keyOf = ({ w0, w1, w2, w3, text, as }: QueuedUid): string => workKey(text ?? formatUuid(w0, w1, w2, w3), as);

it('COL-081 COL-082 a uid that an effect names is its key: the same as a queue of strings after every operation', () => {
  const kinds = ['addUid', 'addUid', 'addUid', 'get', 'get', 'done', 'done', 'addAfter', 'wake', 'wait', 'shutDown'];
  const op = fc.record({ kind: fc.constantFrom(...kinds), uid: fc.constantFrom(...uids) });
  fc.assert(
    fc.property(fc.array(op, { maxLength: 100 }), (ops) => {
      const clock = new FakeClock();
      const queue = new WorkQueue({ name: 'q', clock });
      const plain = new RateLimitingQueue<string>({ name: 'q', clock });
      for (const { kind, uid } of ops) {
        const key = keyOf(uid);
        if (kind === 'addUid') {
          queue.addUid(uid);
          plain.add(key);
        } else if (kind === 'get') expect(queue.tryGet()).toEqual(plain.tryGet());
        else if (kind === 'wait') clock.advance(10);
        else {
          for (const each of [queue, plain]) {
            if (kind === 'done') each.done(key);
            else if (kind === 'addAfter') each.addAfter(key, 15);
            else if (kind === 'wake') each.wake(key);
            else each.shutDown();
          }
        }
        expect([queue.len(), queue.processing, queue.delayed]).toEqual([plain.len(), plain.processing, plain.delayed]);
      }
    }),
  );
});

it('COL-081 hands a uid to a worker that waits for it, and refuses one more than its bound', async () => {
  const queue = new WorkQueue({ name: 'q', clock: new FakeClock(), bound: 2 });
  const got = queue.get();
  queue.addUid(uids[0]!);
  expect(await got).toEqual({ item: keyOf(uids[0]!), shutdown: false });
  queue.addUid(uids[1]!);
  expect(() => queue.addUid(uids[2]!)).toThrow(QueueFullError);
  expect([queue.len(), queue.processing]).toEqual([1, 1]);
});
