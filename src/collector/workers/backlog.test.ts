import { expect, it } from 'vitest';
import { FakeClock } from '../../base/fake-clock.ts';
import { Queue } from '../../workqueue/queue.ts';
import { workKey, type WorkKey } from '../graph/work-key.ts';
import { Backlog } from './backlog.ts';

it('BETTER-23 a queue that nobody works on keeps the keys of what exists, in their order, and no more', () => {
  const queue = new Queue<WorkKey>({ name: 'test', clock: new FakeClock() });
  const existing = new Set<string>();
  const backlog = new Backlog(queue, { find: (uid) => (existing.has(uid) ? 0 : -1) });
  let most = 0;
  for (let round = 0; round < 50; round++) {
    for (let index = 0; index < 500; index++) queue.add(workKey(`gone-${round}-${index}`, 'observed'));
    const kept = `kept-${round}`;
    existing.add(kept);
    queue.add(workKey(kept, round % 2 === 0 ? 'observed' : 'virtual'));
    backlog.sweep();
    most = Math.max(most, queue.len());
  }
  expect(most).toBeLessThan(2 * existing.size + 1000 + 501);
  for (let index = 0; index < 2000; index++) queue.add(workKey(`late-${index}`, 'observed'));
  expect(backlog.sweep()).toBeGreaterThanOrEqual(2000);
  const left: string[] = [];
  for (let next = queue.tryGet(); next !== undefined && !next.shutdown; next = queue.tryGet()) left.push(next.item);
  expect(left).toEqual([...existing].map((uid, index) => workKey(uid, index % 2 === 0 ? 'observed' : 'virtual')));
});
