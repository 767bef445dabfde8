import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import { Queue, QueueFullError } from './queue.ts';

function newQueue(bound?: number): Queue<string> {
  return new Queue<string>({ name: 'q', clock: new FakeClock(), ...(bound === undefined ? {} : { bound }) });
}

/** The ready items, in order, without waiting. */
function takeAll(queue: Queue<string>): string[] {
  const taken: string[] = [];
  for (let got = queue.tryGet(); got !== undefined && !got.shutdown; got = queue.tryGet()) taken.push(got.item);
  return taken;
}

describe('Queue', () => {
  it('COL-081 holds an item once while it waits and hands items out in the order they came', () => {
    const queue = newQueue();
    for (const item of ['a', 'b', 'a', 'c', 'b']) queue.add(item);
    expect(queue.len()).toBe(3);
    expect(takeAll(queue)).toEqual(['a', 'b', 'c']);
    expect(queue.processing).toBe(3);
  });

  it('COL-081 processes an item again, once, when it was added while in work, behind those that came before', () => {
    const queue = newQueue();
    queue.add('a');
    expect(takeAll(queue)).toEqual(['a']);
    queue.add('a');
    queue.add('b');
    queue.add('a');
    expect(takeAll(queue)).toEqual(['b']);
    queue.done('a');
    expect(takeAll(queue)).toEqual(['a']);
    queue.done('a');
    queue.done('b');
    expect([queue.len(), queue.processing]).toEqual([0, 0]);
  });

  it('COL-081 never gives one item to two workers', async () => {
    const queue = newQueue();
    const inWork = new Set<string>();
    let handled = 0;
    const worker = async (): Promise<void> => {
      for (;;) {
        const got = await queue.get();
        if (got.shutdown) return;
        expect(inWork.has(got.item)).toBe(false);
        inWork.add(got.item);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        handled++;
        inWork.delete(got.item);
        queue.done(got.item);
      }
    };
    const workers = Array.from({ length: 5 }, worker);
    for (let i = 0; i < 300; i++) {
      queue.add(`item-${i % 7}`);
      if (i % 10 === 0) {
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    }
    await queue.shutDownWithDrain();
    await Promise.all(workers);
    expect(handled).toBeGreaterThanOrEqual(7);
    expect([queue.len(), queue.processing]).toEqual([0, 0]);
  });

  it('serves waiting workers in the order they asked', async () => {
    const queue = newQueue();
    const order: string[] = [];
    const first = queue.get().then((got) => order.push(`1:${got.shutdown ? '' : got.item}`));
    const second = queue.get().then((got) => order.push(`2:${got.shutdown ? '' : got.item}`));
    queue.add('a');
    queue.add('b');
    await Promise.all([first, second]);
    expect(order).toEqual(['1:a', '2:b']);
  });

  it('hands out what waited when it was shut down, then reports the shutdown to all, and ignores additions', async () => {
    const queue = newQueue();
    queue.add('a');
    queue.shutDown();
    queue.add('b');
    expect(queue.shuttingDown).toBe(true);
    expect(await queue.get()).toEqual({ item: 'a', shutdown: false });
    expect(await queue.get()).toEqual({ shutdown: true });
    queue.done('a');
    expect(await queue.get()).toEqual({ shutdown: true });
  });

  it('wakes all waiting workers at shut down', async () => {
    const queue = newQueue();
    const waits = [queue.get(), queue.get()];
    queue.shutDown();
    expect(await Promise.all(waits)).toEqual([{ shutdown: true }, { shutdown: true }]);
  });

  it('resolves a drain only when everything was taken and done, repetitions included', async () => {
    const queue = newQueue();
    queue.add('a');
    queue.add('b');
    takeAll(queue);
    queue.add('a');
    const log: string[] = [];
    const drained = queue.shutDownWithDrain().then(() => log.push('drained'));
    const step = async (name: string, act: () => void): Promise<void> => {
      act();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      log.push(name);
    };
    await step('done a', () => queue.done('a'));
    await step('done b', () => queue.done('b'));
    await step('a again', () => expect(takeAll(queue)).toEqual(['a']));
    await step('done a again', () => queue.done('a'));
    await drained;
    expect(log).toEqual(['done a', 'done b', 'a again', 'drained', 'done a again']);
  });

  it('resolves a drain of nothing at once, and any drain when it is shut down', async () => {
    await newQueue().shutDownWithDrain();
    const queue = newQueue();
    queue.add('a');
    const drained = queue.shutDownWithDrain();
    queue.shutDown();
    await drained;
    expect(queue.len()).toBe(1);
  });

  it('ignores done for what is not in work', () => {
    const queue = newQueue();
    queue.add('a');
    queue.done('a');
    queue.done('b');
    expect(takeAll(queue)).toEqual(['a']);
  });

  it('drops what waits and is over, in any place; what is in work stays, and what stays keeps its order', () => {
    const queue = newQueue(5);
    for (const item of ['a', 'b', 'c', 'd', 'e']) queue.add(item);
    expect(queue.tryGet()).toEqual({ item: 'a', shutdown: false });
    queue.add('a');
    expect(queue.dropWaiting((item) => item === 'a' || item === 'b' || item === 'd')).toBe(2);
    // The queue has room again.
    queue.add('d');
    queue.add('f');
    queue.done('a');
    expect(takeAll(queue)).toEqual(['c', 'e', 'd', 'f', 'a']);
  });

  it('resolves a drain when what is left is dropped', async () => {
    const queue = newQueue();
    queue.add('a');
    const drained = queue.shutDownWithDrain();
    expect(queue.dropWaiting(() => true)).toBe(1);
    await drained;
  });

  it('refuses more different items than its bound', () => {
    const queue = newQueue(2);
    queue.add('a');
    queue.add('b');
    queue.add('a');
    expect(() => queue.add('c')).toThrow(QueueFullError);
    expect(takeAll(queue)).toEqual(['a', 'b']);
  });
});

/** client-go's own description of the queue: an order, a set of dirty items, a set of items in work. */
class Model {
  order: string[] = [];
  readonly dirty = new Set<string>();
  readonly processing = new Set<string>();
  shuttingDown = false;

  add(item: string): void {
    if (this.shuttingDown || this.dirty.has(item)) return;
    this.dirty.add(item);
    if (!this.processing.has(item)) this.order.push(item);
  }

  get(): string | undefined {
    const item = this.order.shift();
    if (item === undefined) return undefined;
    this.processing.add(item);
    this.dirty.delete(item);
    return item;
  }

  drop(item: string): number {
    const at = this.order.indexOf(item);
    if (at < 0) return 0;
    this.order.splice(at, 1);
    this.dirty.delete(item);
    return 1;
  }

  done(item: string): void {
    if (!this.processing.delete(item)) return;
    if (this.dirty.has(item)) this.order.push(item);
  }
}

describe('Queue against the model of client-go', () => {
  it('COL-081 agrees after every operation', () => {
    const item = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const op = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('add'), item }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('get'), item }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('done'), item }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('shutDown', 'get', 'drop'), item }) },
    );
    fc.assert(
      fc.property(fc.array(op, { maxLength: 80 }), (ops) => {
        const queue = newQueue();
        const model = new Model();
        for (const { kind, item: chosen } of ops) {
          if (kind === 'add') {
            queue.add(chosen);
            model.add(chosen);
          } else if (kind === 'get') {
            const got = queue.tryGet();
            const expected = model.get();
            const nothing = model.shuttingDown ? { shutdown: true } : undefined;
            expect(got).toEqual(expected === undefined ? nothing : { item: expected, shutdown: false });
          } else if (kind === 'done') {
            queue.done(chosen);
            model.done(chosen);
          } else if (kind === 'drop') {
            expect(queue.dropWaiting((item) => item === chosen)).toBe(model.drop(chosen));
          } else {
            queue.shutDown();
            model.shuttingDown = true;
          }
          expect(queue.len()).toBe(model.order.length);
          expect(queue.processing).toBe(model.processing.size);
        }
      }),
    );
  });
});
