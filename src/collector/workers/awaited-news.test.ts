import { expect, it } from 'vitest';
import { AwaitedNews } from './awaited-news.ts';

/** What the graph has: versions by uid. */
function setUp(...shown: readonly (readonly [string, number])[]) {
  const graph = new Map(shown);
  const awaited = new AwaitedNews({ versionOf: (uid) => graph.get(uid) ?? Number.NaN });
  return { graph, awaited };
}

it('COL-111 designs/0011 tells once of whom the graph has still what it had', () => {
  const { graph, awaited } = setUp(['a', 1], ['b', 1], ['gone', 1]);
  for (const uid of ['a', 'b', 'gone', 'unknown']) awaited.note(uid);
  expect(awaited.size).toBe(3);
  graph.set('b', 2).delete('gone');
  expect(awaited.take()).toEqual(['a']);
  expect([awaited.size, awaited.take()]).toEqual([0, []]);
});

it('COL-111 keeps nobody of whom the news has come, once it is asked to let go', () => {
  const { graph, awaited } = setUp(['a', 1], ['b', 2]);
  awaited.note('a');
  awaited.note('b');
  graph.set('a', 2);
  awaited.forgetShown();
  expect([awaited.size, awaited.take()]).toEqual([1, ['b']]);
});

it('COL-111 knows the last four thousand', () => {
  const uids = Array.from({ length: 10_000 }, (_, i) => `u${i}`);
  const { awaited } = setUp(...uids.map((uid) => [uid, 1] as const));
  for (const uid of uids) awaited.note(uid);
  const taken = awaited.take();
  expect([taken.length, taken.at(0), taken.at(-1)]).toEqual([4096, 'u5904', 'u9999']);
});
