import { describe, expect, it } from 'vitest';
import { parseFeatureGates } from './features.ts';

describe('parseFeatureGates', () => {
  it.each([
    ['', '1.36', []],
    ['ShardedListAndWatch=true', '1.36', ['ShardedListAndWatch']],
    [' ShardedListAndWatch = true , ManagedFieldsOptOut=true', '1.38', ['ShardedListAndWatch', 'ManagedFieldsOptOut']],
    ['ShardedListAndWatch=true,ShardedListAndWatch=false', '1.37', []],
  ] as const)('API-607 reads %j for %s', (text, version, gates) => {
    expect(parseFeatureGates(text, version)).toEqual(new Set(gates));
  });

  it.each([
    ['Nope=true', '1.36', 'unrecognized feature gate: Nope'],
    ['toString=true', '1.36', 'unrecognized feature gate: toString'],
    ['ManagedFieldsOptOut=true', '1.37', 'feature gate ManagedFieldsOptOut needs version 1.38 or later, not 1.37'],
    ['ShardedListAndWatch', '1.36', 'invalid value of ShardedListAndWatch: missing, use true or false'],
    ['ShardedListAndWatch=1', '1.36', 'invalid value of ShardedListAndWatch: 1, use true or false'],
  ] as const)('API-607 refuses %j for %s', (text, version, why) => {
    expect(parseFeatureGates(text, version)).toBe(why);
  });
});
