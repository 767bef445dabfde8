import { describe, expect, it } from 'vitest';
import { EventCorrelator, type EventOccurrence } from './event-correlator.ts';

const occurrence = (changes: Partial<EventOccurrence> = {}): EventOccurrence => ({
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u' },
  type: 'Warning',
  reason: 'R',
  message: 'm',
  at: 0,
  ...changes,
});

const wide = { component: 'c', burst: 1_000_000 };

describe('EventCorrelator', () => {
  it('COL-145 LIFE-014 counts the same event up once it was written', () => {
    const correlator = new EventCorrelator(wide);
    const first = correlator.correlate(occurrence());
    expect(first).toMatchObject({ action: 'create', message: 'm', count: 1, firstAt: 0 });
    expect(correlator.correlate(occurrence({ at: 5 }))).toMatchObject({ action: 'create', count: 2, firstAt: 0 });
    if (first.action !== 'drop') correlator.written(first.key, 'p.1');
    expect(correlator.correlate(occurrence({ at: 9 }))).toMatchObject({
      action: 'update',
      count: 3,
      firstAt: 0,
      name: 'p.1',
    });
  });

  it.each<[string, Partial<EventOccurrence>]>([
    ['message', { message: 'other' }],
    ['reason', { reason: 'Other' }],
    ['type', { type: 'Normal' }],
    ['object', { involvedObject: { ...occurrence().involvedObject, uid: 'other' } }],
    ['field', { involvedObject: { ...occurrence().involvedObject, fieldPath: 'spec' } }],
  ])('COL-145 an event with another %s is another one', (_, changes) => {
    const correlator = new EventCorrelator(wide);
    correlator.correlate(occurrence());
    expect(correlator.correlate(occurrence(changes))).toMatchObject({ action: 'create', count: 1 });
  });

  it('COL-145 combines the tenth different message within ten minutes and all after it', () => {
    const correlator = new EventCorrelator(wide);
    for (let i = 1; i <= 9; i++)
      expect(correlator.correlate(occurrence({ message: `m${i}` }))).toMatchObject({ message: `m${i}`, count: 1 });
    const combined = correlator.correlate(occurrence({ message: 'm10', at: 600_000 }));
    expect(combined).toMatchObject({ action: 'create', message: '(combined from similar events): m10', count: 1 });
    if (combined.action !== 'drop') correlator.written(combined.key, 'p.10');
    expect(correlator.correlate(occurrence({ message: 'm11', at: 600_001 }))).toMatchObject({
      action: 'update',
      message: '(combined from similar events): m11',
      count: 2,
      name: 'p.10',
    });
    expect(correlator.correlate(occurrence({ message: 'm12', at: 1_200_002 }))).toMatchObject({
      message: 'm12',
      count: 1,
    });
  });

  it('COL-145 LIFE-014 gives each object 25 events at once and one more each 300 s', () => {
    const correlator = new EventCorrelator({ component: 'c' });
    const actions = (at: number, n: number) =>
      Array.from({ length: n }, () => correlator.correlate(occurrence({ at })).action);
    expect(actions(0, 27).filter((a) => a === 'drop')).toHaveLength(2);
    expect(actions(299_999, 1)).toEqual(['drop']);
    expect(actions(600_000, 3).filter((a) => a !== 'drop')).toHaveLength(2);
    const other = occurrence({ involvedObject: { ...occurrence().involvedObject, name: 'other' } });
    expect(correlator.correlate(other).action).toBe('create');
  });

  it('COL-145 counts what it drops', () => {
    const correlator = new EventCorrelator({ component: 'c', burst: 1 });
    const first = correlator.correlate(occurrence());
    if (first.action !== 'drop') correlator.written(first.key, 'p.1');
    correlator.correlate(occurrence());
    expect(correlator.correlate(occurrence({ at: 300_000 }))).toMatchObject({ action: 'update', count: 3 });
  });

  it('forgets old series beyond its memory', () => {
    const correlator = new EventCorrelator({ ...wide, cacheSize: 2 });
    for (const reason of ['A', 'B', 'C']) correlator.correlate(occurrence({ reason }));
    expect(correlator.correlate(occurrence({ reason: 'A' }))).toMatchObject({ count: 1 });
    expect(correlator.correlate(occurrence({ reason: 'C' }))).toMatchObject({ count: 2 });
  });
});
