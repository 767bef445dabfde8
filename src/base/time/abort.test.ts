import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { AbortError, isAbortError } from './abort-error.ts';
import { linkSignals, orAborted, TimeoutError, timeoutSignal } from './abort.ts';
import { FakeClock } from './fake-clock.ts';

describe('linkSignals', () => {
  it('follows whichever parent is aborted first, with its reason, and stops listening to the others', () => {
    const a = new AbortController();
    const b = new AbortController();
    const linked = linkSignals(a.signal, undefined, b.signal);
    b.abort('b');
    a.abort('a');
    expect(linked.signal.reason).toBe('b');
    expect(getEventListeners(a.signal, 'abort')).toHaveLength(0);
  });

  it('is aborted from the start by a parent that already is', () => {
    const live = new AbortController();
    const linked = linkSignals(live.signal, AbortSignal.abort('early'));
    expect(linked.signal.reason).toBe('early');
    expect(getEventListeners(live.signal, 'abort')).toHaveLength(0);
  });

  it('leaves nothing at the parent once disposed', () => {
    const parent = new AbortController();
    for (let i = 0; i < 50; i++) {
      using linked = linkSignals(parent.signal);
      expect(linked.signal.aborted).toBe(false);
    }
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  });

  it('aborts itself without touching its parents', () => {
    const parent = new AbortController();
    const linked = linkSignals(parent.signal);
    linked.abort('own');
    expect([linked.signal.reason, parent.signal.aborted]).toEqual(['own', false]);
  });
});

describe('timeoutSignal', () => {
  it('is aborted with a TimeoutError when time is over', () => {
    const clock = new FakeClock();
    const { signal } = timeoutSignal(clock, 100);
    clock.advance(99);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.reason).toBeInstanceOf(TimeoutError);
    expect((signal.reason as TimeoutError).timeoutMs).toBe(100);
  });

  it('keeps no timer after a parent aborted or after dispose', () => {
    const clock = new FakeClock();
    const parent = new AbortController();
    timeoutSignal(clock, 100, parent.signal);
    const disposed = timeoutSignal(clock, 100, parent.signal);
    expect(clock.pendingTimers).toBe(2);
    disposed.dispose();
    expect(clock.pendingTimers).toBe(1);
    parent.abort();
    expect(clock.pendingTimers).toBe(0);
    expect(disposed.signal.aborted).toBe(false);
    timeoutSignal(clock, 100, parent.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('orAborted', () => {
  it('rejects for the one whose signal is aborted, and settles for the others as the work does', async () => {
    let finish!: (value: string) => void;
    const work = new Promise<string>((resolve) => (finish = resolve));
    const [gone, stays] = [new AbortController(), new AbortController()];
    const first = orAborted(work, gone.signal);
    const others = [orAborted(work, stays.signal), orAborted(work, undefined)];
    gone.abort('enough');
    await expect(first).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    await expect(orAborted(work, gone.signal, ({ reason }) => new Error(String(reason)))).rejects.toThrow('enough');
    finish('done');
    expect(await Promise.all(others)).toEqual(['done', 'done']);
    expect(getEventListeners(stays.signal, 'abort')).toHaveLength(0);
    expect(getEventListeners(gone.signal, 'abort')).toHaveLength(0);
    await expect(orAborted(Promise.reject(new Error('no')), stays.signal)).rejects.toThrow('no');
  });
});

describe('AbortError', () => {
  it('is distinguished from other errors, Node’s own included', () => {
    expect(isAbortError(new AbortError())).toBe(true);
    expect(isAbortError(AbortSignal.abort().reason)).toBe(true);
    expect(isAbortError(new Error('AbortError'))).toBe(false);
    expect(isAbortError('AbortError')).toBe(false);
  });
});
