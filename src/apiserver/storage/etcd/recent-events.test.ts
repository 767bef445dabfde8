import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreEvent } from '../interface.ts';
import { RecentEvents } from './recent-events.ts';

const event = (revision: number, size = 1): StoreEvent => ({
  type: 'PUT',
  key: '/registry/a',
  revision,
  createRevision: revision,
  current: { key: '/registry/a', value: new Uint8Array(size), createRevision: revision, modRevision: revision },
});

describe('recent events', () => {
  it('send everything above a revision that is not below their floor, within their bounds', () => {
    const batch = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 40 })), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 20 }), (batches) => {
        const recent = new RecentEvents(10, { events: 8, bytes: 100 });
        const all: StoreEvent[] = [];
        let revision = 10;
        for (const changes of batches) {
          // Several changes of one transaction have one revision; revisions of other keys leave gaps.
          const events = changes.map(([step, size], i) =>
            event((revision += i === 0 ? Math.max(1, step) : step), size),
          );
          all.push(...events);
          recent.add(events, ++revision);
          expect(recent.revision).toBe(revision);
          for (let after = recent.floor; after <= revision; after++) {
            expect(recent.since(after)).toEqual(all.filter((each) => each.revision > after));
          }
          const held = recent.since(recent.floor);
          expect(held.length).toBeLessThanOrEqual(8);
          expect(held.reduce((sum, { current }) => sum + (current?.value.length ?? 0), 0)).toBeLessThanOrEqual(100);
        }
      }),
    );
  });

  it('an event larger than all bounds moves the floor and is not kept', () => {
    const recent = new RecentEvents(1, { events: 8, bytes: 100 });
    recent.add([event(2), event(3, 1_000)], 3);
    expect(recent.floor).toBe(3);
    expect(recent.since(3)).toEqual([]);
  });
});
