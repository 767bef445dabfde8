import { describe, expect, it } from 'vitest';
import { warningHeader } from './warnings.ts';

describe('warning header', () => {
  it('API-010 escapes quotes and backslashes', () => {
    expect(warningHeader('unknown field "spec.x\\y"')).toBe('299 - "unknown field \\"spec.x\\\\y\\""');
  });

  it('API-010 a line break cannot end the header', () => {
    expect(warningHeader('a\r\nSet-Cookie: b')).toBe('299 - "a  Set-Cookie: b"');
  });

  it('API-010 other scripts travel as UTF-8', () => {
    expect(Buffer.from(warningHeader('größer'), 'latin1').toString('utf8')).toBe('299 - "größer"');
  });
});
