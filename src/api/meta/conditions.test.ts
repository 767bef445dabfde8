import { describe, expect, it } from 'vitest';
import { type Condition, findCondition, isConditionTrue, withCondition } from './conditions.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const ready = (status: Condition['status'], time?: string): Condition => ({
  type: 'Ready',
  status,
  ...(time === undefined ? {} : { lastTransitionTime: time }),
});

describe('withCondition', () => {
  it('API-453 appends, and stamps what is new', () => {
    const other: Condition = { type: 'Other', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };
    expect(withCondition(null, ready('True'), NOW)).toEqual([ready('True', '2026-01-02T03:04:05Z')]);
    expect(withCondition([other], ready('True'), NOW)).toEqual([other, ready('True', '2026-01-02T03:04:05Z')]);
  });

  it('API-453 the time moves only with the status', () => {
    const before = [ready('True', '2020-01-01T00:00:00Z')];
    expect(withCondition(before, { ...ready('True'), reason: 'New', message: 'words' }, NOW)).toEqual([
      { ...ready('True', '2020-01-01T00:00:00Z'), reason: 'New', message: 'words' },
    ]);
    expect(withCondition(before, ready('False'), NOW)).toEqual([ready('False', '2026-01-02T03:04:05Z')]);
    expect(before).toEqual([ready('True', '2020-01-01T00:00:00Z')]);
  });

  it('finds by type', () => {
    expect(findCondition([ready('False')], 'Ready')?.status).toBe('False');
    expect(isConditionTrue([ready('False')], 'Ready')).toBe(false);
    expect(isConditionTrue([ready('True')], 'Ready')).toBe(true);
    expect(isConditionTrue(null, 'Ready')).toBe(false);
  });
});
