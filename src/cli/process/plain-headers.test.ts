import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random/random.ts';
import { PlainHeaders } from './plain-headers.ts';

describe('PlainHeaders', () => {
  it('answers as the class of the platform does, whatever is done to both', () => {
    const random = seededRandom(7);
    const names = ['Content-Type', 'content-type', 'TE', 'grpc-status', 'X-a', 'x-b'];
    for (let round = 0; round < 200; round++) {
      const init: [string, string][] = [['grpc-Status', ' 0 ']];
      const [plain, platform] = [new PlainHeaders(init), new Headers(init)];
      for (let step = 0; step < 12; step++) {
        const name = names[random.integer(names.length)]!;
        const value = ` v${random.integer(9)}`;
        const what = (['append', 'set', 'delete'] as const)[random.integer(3)]!;
        for (const each of [plain, platform]) {
          if (what === 'delete') each.delete(name);
          else each[what](name, value);
        }
        expect([plain.get(name), plain.has(name)]).toEqual([platform.get(name), platform.has(name)]);
      }
      expect([...plain]).toEqual([...platform]);
      expect([[...plain.entries()], [...plain.keys()], [...plain.values()]]).toEqual([
        [...platform.entries()],
        [...platform.keys()],
        [...platform.values()],
      ]);
      const [seen, theirs]: [string[], string[]] = [[], []];
      plain.forEach((value, name) => void seen.push(`${name}: ${value}`));
      platform.forEach((value, name) => void theirs.push(`${name}: ${value}`));
      expect(seen).toEqual(theirs);
    }
    expect([...new PlainHeaders({ B: '1', a: '2' })]).toEqual([...new Headers({ B: '1', a: '2' })]);
    expect([...new PlainHeaders(new PlainHeaders({ a: '2' }))]).toEqual([['a', '2']]);
  });
});
