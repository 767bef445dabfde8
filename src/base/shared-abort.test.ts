import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { AbortNotice } from './abort-notice.ts';
import { systemClock } from './clock.ts';
import { Deadline } from './deadline.ts';
import { SharedAbort } from './shared-abort.ts';

describe('SharedAbort', () => {
  it('tells every listener that is still there, once, with the first reason', () => {
    const abort = new SharedAbort();
    const told: string[] = [];
    const listeners = ['a', 'b', 'c', 'd'].map((name) => () => void told.push(name));
    for (const listener of listeners) abort.addEventListener('abort', listener);
    abort.removeEventListener('abort', listeners[1]!);
    abort.removeEventListener('abort', listeners[1]!);
    abort.addEventListener('abort', { handleEvent: () => void told.push('object') });
    expect([abort.aborted, abort.reason]).toEqual([false, undefined]);
    abort.abort('first');
    abort.abort('second');
    expect(told.toSorted()).toEqual(['a', 'c', 'd', 'object']);
    expect([abort.aborted, abort.reason]).toEqual([true, 'first']);
  });

  it('removes any of them, whatever was removed before', () => {
    const abort = new SharedAbort();
    const told: number[] = [];
    const listeners = Array.from({ length: 50 }, (_, i) => () => void told.push(i));
    for (const listener of listeners) abort.addEventListener('abort', listener);
    const gone = [49, 0, 25, 48, 1, 24, 47];
    for (const i of gone) abort.removeEventListener('abort', listeners[i]!);
    abort.abort();
    expect(told.toSorted((a, b) => a - b)).toEqual([...listeners.keys()].filter((i) => !gone.includes(i)));
  });

  it('has the reason of an AbortController when it is given none', () => {
    const abort = new SharedAbort();
    abort.abort();
    expect(abort.reason).toMatchObject({ name: 'AbortError' });
  });

  it('lets what listened be collected as soon as it has left', () => {
    // An AbortSignal of Node 20 has four to twenty megabytes here.
    expect(grownBy(new SharedAbort())).toBeLessThan(1024 * 1024);
  });
});

/** Bytes of the old generation that deadlines leave behind, one after the other, each with ten kilobytes. */
function grownBy(parent: AbortNotice): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const next = (): Deadline =>
    // With the real clock: the heap of a fake one does the same as the list of listeners.
    Object.assign(new Deadline({ clock: systemClock, timeoutMs: 100_000, parent }), {
      body: Array.from({ length: 1280 }, () => 1.5),
    });
  collect();
  const before = oldGeneration();
  // A slow one becomes old before it leaves, when another one has come.
  const slow = next();
  for (let i = 0; i < 3; i++) collect({ type: 'minor' });
  let last = next();
  slow.dispose();
  for (let i = 0; i < 4000; i++) {
    const previous = last;
    last = next();
    previous.dispose();
    if (i % 100 === 0) collect({ type: 'minor' });
  }
  last.dispose();
  return oldGeneration() - before;
}

function oldGeneration(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^old_space|^old_large/.test(space_name));
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
