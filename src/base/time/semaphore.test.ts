import { describe, expect, it } from 'vitest';
import { Semaphore, SemaphoreFullError } from './semaphore.ts';

describe('Semaphore', () => {
  it('never lets in more than its permits, and serves in order', async () => {
    const semaphore = new Semaphore({ permits: 2 });
    const order: number[] = [];
    let inside = 0;
    let most = 0;
    await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) =>
        semaphore.use(async () => {
          order.push(n);
          most = Math.max(most, ++inside);
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
          inside--;
        }),
      ),
    );
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
    expect(most).toBe(2);
    expect(semaphore.held).toBe(0);
  });

  it('gives a permit back once, also after a failure', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    await expect(semaphore.use(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
    const release = semaphore.tryAcquire();
    release?.();
    release?.();
    expect(semaphore.held).toBe(0);
    expect(semaphore.tryAcquire()).toBeDefined();
    expect(semaphore.tryAcquire()).toBeUndefined();
  });

  it('forgets a waiter that was aborted, wherever it stood', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const release = await semaphore.acquire();
    const controllers = [new AbortController(), new AbortController(), new AbortController()];
    const waits = controllers.map((c) => semaphore.acquire(c.signal));
    controllers[1]!.abort('gone');
    await expect(waits[1]).rejects.toMatchObject({ name: 'AbortError', cause: 'gone' });
    expect(semaphore.waiting).toBe(2);
    controllers[0]!.abort();
    await expect(waits[0]).rejects.toMatchObject({ name: 'AbortError' });
    release();
    (await waits[2]!)();
    expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
    await expect(semaphore.acquire(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('refuses a waiter beyond the bound', async () => {
    const semaphore = new Semaphore({ permits: 1, maxWaiting: 1 });
    await semaphore.acquire();
    void semaphore.acquire();
    await expect(semaphore.acquire()).rejects.toBeInstanceOf(SemaphoreFullError);
  });

  it('admits waiters when it grows, and only drains when it shrinks', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const first = await semaphore.acquire();
    const second = semaphore.acquire();
    semaphore.resize(2);
    const release = await second;
    semaphore.resize(1);
    expect(semaphore.held).toBe(2);
    first();
    expect(semaphore.tryAcquire()).toBeUndefined();
    release();
    expect(semaphore.tryAcquire()).toBeDefined();
  });
});
