import { describe, expect, it } from 'vitest';
import { append } from './append.ts';

describe('append', () => {
  it('puts lists behind a list, in their order', () => {
    const list = [1];
    append(list, [2, 3], [], [4]);
    expect(list).toEqual([1, 2, 3, 4]);
  });

  it('takes more than the stack has place for', () => {
    const list: number[] = [];
    append(
      list,
      Array.from({ length: 1_000_000 }, (_, n) => n),
    );
    expect([list.length, list.at(-1)]).toEqual([1_000_000, 999_999]);
  });
});
