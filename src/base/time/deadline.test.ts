import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { TimeoutError } from './abort.ts';
import { Deadline } from './deadline.ts';
import { FakeClock } from './fake-clock.ts';

function start(parent?: AbortSignal) {
  const clock = new FakeClock();
  const deadline = new Deadline({ clock, timeoutMs: 100, parent });
  const told: string[] = [];
  deadline.addEventListener('abort', () => told.push('function'));
  deadline.addEventListener('abort', { handleEvent: () => told.push('object') });
  return { clock, deadline, told };
}

describe('Deadline', () => {
  it('calls each listener, once, when its time is over', () => {
    const { clock, deadline, told } = start();
    clock.advance(99);
    expect([deadline.aborted, deadline.reason, told]).toEqual([false, undefined, []]);
    clock.advance(1);
    expect([deadline.aborted, told]).toEqual([true, ['function', 'object']]);
    expect(deadline.reason).toBeInstanceOf(TimeoutError);
    expect(deadline.reason).toMatchObject({ timeoutMs: 100 });
    deadline.dispose();
    expect([deadline.aborted, clock.pendingTimers, told.length]).toEqual([true, 0, 2]);
  });

  it('follows its parent, with its reason, and stops its timer and its listening', () => {
    const parent = new AbortController();
    const { clock, deadline, told } = start(parent.signal);
    parent.abort('why');
    expect([deadline.aborted, deadline.reason, told]).toEqual([true, 'why', ['function', 'object']]);
    expect([clock.pendingTimers, getEventListeners(parent.signal, 'abort').length]).toEqual([0, 0]);
    clock.advance(200);
    expect([deadline.reason, told.length]).toEqual(['why', 2]);
  });

  it('follows another one', () => {
    const { clock, deadline } = start();
    const inner = new Deadline({ clock, timeoutMs: 1000, parent: deadline });
    clock.advance(100);
    expect([inner.aborted, inner.reason]).toEqual([true, deadline.reason]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is aborted from the start by a parent that already is, and calls no listener', () => {
    const { clock, deadline, told } = start(AbortSignal.abort('early'));
    expect([deadline.aborted, deadline.reason, told, clock.pendingTimers]).toEqual([true, 'early', [], 0]);
  });

  it('leaves nothing behind once disposed, and is not aborted any more', () => {
    const parent = new AbortController();
    const { clock, deadline, told } = start(parent.signal);
    deadline.dispose();
    expect([clock.pendingTimers, getEventListeners(parent.signal, 'abort').length]).toEqual([0, 0]);
    clock.advance(1000);
    parent.abort();
    expect([deadline.aborted, told]).toEqual([false, []]);
  });

  it('goes on following its parent when the timer is stopped', () => {
    const parent = new AbortController();
    const { clock, deadline, told } = start(parent.signal);
    deadline.stopTimer();
    clock.advance(1000);
    expect([deadline.aborted, clock.pendingTimers]).toEqual([false, 0]);
    parent.abort('late');
    expect([deadline.reason, told.length]).toEqual(['late', 2]);
  });

  it('calls no listener that was removed', () => {
    const clock = new FakeClock();
    using deadline = new Deadline({ clock, timeoutMs: 1 });
    const told: string[] = [];
    const gone = (): void => void told.push('gone');
    const other = { handleEvent: (): void => void told.push('other') };
    const unknown = { handleEvent: (): void => void told.push('unknown') };
    deadline.addEventListener('abort', gone);
    deadline.addEventListener('abort', other);
    deadline.removeEventListener('abort', gone);
    deadline.removeEventListener('abort', unknown);
    clock.advance(1);
    expect(told).toEqual(['other']);
  });
});
