import { describe, expect, it } from 'vitest';
import { selectControllers } from './controllers.ts';

const gc = 'garbage-collector-controller';
const namespace = 'namespace-controller';
const serviceAccount = 'serviceaccount-controller';
const rootCa = 'root-ca-certificate-publisher-controller';
const token = 'serviceaccount-token-controller';
const aggregation = 'clusterrole-aggregation-controller';
const quota = 'resourcequota-controller';
const claims = 'persistentvolumeclaim-protection-controller';
const volumes = 'persistentvolume-protection-controller';

describe('--controllers (COL-200)', () => {
  it.each([
    { words: ['*'], expected: [gc, namespace, serviceAccount, rootCa, token, aggregation, quota, claims, volumes] },
    { words: [`*,-${gc}`], expected: [namespace, serviceAccount, rootCa, token, aggregation, quota, claims, volumes] },
    {
      words: ['*', '-garbagecollector'],
      expected: [namespace, serviceAccount, rootCa, token, aggregation, quota, claims, volumes],
    },
    { words: [gc], expected: [gc] },
    { words: ['garbagecollector, namespace'], expected: [gc, namespace] },
    {
      words: [`-${gc}`, '*', gc],
      expected: [namespace, serviceAccount, rootCa, token, aggregation, quota, claims, volumes],
    },
    { words: [''], expected: [] },
  ])('$words selects $expected', ({ words, expected }) => {
    expect([...selectControllers(words)]).toEqual(expected);
  });

  it('refuses a name it does not know and lists those it knows', () => {
    expect(() => selectControllers(['*', 'garbage'])).toThrow('"garbage" is not in the list of known controllers');
  });
});
