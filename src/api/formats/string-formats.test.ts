import { describe, expect, it } from 'vitest';
import { stringFormat } from './string-formats.ts';

describe('stringFormat', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    [
      'date-time',
      ['2026-01-31T23:59:59Z', '2026-01-31t00:00:00.123+02:00'],
      ['2026-01-31', '2026-02-30T00:00:00Z', 'x', '2026-01-31T24:00:00Z'],
    ],
    ['datetime', ['2026-01-31T23:59:59Z'], ['2026-01-31T23:59Z']],
    ['date', ['2024-02-29'], ['2023-02-29', '2026-13-01', '2026-1-1', '1900-02-29']],
    ['duration', ['1h30m', '-0.5s', '22 ns', '3 days', '2Weeks'], ['', 'soon', '5', '5 parsecs']],
    ['byte', ['aGVsbG8=', 'AAAA'], ['', 'a', 'a=b=', '_-==']],
    [
      'uuid',
      ['123e4567-E89B-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000'],
      ['123e4567', 'g23e4567-e89b-12d3-a456-426614174000'],
    ],
    ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
    ['uuid3', ['123e4567-e89b-32d3-0456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
    ['uuid5', ['123e4567-e89b-52d3-b456-426614174000'], ['123e4567-e89b-52d3-0456-426614174000']],
    ['ipv4', ['10.0.0.1', '010.0.0.1'], ['10.0.0', '256.0.0.1', '::1', 'a.b.c.d']],
    [
      'ipv6',
      ['::1', 'fe80::1', '1:2:3:4:5:6:7:8', '::ffff:10.0.0.1', '::'],
      ['10.0.0.1', '1:2', '1::2::3', ':::', '1:2:3:4:5:6:7:8:9', 'g::'],
    ],
    ['cidr', ['10.0.0.0/8', 'fe80::/64'], ['10.0.0.0', '10.0.0.0/33', '::/129', 'x/8']],
    ['mac', ['00:11:22:aa:bb:cc', '00-11-22-aa-bb-cc', '0011.22aa.bbcc'], ['00:11:22', '00:11-22:aa:bb:cc']],
    [
      'uri',
      ['https://example.com/a?b=c', '/a/b', 'mailto:x@y', 'http://[::1]:80/'],
      ['', 'a/b', 'http://a b/', 'http://h:port/', '/%zz'],
    ],
    ['email', ['a@b.c', 'Some One <a@b>'], ['a', '@b', 'a@']],
    ['hostname', ['example.com', 'a', '1host', 'a-b.example'], ['-a', 'a_b', '']],
    ['isbn', ['0321751043', '978-0321751041'], ['0321751044', '978-0321751042']],
    ['isbn10', ['080442957X'], ['978-0321751041']],
    ['isbn13', ['978-0321751041'], ['0321751043']],
    ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112', '1']],
    ['ssn', ['111-11-1111'], ['111-11-111']],
    ['hexcolor', ['#fff', '00ff00'], ['#ff', 'red']],
    ['rgbcolor', ['rgb(1, 2,255)'], ['rgb(1,2,256)', 'rgb(1,2)']],
    ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901']],
    ['password', ['', 'anything'], []],
    ['k8s-short-name', ['a-1'], ['a.b', 'A', `${'a'.repeat(64)}`]],
    ['k8s-long-name', ['a.b-1'], ['a..b', 'A']],
  ])('API-460 %s', (format, good, bad) => {
    const check = stringFormat(format);
    expect(good.filter((text) => check?.(text) !== true)).toEqual([]);
    expect(bad.filter((text) => check?.(text) !== false)).toEqual([]);
  });

  it.each(['1'.repeat(200_000), `1${' '.repeat(200_000)}`, '1 '.repeat(100_000)])(
    'API-460 long texts that are no duration take linear time',
    (text) => {
      const start = performance.now();
      expect(stringFormat('duration')?.(text)).toBe(false);
      expect(performance.now() - start).toBeLessThan(2000);
    },
  );

  it('API-460 what is not known means nothing', () => {
    expect(stringFormat('int-or-string')).toBeUndefined();
    expect(stringFormat('constructor')).toBeUndefined();
  });
});
