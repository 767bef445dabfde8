import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfPrefix, EtcdKeys } from './etcd-keys.ts';

describe('keys in etcd', () => {
  it.each([
    ['/registry', '/registry/'],
    ['registry/', '/registry/'],
    ['/a//b', '/a/b/'],
    ['/', '/'],
  ])('the prefix %j is the root %j', (prefix, root) => {
    expect(new EtcdKeys(prefix).root).toBe(root);
  });

  it.each(['/registry', '/other/root'])('go to %s and come back; those of others do not', (prefix) => {
    const keys = new EtcdKeys(prefix);
    const key = '/registry/core/configmaps/default/ä';
    expect(Buffer.from(keys.encode(key)).toString()).toBe(`${prefix}/core/configmaps/default/ä`);
    expect(keys.decode(keys.encode(key))).toBe(key);
    expect(keys.decode(Buffer.from('compact_rev_key'))).toBeUndefined();
    expect(keys.decode(Buffer.from(`${prefix}x/core`))).toBeUndefined();
  });

  it('a range begins at its prefix, or later', () => {
    const keys = new EtcdKeys('/registry');
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
    const range = (start?: string) => {
      const { key, rangeEnd } = keys.range('/registry/core/pods/', start);
      return [text(key), text(rangeEnd)];
    };
    expect(range()).toEqual(['/registry/core/pods/', '/registry/core/pods0']);
    expect(range('/registry/core/pods/b')).toEqual(['/registry/core/pods/b', '/registry/core/pods0']);
    expect(range('/registry/a')).toEqual(['/registry/core/pods/', '/registry/core/pods0']);
  });

  it('the end of a prefix is above all that begin with it, and not above anything else', () => {
    const key = fc.uint8Array({ maxLength: 4 });
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        const end = endOfPrefix(prefix);
        // etcd's notation for a range without an upper bound.
        if (Buffer.compare(end, Buffer.of(0)) === 0) return prefix.every((byte) => byte === 0xff);
        const inRange = Buffer.compare(other, prefix) >= 0 && Buffer.compare(other, end) < 0;
        return inRange === (Buffer.compare(other.subarray(0, prefix.length), prefix) === 0);
      }),
    );
  });
});
