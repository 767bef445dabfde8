import { expect, it } from 'vitest';
import { WorkGate } from './work-gate.ts';

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const term = () => ({ stopping: new AbortController().signal, calls: new AbortController().signal });

it('COL-214 lets nobody in before it is opened, then all who wait', async () => {
  const gate = new WorkGate();
  const done: number[] = [];
  const work = [1, 2].map((n) => gate.pass(async () => void done.push(n)));
  await settle();
  expect(done).toEqual([]);
  gate.open(term());
  await Promise.all(work);
  expect(done).toEqual([1, 2]);
});

it('COL-214 closes at once, and reports when the last worker has come out', async () => {
  const gate = new WorkGate();
  gate.open(term());
  let finish: () => void = () => undefined;
  const inside = gate.pass(() => new Promise<void>((resolve) => (finish = resolve)));
  let closed = false;
  const closing = gate.close().then(() => (closed = true));
  let late = false;
  const outside = gate.pass(async () => (late = true));
  await settle();
  expect({ closed, late }).toEqual({ closed: false, late: false });
  finish();
  await Promise.all([inside, closing]);
  expect({ closed, late }).toEqual({ closed: true, late: false });
  gate.open(term());
  expect(await outside).toBe(true);
});

it('COL-214 wakes those who wait when it opens, and stops those who come after it is closed again', async () => {
  const gate = new WorkGate();
  let work = 0;
  const attempt = () => gate.tryPass(async () => ++work);
  expect(attempt()).toBeUndefined();
  const opened = gate.opened();
  gate.open(term());
  expect(await opened).toBe(true);
  expect(await attempt()).toBe(1);
  const again = gate.opened();
  await gate.close();
  await again;
  expect([attempt(), work]).toEqual([undefined, 1]);
  const never = gate.opened();
  gate.end();
  expect(await never).toBe(false);
});

it('has the signals of its term; before the first one those of a term that is over', () => {
  const gate = new WorkGate();
  expect([gate.term.stopping.aborted, gate.term.calls.aborted]).toEqual([true, true]);
  const first = term();
  gate.open(first);
  expect(gate.term).toBe(first);
});

it('sends everybody away when it has ended, whatever state it was in, and never opens again', async () => {
  const gate = new WorkGate();
  const waiting = gate.pass(async () => 'done');
  gate.end();
  gate.open(term());
  expect(await waiting).toBeUndefined();
  expect(await gate.pass(async () => 'done')).toBeUndefined();
  await gate.close();
  expect(gate.isOpen).toBe(false);
});

it('a failure of the work is that of the passage, and leaves nobody inside', async () => {
  const gate = new WorkGate();
  gate.open(term());
  await expect(gate.pass(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await gate.close();
});
