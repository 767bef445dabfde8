import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interner } from './interner.ts';

describe('Interner', () => {
  it('gives a text the same number whether it comes as a string or inside a message', () => {
    const interner = new Interner();
    const message = Buffer.from('..kube-system|Größe 😀..', 'utf8');
    const bar = message.indexOf('|');
    expect(interner.internBytes(message, 2, bar)).toBe(0);
    expect(interner.intern('kube-system')).toBe(0);
    expect(interner.internBytes(message, bar + 1, message.length - 2)).toBe(1);
    expect(interner.intern('Größe 😀')).toBe(1);
    expect(interner.text(1)).toBe('Größe 😀');
    expect(interner.lookup('Größe 😀')).toBe(1);
    expect(interner.lookup('unknown')).toBe(-1);
    expect(interner.size).toBe(2);
  });

  it('copies the bytes it keeps', () => {
    const interner = new Interner();
    const message = Buffer.from('default');
    const id = interner.internBytes(message, 0, message.length);
    message.fill(0);
    expect(interner.text(id)).toBe('default');
  });

  it('refuses more than its bound but still knows the old ones', () => {
    const interner = new Interner({ bound: 2 });
    interner.intern('a');
    interner.intern('b');
    expect(() => interner.intern('c')).toThrow(RangeError);
    expect(interner.intern('b')).toBe(1);
  });

  it('behaves like a Map, also across growth and with equal beginnings', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.nat({ max: 400 }).map((n) => `ns-${n}`),
      fc.constant('x'.repeat(2000)),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 500 }), (words) => {
        const interner = new Interner();
        const model = new Map<string, number>();
        for (const text of words) {
          if (!model.has(text)) model.set(text, model.size);
          expect(interner.intern(text)).toBe(model.get(text));
        }
        for (const [text, id] of model) expect(interner.text(id)).toBe(text);
      }),
      { numRuns: 30 },
    );
  });
});
