import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameSlab } from './name-slab.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('NameSlab', () => {
  it('BETTER-6 returns the stored names, over any sequence of stores and releases', () => {
    const use = fc.record({ length: fc.integer({ min: 0, max: 254 }), release: fc.nat({ max: 30 }) });
    fc.assert(
      fc.property(fc.array(use, { maxLength: 300 }), (uses) => {
        const slab = new NameSlab();
        const held: { text: string; address: number }[] = [];
        uses.forEach(({ length, release }, i) => {
          const text = String(i % 10).repeat(length);
          held.push({ text, address: slab.store(bytesOf(text), 0, length) });
          if (release < held.length && release % 2 === 0) {
            const [gone] = held.splice(release, 1);
            slab.release(gone!.address, gone!.text.length);
          }
        });
        for (const { text, address } of held) {
          expect(slab.text(address, text.length)).toBe(text);
          expect(slab.equals(address, bytesOf(`.${text}`), 1, text.length + 1)).toBe(true);
        }
      }),
      { numRuns: 50, seed: 1 },
    );
  });

  it('a clone keeps its names, whatever is released and stored in the slab that it was made from, and the other way round', () => {
    const slab = new NameSlab();
    const before = slab.store(bytesOf('the-old-name'), 0, 12);
    const copy = slab.clone();
    slab.release(before, 12);
    const after = slab.store(bytesOf('another-name'), 0, 12);
    expect([copy.text(before, 12), slab.text(after, 12)]).toEqual(['the-old-name', 'another-name']);
    copy.release(before, 12);
    copy.store(bytesOf('a-third-name'), 0, 12);
    expect([copy.text(before, 12), slab.text(after, 12)]).toEqual(['a-third-name', 'another-name']);
  });

  it('BETTER-6 room of a released name is used for the next of its size: nothing grows', () => {
    const slab = new NameSlab();
    const name = bytesOf('web-frontend-7d5f8bd-x2x4z');
    const addresses = Array.from({ length: 1000 }, () => slab.store(name, 0, name.length));
    const used = slab.usedUnits;
    for (let round = 0; round < 5; round++) {
      for (const address of addresses) slab.release(address, name.length);
      expect(slab.freeUnits).toBe(used);
      for (let i = 0; i < addresses.length; i++) addresses[i] = slab.store(name, 0, name.length);
    }
    expect(slab.usedUnits).toBe(used);
    expect(slab.freeUnits).toBe(0);
  });

  it('BETTER-6 the room of a released name is its own and not a unit more, whatever its length', () => {
    for (let length = 1; length <= 254; length++) {
      const slab = new NameSlab();
      const old = bytesOf('o'.repeat(length));
      const neighbour = bytesOf('n'.repeat(16));
      const released = slab.store(old, 0, length);
      const kept = slab.store(neighbour, 0, 16);
      slab.release(released, length);
      for (const next of [length, length + 1, length + 4].filter((each) => each <= 254)) {
        slab.store(bytesOf('x'.repeat(next)), 0, next);
        expect(slab.text(kept, 16)).toBe('n'.repeat(16));
      }
    }
  });

  it('BETTER-6 a name that is longer than the rest of a chunk by one unit goes into the next', () => {
    const unitsOfChunk = 2 ** 18;
    for (let left = 1; left <= 3; left++) {
      const slab = new NameSlab();
      const filler = bytesOf('f'.repeat(4));
      for (let units = 0; units < unitsOfChunk - left; units++) slab.store(filler, 0, 4);
      const name = bytesOf('n'.repeat((left + 1) * 4));
      expect(slab.text(slab.store(name, 0, name.length), name.length)).toBe('n'.repeat(name.length));
    }
  });

  it('a name never crosses a chunk', () => {
    const slab = new NameSlab();
    const name = bytesOf('n'.repeat(250));
    const count = Math.ceil((3 * 2 ** 20) / 252);
    const addresses = Array.from({ length: count }, () => slab.store(name, 0, name.length));
    expect(addresses.every((address) => slab.equals(address, name, 0, name.length))).toBe(true);
    expect(slab.allocatedBytes).toBe(4 * 2 ** 20);
  });
});
