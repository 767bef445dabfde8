import { describe, expect, it } from 'vitest';
import { pod } from './fixtures.ts';
import { graceRuleOf, podGrace } from './pod-grace.ts';

describe('podGrace', () => {
  it.each([
    ['the option', {}, 7, 7],
    ['the spec', {}, undefined, 30],
    ['zero asked for', {}, 0, 0],
    ['no node', { nodeName: '' }, 7, 0],
    ['succeeded', { phase: 'Succeeded' }, 7, 0],
    ['failed', { phase: 'Failed' }, 7, 0],
    ['pending on a node', { phase: 'Pending' }, undefined, 30],
    ['negative in the spec', { terminationGracePeriodSeconds: -3 }, undefined, 1],
    ['a long integer', { terminationGracePeriodSeconds: 9223372036854775807n }, undefined, 2 ** 63],
  ])('API-310 LIFE-501 %s', (_, shape, requested, want) => {
    expect(podGrace(pod(shape), requested)).toBe(want);
  });

  it('API-310 LIFE-501 nothing said anywhere is 0', () => {
    expect(podGrace({ spec: { nodeName: 'x' } }, undefined)).toBe(0);
    expect(podGrace({}, 5)).toBe(0);
  });
});

describe('graceRuleOf', () => {
  it('API-255 only pods of the core group are graceful', () => {
    expect(graceRuleOf({ group: '', resource: 'pods' })).toBe(podGrace);
    expect(graceRuleOf({ group: 'x.io', resource: 'pods' })).toBeUndefined();
    expect(graceRuleOf({ group: '', resource: 'services' })).toBeUndefined();
  });
});
