import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValueSlabs } from './value-slabs.ts';
import type { SlabTenant } from './value-slabs.ts';

const sizes = { slab: 64, largestShared: 16 };

class Holder implements SlabTenant {
  value: Uint8Array | undefined;
  slot = -1;
}

function hold(slabs: ValueSlabs, bytes: Uint8Array): Holder {
  const holder = new Holder();
  holder.value = slabs.copy(bytes);
  slabs.adopt(holder);
  return holder;
}

describe('value slabs', () => {
  it('keep what is held as it was, and a third more memory than that at most, whatever goes', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('hold' as const), bytes: fc.uint8Array({ maxLength: 20 }) }),
      fc.record({ kind: fc.constant('release' as const), which: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const slabs = new ValueSlabs(sizes);
        const held: { readonly holder: Holder; readonly bytes: Uint8Array }[] = [];
        const seen: { readonly view: Uint8Array; readonly bytes: Uint8Array }[] = [];
        for (const each of steps) {
          if (each.kind === 'hold') {
            held.push({ holder: hold(slabs, each.bytes), bytes: each.bytes });
          } else if (held.length > 0) {
            const [gone] = held.splice(each.which % held.length, 1);
            // A reader may still hold the view.
            seen.push({ view: gone!.holder.value!, bytes: gone!.bytes });
            slabs.release(gone!.holder);
          }
          const shared = held.filter(({ bytes }) => bytes.length <= sizes.largestShared);
          const wanted = shared.reduce((sum, { bytes }) => sum + bytes.length, 0);
          expect(slabs.bytes).toBeLessThanOrEqual(wanted / 0.75 + sizes.slab);
        }
        for (const { holder, bytes } of held) expect(new Uint8Array(holder.value!)).toEqual(bytes);
        for (const { view, bytes } of seen) expect(new Uint8Array(view)).toEqual(bytes);
      }),
    );
  });

  it('are one in four of the memory that V8 counts, so that it does not mark all for every 64 MiB of them', () => {
    const slabs = new ValueSlabs(sizes);
    const full = Buffer.alloc(16);
    const counted = Array.from({ length: 4 * 8 }, () => hold(slabs, full).value?.buffer instanceof ArrayBuffer);
    const bySlab = counted.filter((_, value) => value % 4 === 0);
    expect(bySlab).toEqual([false, false, false, true, false, false, false, true]);
  });

  it('grow the memory that V8 counts by a quarter of theirs', () => {
    const slabs = new ValueSlabs();
    const value = Buffer.alloc(16 << 10);
    const before = process.memoryUsage().external;
    const held = Array.from({ length: 64 * 16 }, () => hold(slabs, value));
    expect(process.memoryUsage().external - before).toBeLessThan(slabs.bytes / 2);
    expect([held.length, slabs.bytes]).toEqual([1024, 64 * (256 << 10)]);
  });

  it('move three values at most for each that goes, all being of one size', () => {
    const slabs = new ValueSlabs(sizes);
    const value = Buffer.from('12345678');
    const held = Array.from({ length: 4096 }, () => hold(slabs, value));
    let moved = 0;
    // Releases every second value, then every second of the remaining ones, and so on: the least favourable order.
    for (let step = 2; step <= 4096; step *= 2) {
      for (let i = step / 2; i < held.length; i += step) moved += slabs.release(held[i]!);
    }
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThanOrEqual(3 * 4096);
    expect(slabs.bytes).toBeLessThanOrEqual(2 * sizes.slab);
  });

  it('lay values side by side, but those that are large by themselves', () => {
    const slabs = new ValueSlabs(sizes);
    const [a, b, large] = [4, 16, 17].map((length) => hold(slabs, Buffer.alloc(length, 1)));
    expect(a!.value!.buffer).toBe(b!.value!.buffer);
    expect(large!.value!.buffer.byteLength).toBe(17);
    expect(slabs.bytes).toBe(sizes.slab);
    expect(slabs.release(large!)).toBe(0);
  });

  it('copy a part of what is used again, and leave alone what lies elsewhere or has gone before', () => {
    const slabs = new ValueSlabs(sizes);
    const source = Buffer.from('..value..');
    const holder = new Holder();
    holder.value = slabs.copy(source, 2, 7);
    slabs.adopt(holder);
    source.fill(0);
    expect(Buffer.from(holder.value).toString()).toBe('value');
    const foreign = new Holder();
    foreign.value = Buffer.from('foreign');
    slabs.adopt(foreign);
    expect(foreign.slot).toBe(-1);
    expect([slabs.release(foreign), slabs.release(holder), slabs.release(holder)]).toEqual([0, 0, 0]);
    expect(slabs.bytes).toBe(sizes.slab);
  });
});
