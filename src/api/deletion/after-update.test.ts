import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { isRemovedByUpdate } from './after-update.ts';
import { EARLIER_TEXT, namespace, thing } from './fixtures.ts';

describe('isRemovedByUpdate', () => {
  const timestamps = [undefined, null, EARLIER_TEXT];
  const graces = [undefined, null, 0, 1, 30];
  const finalizers = [undefined, [], ['a.io/x']];

  const rows = timestamps.flatMap((deletionTimestamp) =>
    graces.flatMap((deletionGracePeriodSeconds) =>
      finalizers.map((next) => ({ deletionTimestamp, deletionGracePeriodSeconds, next })),
    ),
  );

  it.each(rows)('API-251 %o', ({ deletionTimestamp, deletionGracePeriodSeconds, next }) => {
    const before: Partial<ObjectMeta> = {
      finalizers: ['a.io/x'],
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    };
    // The written object contradicts the stored one about the deletion; only the stored one counts.
    const after: Partial<ObjectMeta> = {
      ...(deletionTimestamp ? {} : { deletionTimestamp: EARLIER_TEXT }),
      ...(next === undefined ? {} : { finalizers: next }),
    };
    const want = Boolean(deletionTimestamp) && !deletionGracePeriodSeconds && !next?.length;
    expect(isRemovedByUpdate(thing(before), thing(after))).toBe(want);
  });

  it.each([
    ['spec holds', ['kubernetes'], undefined, false],
    ['metadata holds', [], ['a.io/x'], false],
    ['both hold', ['kubernetes'], ['a.io/x'], false],
    ['neither holds', [], undefined, true],
  ])('API-306 namespace, %s', (_, spec, meta, want) => {
    const before = namespace(['kubernetes'], { deletionTimestamp: EARLIER_TEXT });
    const after = namespace(spec, {
      deletionTimestamp: EARLIER_TEXT,
      ...(meta === undefined ? {} : { finalizers: meta }),
    });
    expect(isRemovedByUpdate(before, after)).toBe(want);
  });

  it('API-306 a Namespace of another group has no such rule', () => {
    const before = thing({ deletionTimestamp: EARLIER_TEXT });
    const after = { ...namespace(['kubernetes']), apiVersion: 'x.io/v1' };
    expect(isRemovedByUpdate(before, after)).toBe(true);
  });
});
