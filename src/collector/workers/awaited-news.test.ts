import { expect, it } from 'vitest';
import { AwaitedNews } from './awaited-news.ts';

it('COL-111 designs/0011 tells once of whom the graph has still what it had', () => {
  const graph = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const versionOf = (uid: string): number => graph.get(uid) ?? Number.NaN;
  const awaited = new AwaitedNews();
  for (const uid of ['a', 'b', 'gone']) awaited.note(uid, 1);
  expect(awaited.size).toBe(3);
  expect(awaited.take(versionOf)).toEqual(['a']);
  expect([awaited.size, awaited.take(versionOf)]).toEqual([0, []]);
});

it('COL-111 keeps nobody of whom the news has come, once it is asked to let go', () => {
  const awaited = new AwaitedNews();
  awaited.note('a', 1);
  awaited.note('b', 2);
  awaited.forgetShown(() => 2);
  expect([awaited.size, awaited.take(() => 2)]).toEqual([1, ['b']]);
});

it('COL-111 knows the last four thousand', () => {
  const awaited = new AwaitedNews();
  for (let i = 0; i < 10_000; i++) awaited.note(`u${i}`, 1);
  const taken = awaited.take(() => 1);
  expect([taken.length, taken.at(0), taken.at(-1)]).toEqual([4096, 'u5904', 'u9999']);
});
