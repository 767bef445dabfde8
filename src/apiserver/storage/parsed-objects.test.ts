import { describe, expect, it } from 'vitest';
import { ParsedObjects } from './parsed-objects.ts';

const bytes = (n: number): Uint8Array => Uint8Array.of(n);

describe('objects parsed a moment ago', () => {
  it('are found once, by the very bytes, not by equal ones', () => {
    const parsed = new ParsedObjects(2);
    const [one, same] = [bytes(1), bytes(1)];
    const object = { kind: 'One' };
    parsed.put(one, object);
    expect(parsed.take(same)).toBeUndefined();
    expect(parsed.take(one)).toBe(object);
    expect(parsed.take(one)).toBeUndefined();
  });

  it('are no more than the bound, the oldest go first; parsing again makes one new', () => {
    const parsed = new ParsedObjects(2);
    const [one, two, three] = [bytes(1), bytes(2), bytes(3)];
    parsed.put(one, { kind: 'One' });
    parsed.put(two, { kind: 'Two' });
    parsed.put(one, { kind: 'One again' });
    parsed.put(three, { kind: 'Three' });
    expect([one, two, three].map((each) => parsed.take(each)?.kind)).toEqual(['One again', undefined, 'Three']);
  });
});
