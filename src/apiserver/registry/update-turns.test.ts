import { describe, expect, it } from 'vitest';
import { UpdateTurns } from './update-turns.ts';

describe('turns of updates', () => {
  it('API-191 one at a time for one key, in the order they came; other keys do not wait', async () => {
    const turns = new UpdateTurns();
    const order: string[] = [];
    const first = await turns.take('a');
    const others = ['second', 'third'].map(async (name) => {
      const release = await turns.take('a');
      order.push(name);
      release();
    });
    (await turns.take('b'))();
    order.push('b');
    expect([turns.isContended('a'), turns.isContended('b')]).toEqual([true, false]);
    first();
    await Promise.all(others);
    expect(order).toEqual(['b', 'second', 'third']);
  });

  it('nothing stays behind when all are done, also when a turn is released twice', async () => {
    const turns = new UpdateTurns();
    const release = await turns.take('a');
    const waiting = turns.take('a');
    release();
    release();
    expect(turns.isContended('a')).toBe(true);
    (await waiting)();
    expect(turns.isContended('a')).toBe(false);
  });
});
