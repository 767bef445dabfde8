import { describe, expect, it } from 'vitest';
import { versionNumber } from './version-number.ts';

describe('versionNumber', () => {
  it('COL-212 is the number that kube-apiserver counts with', () => {
    expect(versionNumber('0')).toBe(0);
    expect(versionNumber('1234567890123')).toBe(1_234_567_890_123);
  });

  it.each(['', ' 7', '7 ', '-7', '7.5', '1e3', '0x10', 'abc', 'Infinity'])(
    'COL-212 of %j, which another server may use, is neither lower nor higher than any',
    (text) => expect(versionNumber(text)).toBeNaN(),
  );
});
