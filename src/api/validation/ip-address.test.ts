import { describe, expect, it } from 'vitest';

import { addressFamily, validateAddress, validateNetwork, validateOrdinaryAddress } from './ip-address.ts';

const NO_NETWORK = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

describe('addresses', () => {
  it.each([
    ['10.0.0.1', 4],
    ['010.000.0.1', 4],
    ['::1', 6],
    ['FD00::1:2', 6],
    ['::ffff:1.2.3.4', 6],
    ['', undefined],
    ['10.0.0', undefined],
    ['10.0.0.256', undefined],
    ['10.0.0.1 ', undefined],
    ['fe80::1%eth0', undefined],
    ['::1::', undefined],
  ])('API-502 %j is of family %s', (text, family) => {
    expect(addressFamily(text)).toBe(family);
  });

  it.each([
    ['10.0.0.1', undefined],
    ['FE80:0:0:0:0:0:0:0abc', undefined],
    ['010.0.0.1', 'must not have leading 0s'],
    ['::ffff:1.2.3.4', 'must not be an IPv4-mapped IPv6 address'],
    ['::FFFF:0102:0304', 'must not be an IPv4-mapped IPv6 address'],
    ['10.0.0', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ])('API-502 the address %j: %s', (text, why) => {
    const findings = why === undefined ? [] : [`Invalid value: "${text}": ${why}`];
    expect(validateAddress(text, 'p').map(({ message }) => message)).toEqual(findings);
  });

  it.each([
    ['10.0.0.0/8', undefined],
    ['0.0.0.0/0', undefined],
    ['::/0', undefined],
    ['10.0.0.1/32', undefined],
    ['FD00:0::/64', undefined],
    ['10.0.0.1/8', 'must not have bits set beyond the prefix length'],
    ['fd00::1/64', 'must not have bits set beyond the prefix length'],
    ['010.0.0.0/8', 'must not have leading 0s in IP or prefix length'],
    ['::ffff:1.2.3.4/128', 'must not have an IPv4-mapped IPv6 address'],
    ['fd00::/128', undefined],
    ['10.0.0.0', NO_NETWORK],
    ['10.0.0.0/', NO_NETWORK],
    ['10.0.0.0/33', NO_NETWORK],
    ['10.0.0.0/-1', NO_NETWORK],
    ['fd00::/129', NO_NETWORK],
    ['/8', NO_NETWORK],
  ])('API-502 the network %j: %s', (text, why) => {
    const findings = why === undefined ? [] : [`Invalid value: "${text}": ${why}`];
    expect(validateNetwork(text, 'p').map(({ message }) => message)).toEqual(findings);
  });

  it('API-502 addresses that mean something else', () => {
    const words = (text: string): string | undefined =>
      /may not be in the (.*?) range|may not be (unspecified)/
        .exec(validateOrdinaryAddress(text, 'p')[0]?.message ?? '')
        ?.slice(1)
        .join('');
    expect(words('192.168.0.1')).toBeUndefined();
    expect(words('2001:db8::1')).toBeUndefined();
    expect(['0.0.0.0', '::'].map(words)).toEqual(['unspecified', 'unspecified']);
    expect(['127.1.2.3', '::1'].map(words)).toEqual(['loopback', 'loopback']);
    expect(['169.254.0.1', 'fe80::1'].map(words)).toEqual(['link-local', 'link-local']);
    expect(['224.0.0.1', 'ff02::1'].map(words)).toEqual(['link-local multicast', 'link-local multicast']);
  });
});
