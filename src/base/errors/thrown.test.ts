import { describe, expect, it } from 'vitest';
import { asError, messageOf } from './thrown.ts';

const broken = new TypeError('broken');

describe('what was thrown', () => {
  it.each([
    [broken, 'broken'],
    ['a text', 'a text'],
    [404, '404'],
    [undefined, 'undefined'],
    [null, 'null'],
  ])('%s has the message %s', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
    expect(asError(thrown)).toBeInstanceOf(Error);
    expect(asError(thrown).message).toBe(message);
  });

  it('stays what it is when it is an Error', () => {
    expect(asError(broken)).toBe(broken);
  });
});
