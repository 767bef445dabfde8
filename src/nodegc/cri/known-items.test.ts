import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownItems } from './known-items.ts';

/** An item that keeps where its bytes are, as images and containers of a list do. */
class Item {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get content(): number[] {
    return [...this.#bytes];
  }
}
const knownItems = (): KnownItems<Item> => new KnownItems(({ bytes, at, end }) => new Item(bytes.subarray(at, end)));

/** Reads the items as views of one buffer, as in an answer, and overwrites the buffer after the read. */
function readList(known: KnownItems<Item>, items: readonly Uint8Array[]): Item[] {
  const answer = new Uint8Array(3 + items.reduce((sum, { length }) => sum + length, 0));
  let at = 3;
  const views = items.map((item) => {
    answer.set(item, at);
    return answer.subarray(at, (at += item.length));
  });
  const read = known.read(views);
  answer.fill(0xff);
  return read;
}

const item = fc.oneof(
  fc.uint8Array({ maxLength: 12, max: 2 }),
  fc.uint8Array({ minLength: 60, maxLength: 70, max: 1 }),
  fc.constantFrom(300, 301).map((length) => new Uint8Array(length)),
);

describe('KnownItems', () => {
  it('NODE-011 returns an object decoded from these very bytes, the same for the same bytes, in any lists', () => {
    fc.assert(
      fc.property(fc.array(fc.array(item, { maxLength: 12 }), { maxLength: 6 }), (lists) => {
        const known = knownItems();
        const seen = new Map<string, Item>();
        for (const list of lists) {
          const read = readList(known, list);
          expect(read.map(({ content }) => content)).toEqual(list.map((bytes) => [...bytes]));
          for (const [index, each] of read.entries()) {
            const text = list[index]!.join();
            if (seen.has(text)) expect(seen.get(text)).toBe(each);
            seen.set(text, each);
          }
        }
        // The items of earlier lists still have their bytes.
        for (const [text, { content }] of seen) expect(content.join()).toBe(text);
      }),
    );
  });

  it('distinguishes items that differ in one byte anywhere', () => {
    const known = knownItems();
    const bytes = new Uint8Array(131).fill(7);
    const [first] = readList(known, [bytes]);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.with(at, 8);
      const [other] = readList(known, [changed]);
      expect(other).not.toBe(first);
      expect(other!.content).toEqual([...changed]);
    }
  });

  it('returns the same objects for thousands of items, in another order too', () => {
    const known = knownItems();
    const items = Array.from({ length: 9000 }, (_, n) => new TextEncoder().encode(`container ${n}`.repeat(9)));
    const first = readList(known, items);
    expect(
      readList(known, items.toReversed())
        .toReversed()
        .every((each, n) => each === first[n]),
    ).toBe(true);
  });

  it('forgets items when most of them are no longer listed', () => {
    const known = knownItems();
    const [first] = readList(known, [Uint8Array.of(1)]);
    for (let list = 0; list < 1100; list++) readList(known, [Uint8Array.of(2, list >> 8, list & 255)]);
    const [again] = readList(known, [Uint8Array.of(1)]);
    expect(again).not.toBe(first);
    expect(again!.content).toEqual([1]);
  });

  it('does not keep an item that cannot be decoded', () => {
    let fails = true;
    const known = new KnownItems(({ bytes, at, end }) => {
      if (fails) throw new Error('not a message');
      return bytes.slice(at, end);
    });
    expect(() => known.read([Uint8Array.of(1, 2)])).toThrow('not a message');
    fails = false;
    expect(known.read([Uint8Array.of(1, 2)])).toEqual([Uint8Array.of(1, 2)]);
  });
});
