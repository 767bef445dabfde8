import { describe, expect, it } from 'vitest';
import { CacheEvent } from './cache-event.ts';
import type { CacheEventType } from './cache-event.ts';
import { EventRing } from './event-ring.ts';
import { StoredObject, encodeStored } from '../stored-object.ts';

function event(revision: number, key = 'a', type: CacheEventType = 'MODIFIED', filler = ''): CacheEvent {
  const value = encodeStored({ kind: 'K', apiVersion: 'v1', metadata: { name: key }, filler });
  const object = (modRevision: number) => new StoredObject({ key, value, createRevision: 1, modRevision });
  return type === 'DELETED'
    ? new CacheEvent({ type, revision, previous: object(revision - 1) })
    : new CacheEvent({ type, current: object(revision) });
}

const limits = { capacity: 4, maxBytes: 1_000_000, maxAgeMs: 1000 };
const revisions = (events: readonly CacheEvent[]): number[] => events.map((e) => e.revision);

describe('EventRing', () => {
  it('API-137 keeps the newest events and says from where it has all', () => {
    const ring = new EventRing(10, limits);
    expect([ring.first, ring.end, ring.floor]).toEqual([0, 0, 10]);
    for (let revision = 11; revision <= 21; revision += 2) ring.push(event(revision), 0);
    expect([ring.first, ring.end, ring.floor]).toEqual([2, 6, 13]);
    expect(revisions(ring.slice(0, 100))).toEqual([15, 17, 19, 21]);
    expect(revisions(ring.slice(3, 5))).toEqual([17, 19]);
    expect([13, 14, 15, 20, 21, 99].map((after) => ring.positionAfter(after))).toEqual([2, 2, 3, 5, 6, 6]);
  });

  it('forgets what is too old, or too much', () => {
    const ring = new EventRing(0, { ...limits, maxBytes: 1000 });
    ring.push(event(1), 0);
    ring.push(event(2), 500);
    ring.expire(1000);
    expect(ring.floor).toBe(0);
    ring.expire(1001);
    expect(ring.floor).toBe(1);
    ring.expire(5000);
    expect([ring.floor, ring.first, ring.end, ring.bytes]).toEqual([2, 2, 2, 0]);
    for (let revision = 3; revision <= 6; revision++) ring.push(event(revision), 5000);
    expect(ring.bytes).toBeLessThanOrEqual(1000);
    expect([ring.first, ring.end, ring.floor]).toEqual([4, 6, 4]);
  });

  it('knows the newest object of a key while its event is kept', () => {
    const ring = new EventRing(0, limits);
    const first = event(1, 'a');
    const second = event(2, 'a');
    ring.push(first, 0);
    expect(ring.newest('a')).toBe(first.current);
    ring.push(second, 0);
    ring.push(event(3, 'b'), 0);
    expect(ring.newest('a')).toBe(second.current);
    ring.push(event(4, 'b', 'DELETED'), 0);
    expect(ring.newest('b')).toBeUndefined();
    ring.push(event(5, 'c'), 0);
    expect(ring.newest('a')).toBe(second.current);
    ring.push(event(6, 'c'), 0);
    expect(ring.newest('a')).toBeUndefined();
  });

  it('keeps encodings of the newest 256 events only', () => {
    const ring = new EventRing(0, { ...limits, capacity: 2000 });
    const events = Array.from({ length: 262 }, (_, i) => event(i + 1, `k${i}`));
    const frames = events.map((e) => e.frame('json'));
    for (const e of events) ring.push(e, 0);
    const kept = events.map((e, i) => (e.frame('json') === frames[i] ? 1 : 0));
    expect(kept.indexOf(1)).toBe(6);
    expect(kept.lastIndexOf(0)).toBe(5);
  });

  it.each([
    ['4,096', 5000, '', 4096],
    ['16 MiB', 20, 'x'.repeat(1 << 20), 15],
  ])('of older ones keeps encodings of the %s that were read last', (_, count, filler, most) => {
    const ring = new EventRing(0, { ...limits, capacity: count, maxBytes: Infinity });
    const events = Array.from({ length: count }, (__, i) => event(i + 1, `k${i}`, 'MODIFIED', filler));
    for (const e of events) ring.push(e, 0);
    ring.cool(0);
    const frames = events.map((__, i) => ring.slice(i, i + 1)[0]?.frame('json'));
    const kept = events.map((e, i) => e.frame('json') === frames[i]);
    expect(kept.indexOf(true)).toBe(count - most);
    expect(kept.lastIndexOf(false)).toBe(count - most - 1);
  });

  it('gives them back when nobody is behind any more, and forgets those whose events have gone', () => {
    const ring = new EventRing(0, { ...limits, capacity: 1000 });
    const events = Array.from({ length: 1010 }, (_, i) => event(i + 1, `k${i}`));
    for (const e of events.slice(0, 1000)) ring.push(e, 0);
    const frames = ring.slice(0, 1000).map((e) => e.frame('json'));
    for (const e of events.slice(1000)) ring.push(e, 0);
    ring.coolReread();
    const kept = events.slice(0, 1000).map((e, i) => e.frame('json') === frames[i]);
    // The ring has dropped the first ten, and always keeps the newest 256.
    expect(kept.indexOf(false)).toBe(10);
    expect(kept.indexOf(true, 10)).toBe(1010 - 256);
    expect(kept.lastIndexOf(false)).toBe(1010 - 256 - 1);
  });
});
