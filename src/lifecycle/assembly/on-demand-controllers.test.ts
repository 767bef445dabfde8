import { describe, expect, it } from 'vitest';
import type { LifecycleSettings } from './lifecycle-settings.ts';
import { selectOnDemand } from './on-demand-controllers.ts';

const TTL = 'ttl-after-finished-controller';
const CLAIMS = 'persistentvolumeclaim-protection-controller';
const names = (selected: readonly string[], settings: LifecycleSettings) =>
  selectOnDemand(new Set(selected), settings).map(({ name, wakes }) => [name, ...wakes.map(({ gvr }) => gvr.resource)]);

describe('controllers that start on demand', () => {
  it('LIFE-156 LIFE-823 the part about unused claims runs only by option, and with the protection of claims', () => {
    expect(names([CLAIMS], {})).toEqual([]);
    expect(names([CLAIMS], { unusedClaims: 'report' })).toEqual([[CLAIMS, 'persistentvolumeclaims']]);
    expect(names([TTL], { unusedClaims: 'delete' })).toEqual([[TTL, 'jobs']]);
  });

  it('LIFE-067 the TTL of bare pods runs only by option, and with the TTL of Jobs', () => {
    expect(names([TTL], {})).toEqual([[TTL, 'jobs']]);
    expect(names([TTL], { podTtl: true })).toEqual([
      [TTL, 'jobs'],
      [TTL, 'pods'],
    ]);
    expect(names([CLAIMS], { podTtl: true })).toEqual([]);
  });

  it('LIFE-090 the TTL of any kind runs only by option, and starts at once', () => {
    expect(names([TTL], { genericTtl: { alsoKinds: [] } })).toEqual([[TTL, 'jobs'], [TTL]]);
    expect(names([CLAIMS], { genericTtl: { alsoKinds: [] } })).toEqual([]);
  });

  it('LIFE-681 only an account with generated Secrets starts the clean-up of tokens', () => {
    const [cleaner] = selectOnDemand(new Set(['legacy-serviceaccount-token-cleaner-controller']), {});
    const { gvr, when } = cleaner!.wakes[0]!;
    expect(gvr.resource).toBe('serviceaccounts');
    expect([when?.({ secrets: [{ name: 's' }] }), when?.({ secrets: [] }), when?.({})]).toEqual([true, false, false]);
  });
});
