import { expect, it } from 'vitest';
import { AwaitedEvents } from './awaited-events.ts';

/** The versions that the graph has, by uid. */
function setUp(...shown: readonly (readonly [string, number])[]) {
  const graph = new Map(shown);
  const awaited = new AwaitedEvents({ versionOf: (uid) => graph.get(uid) ?? Number.NaN });
  return { graph, awaited };
}

it('COL-111 designs/0011 answers once with the objects that the graph still has as they were', () => {
  const { graph, awaited } = setUp(['a', 1], ['b', 1], ['gone', 1]);
  for (const uid of ['a', 'b', 'gone', 'unknown']) awaited.noteWritten(uid, 1);
  expect(awaited.size).toBe(3);
  graph.set('b', 2).delete('gone');
  expect(awaited.take()).toEqual(['a']);
  expect([awaited.size, awaited.take()]).toEqual([0, []]);
});

it('COL-111 forgets the objects whose event has come', () => {
  const { graph, awaited } = setUp(['a', 1], ['b', 2]);
  awaited.noteWritten('a', 1);
  awaited.noteWritten('b', Number.NaN);
  graph.set('a', 2);
  awaited.forgetShown();
  expect([awaited.size, awaited.take()]).toEqual([1, ['b']]);
});

it('COL-111 an event from before the write is not the awaited one', () => {
  const { graph, awaited } = setUp(['a', 11], ['b', 11], ['ahead', 13]);
  for (const uid of ['a', 'b', 'ahead']) awaited.noteWritten(uid, 12);
  graph.set('a', 12).set('b', 13);
  expect(awaited.take()).toEqual(['a', 'ahead']);
});

it('COL-111 awaits the version that a read has shown, unless the graph has it', () => {
  const { graph, awaited } = setUp(['same', 12], ['newer', 11], ['comes', 11], ['passed', 11], ['older', 13]);
  for (const uid of graph.keys()) awaited.noteRead(uid, 12);
  awaited.noteRead('unknown', 12);
  awaited.noteRead('older', Number.NaN);
  expect(awaited.size).toBe(4);
  graph.set('comes', 12).set('passed', 20);
  expect(awaited.take()).toEqual(['newer', 'older']);
});

it('COL-111 an event that is older than the graph is not the awaited one', () => {
  const { graph, awaited } = setUp(['written', 13], ['read', 13]);
  awaited.noteWritten('written', 13);
  awaited.noteRead('read', 14);
  graph.set('written', 12).set('read', 12);
  expect(awaited.take()).toEqual(['written', 'read']);
});

it('COL-111 knows the last four thousand', () => {
  const uids = Array.from({ length: 10_000 }, (_, i) => `u${i}`);
  const { awaited } = setUp(...uids.map((uid) => [uid, 1] as const));
  for (const uid of uids) awaited.noteWritten(uid, 1);
  const taken = awaited.take();
  expect([taken.length, taken.at(0), taken.at(-1)]).toEqual([4096, 'u5904', 'u9999']);
});
