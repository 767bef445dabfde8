import { describe, expect, it } from 'vitest';

import { addressFamily, networkFamily, validateOrdinaryAddress } from './ip-address.ts';

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
    ['10.0.0.0/8', 4],
    ['10.0.0.1/32', 4],
    ['fd00::/128', 6],
    ['10.0.0.0/33', undefined],
    ['fd00::/129', undefined],
    ['10.0.0.0', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/-1', undefined],
    ['/8', undefined],
  ])('API-502 the network %j is of family %s', (text, family) => {
    expect(networkFamily(text)).toBe(family);
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
