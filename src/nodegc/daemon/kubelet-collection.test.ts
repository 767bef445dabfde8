import { describe, expect, it } from 'vitest';
import { kubeletImageCollection } from './kubelet-collection.ts';

describe('kubeletImageCollection', () => {
  it.each([
    [{ imageGCHighThresholdPercent: 100, imageMaximumGCAge: '0s' }, []],
    [{ imageGCHighThresholdPercent: 100 }, []],
    [{ imageGCHighThresholdPercent: 85, imageMaximumGCAge: '0s' }, ['imageGCHighThresholdPercent: 85']],
    [{ imageGCHighThresholdPercent: 100, imageMaximumGCAge: '24h0m0s' }, ['imageMaximumGCAge: 24h0m0s']],
    [{}, ['imageGCHighThresholdPercent: 85']],
  ])('NODE-141 reads in %o that the kubelet collects by %o', (kubeletconfig, settings) => {
    expect(kubeletImageCollection({ kubeletconfig })).toEqual(settings);
  });
});
