import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random/random.ts';
import { parseShardSelector } from './shard-selector.ts';

const uid = (value: string) => ({ uid: value });

describe('parseShardSelector', () => {
  it.each([
    [
      "shardRange(object.metadata.uid, '0x0', '0x8')",
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000008')",
    ],
    [
      "shardRange(object.metadata.uid,'0x8000000000000000','0x10000000000000000')",
      "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
    ],
    [
      'shardRange( object.metadata.namespace , "0x0" , "0xA" )||shardRange(object.metadata.namespace, "0xb", "0xc")',
      "shardRange(object.metadata.namespace, '0x0000000000000000', '0x000000000000000a') || " +
        "shardRange(object.metadata.namespace, '0x000000000000000b', '0x000000000000000c')",
    ],
  ])('API-607 reads %s', (text, normal) => {
    expect(parseShardSelector(text).text).toBe(normal);
  });

  it.each([
    ['sharded', 'position 0'],
    ["shardRange(object.metadata.name, '0x0', '0x8')", 'object.metadata.uid or object.metadata.namespace'],
    ["shardRange(object.metadata.uid, '0', '0x8')", '"0"'],
    ["shardRange(object.metadata.uid, '0x0', '0x10000000000000001')", '0x10000000000000000'],
    ["shardRange(object.metadata.uid, '0x0', '0x')", '"0x"'],
    ["shardRange(object.metadata.uid, '0x8', '0x8')", 'less than'],
    ["shardRange(object.metadata.uid, '0x0', '0x8') && true", 'position 46'],
    ["shardRange(object.metadata.uid, '0x0', '0x8') ||", 'position 48'],
    [
      "shardRange(object.metadata.uid, '0x0', '0x8') || shardRange(object.metadata.namespace, '0x8', '0x9')",
      'the same field',
    ],
  ])('API-607 refuses %s', (text, why) => {
    expect(() => parseShardSelector(text)).toThrow(
      expect.objectContaining({ code: 400, message: expect.stringContaining(why) }),
    );
  });

  // The hashes are the published test values of 64-bit FNV-1a.
  it.each([
    ['', 0xcbf29ce484222325n],
    ['a', 0xaf63dc4c8601ec8cn],
    ['foobar', 0x85944171f73967e8n],
    ['chongo was here!\n', 0x46810940eff5f915n],
  ])('API-607 hashes %j by FNV-1a of 64 bits', (value, hash) => {
    const range = (from: bigint, to: bigint): string =>
      `shardRange(object.metadata.uid, '0x${from.toString(16)}', '0x${to.toString(16)}')`;
    expect(parseShardSelector(range(hash, hash + 1n)).matches(uid(value))).toBe(true);
    expect(parseShardSelector(range(hash - 1n, hash)).matches(uid(value))).toBe(false);
    expect(parseShardSelector(range(hash + 1n, hash + 2n)).matches(uid(value))).toBe(false);
  });

  it('API-607 two halves share out every object, by the namespace too', () => {
    const random = seededRandom(1);
    const half = ['0x0', '0x8000000000000000', '0x10000000000000000'];
    for (const field of ['uid', 'namespace']) {
      const shards = [0, 1].map((n) =>
        parseShardSelector(`shardRange(object.metadata.${field}, '${half[n]}', '${half[n + 1]}')`),
      );
      const both = parseShardSelector(shards.map(({ text }) => text).join(' || '));
      const sizes = [0, 0];
      for (let n = 0; n < 500; n++) {
        const metadata = { [field]: random.uuid() };
        const hits = shards.map((shard) => shard.matches(metadata));
        expect(hits.filter(Boolean)).toHaveLength(1);
        expect(both.matches(metadata)).toBe(true);
        sizes[hits.indexOf(true)]!++;
      }
      expect(Math.min(...sizes)).toBeGreaterThan(150);
    }
  });

  it('API-607 an object without a namespace has the hash of the empty text', () => {
    const only = "shardRange(object.metadata.namespace, '0xcbf29ce484222325', '0xcbf29ce484222326')";
    expect(parseShardSelector(only).matches({})).toBe(true);
  });
});
