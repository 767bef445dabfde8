import { describe, expect, it } from 'vitest';
import { formatAddress, parseServiceRange } from './service-range.ts';

describe('API-511 the range of service addresses', () => {
  it.each([
    ['10.96.0.0/12', '10.96.0.0/12', '10.96.0.1', '10.111.255.254'],
    ['10.0.0.0/24', '10.0.0.0/24', '10.0.0.1', '10.0.0.254'],
    ['10.0.0.77/24', '10.0.0.0/24', '10.0.0.1', '10.0.0.254'],
    ['192.168.7.8/29', '192.168.7.8/29', '192.168.7.9', '192.168.7.14'],
    ['255.255.255.255/8', '255.0.0.0/8', '255.0.0.1', '255.255.255.254'],
    ['1.2.3.4/0', '0.0.0.0/0', '0.0.0.1', '255.255.255.254'],
  ])('%s is %s, from %s to %s', (text, cidr, first, last) => {
    const range = parseServiceRange(text);
    expect([range.cidr, formatAddress(range.first), formatAddress(range.last)]).toEqual([cidr, first, last]);
  });

  it.each(['10.0.0.0/30', '10.0.0.0/32'])('%s is too small', (text) => {
    expect(() => parseServiceRange(text)).toThrow('the service cluster IP range must be at least 8 IP addresses');
  });

  it.each(['', '10.0.0.0', '10.0.0/24', '10.0.0.256/24', '10.0.0.0/33', 'fd00::/108', '10.0.0.0/a'])(
    '%s is none',
    (text) => {
      expect(() => parseServiceRange(text)).toThrow(`${text} is no range of IPv4 addresses like 10.96.0.0/12`);
    },
  );
});
