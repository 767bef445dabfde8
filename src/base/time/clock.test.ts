import { describe, expect, it, vi } from 'vitest';
import { sleep, sleepUnlessAborted, systemClock } from './clock.ts';
import { FakeClock } from './fake-clock.ts';

describe('sleep', () => {
  it('rejects at once with the signal already aborted and sets no timer', async () => {
    const clock = new FakeClock();
    await expect(sleep(clock, 10, AbortSignal.abort('why'))).rejects.toMatchObject({
      name: 'AbortError',
      cause: 'why',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects when aborted while it waits and cancels its timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = sleep(clock, 10, controller.signal);
    controller.abort('enough');
    await expect(slept).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves after its time and then ignores the signal', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = sleep(clock, 10, controller.signal);
    clock.advance(10);
    controller.abort();
    await expect(slept).resolves.toBeUndefined();
  });
});

describe('sleepUnlessAborted', () => {
  it('resolves at once with the signal already aborted and sets no timer', async () => {
    const clock = new FakeClock();
    await sleepUnlessAborted(clock, 10, AbortSignal.abort('why'));
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves when aborted while it waits and cancels its timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = sleepUnlessAborted(clock, 10, controller.signal);
    controller.abort('enough');
    await slept;
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves after its time, not before', async () => {
    const clock = new FakeClock();
    let over = false;
    const slept = sleepUnlessAborted(clock, 10, new AbortController().signal).then(() => (over = true));
    await clock.advanceAsync(9);
    expect(over).toBe(false);
    clock.advance(1);
    await slept;
    expect(over).toBe(true);
  });
});

describe('systemClock', () => {
  it('waits for delays longer than one Node timer can hold', async () => {
    vi.useFakeTimers();
    try {
      // The clock takes the timers that exist when its module is loaded.
      vi.resetModules();
      const { systemClock: faked } = await import('./clock.ts');
      const fired = vi.fn();
      faked.setTimer(2 ** 32, fired);
      vi.advanceTimersByTime(2 ** 32 - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledTimes(1);
      const cancelled = faked.setTimer(2 ** 32, fired);
      vi.advanceTimersByTime(2 ** 31);
      cancelled.cancel();
      vi.advanceTimersByTime(2 ** 32);
      expect(fired).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes on when a test replaces the timers of its process', async () => {
    vi.useFakeTimers();
    try {
      const before = systemClock.monotonic();
      await sleep(systemClock, 2);
      expect(systemClock.monotonic()).toBeGreaterThan(before);
      await new Promise<void>((resolve) => void systemClock.defer(resolve));
      await new FakeClock().settle();
    } finally {
      vi.useRealTimers();
    }
  });

  it('reads the time of the machine when a test sets the date of its process', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(0);
      expect(Date.now()).toBe(0);
      expect(systemClock.now()).toBeGreaterThan(Date.UTC(2020));
    } finally {
      vi.useRealTimers();
    }
  });

  it('defers to a later turn, after promises', async () => {
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.defer(() => {
        seen.push('deferred');
        resolve();
      });
      void Promise.resolve().then(() => seen.push('promise'));
    });
    expect(seen).toEqual(['promise', 'deferred']);
  });
});
