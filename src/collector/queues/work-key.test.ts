import { expect, it } from 'vitest';
import { parseWorkKey, workKey } from './work-key.ts';

it('COL-072, COL-081 the entries of a uid as virtual and as observed are two keys, and come back', () => {
  for (const uid of ['u', '?u', '']) {
    for (const queuedAs of ['virtual', 'observed'] as const) {
      if (uid.startsWith('?') && queuedAs === 'observed') continue;
      expect(parseWorkKey(workKey(uid, queuedAs))).toEqual({ uid, queuedAs });
    }
  }
  expect(workKey('u', 'virtual')).not.toBe(workKey('u', 'observed'));
});
