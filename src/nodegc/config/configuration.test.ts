import { describe, expect, it } from 'vitest';
import { DurationError, formatDuration, parseDuration } from './go-duration.ts';
import { defaultConfiguration } from './node-configuration.ts';
import { readConfiguration } from './read-configuration.ts';
import { checkImagePolicy, imageLoopRuns, validateConfiguration } from './validate-configuration.ts';

const kubelet = (fields: Record<string, unknown>) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  ...fields,
});
const own = (fields: Record<string, unknown>) => ({
  apiVersion: 'node.kubegc/v1alpha1',
  kind: 'NodeGCConfiguration',
  ...fields,
});
const faultOf = (act: () => unknown): string => {
  try {
    act();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};
const validate = (fields: Record<string, unknown>): string =>
  faultOf(() => validateConfiguration(readConfiguration(own(fields))));

const HIGH = 'imageGCHighThresholdPercent (--image-gc-high-threshold)';
const LOW = 'imageGCLowThresholdPercent (--image-gc-low-threshold)';

/** Refused settings, with the kubelet's words. */
const vectors: readonly [id: string, fields: Record<string, unknown>, message: string][] = [
  [
    'CF-01',
    { imageGCHighThresholdPercent: 101 },
    `invalid configuration: ${HIGH} 101 must be between 0 and 100, inclusive`,
  ],
  [
    'CF-02',
    { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80 },
    `invalid configuration: ${LOW} 80 must be less than ${HIGH} 80`,
  ],
  [
    'CF-03',
    { imageGCHighThresholdPercent: -1, imageGCLowThresholdPercent: 101 },
    `[invalid configuration: ${HIGH} -1 must be between 0 and 100, inclusive, invalid configuration: ${LOW} 101 must be between 0 and 100, inclusive, ` +
      `invalid configuration: ${LOW} 101 must be less than ${HIGH} -1]`,
  ],
  ['CF-04', { imageMaximumGCAge: '-1ns' }, 'invalid configuration: imageMaximumGCAge -1ns must not be negative'],
  [
    'CF-05',
    { imageMaximumGCAge: '1ns', imageMinimumGCAge: '2ns' },
    'invalid configuration: imageMaximumGCAge 1ns must be greater than imageMinimumGCAge 2ns',
  ],
  [
    'CF-06',
    { imageMaximumGCAge: '90s', imageMinimumGCAge: '0s' },
    'invalid configuration: imageMaximumGCAge 1m30s must be greater than imageMinimumGCAge 2m0s',
  ],
  [
    'CF-07',
    { imageMaximumGCAge: '2m', imageMinimumGCAge: '2m' },
    'invalid configuration: imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s',
  ],
  ['CF-08', { containerGC: { minAge: '-1s' } }, 'invalid minimum garbage collection age: -1s'],
  ['CF-12', { imageMaximumGCAge: '7d' }, 'imageMaximumGCAge: time: unknown unit "d" in duration "7d"'],
];

describe('configuration', () => {
  it.each(vectors)('NODE-002, 004, 005 %s is refused in the words of the kubelet', (_, fields, message) => {
    expect(validate(fields)).toBe(message);
  });

  it('NODE-002 refuses a maximum age without its feature gate, and fewer than -1 images in the status', () => {
    expect(validate({ imageMaximumGCAge: '1h', featureGates: { ImageMaximumGCAge: false } })).toBe(
      'invalid configuration: ImageMaximumGCAge feature gate is required for Kubelet configuration option imageMaximumGCAge',
    );
    expect(validate({ nodeStatusMaxImages: -2 })).toBe(
      'invalid configuration: nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater',
    );
  });

  it('NODE-212 refuses a selector of labels that cannot be read', () => {
    expect(validate({ protect: ['label:app=web,tier in (db)', 'busybox'] })).toBe('accepted');
    expect(validate({ protect: ['label:'] })).toBe(
      'invalid configuration: protect "label:" cannot be read: the selector is empty',
    );
    expect(validate({ protect: ['label:tier in ('] })).toContain('protect "label:tier in (" cannot be read: ');
  });

  it('NODE-001 CF-11 has the defaults of the kubelet for an empty file', () => {
    const read = readConfiguration(null);
    expect([read.imageGCHighThresholdPercent, read.imageGCLowThresholdPercent]).toEqual([85, 80]);
    expect([read.imageMinimumGCAge, read.imageMaximumGCAge, read.containerGC.minAge].map(formatDuration)).toEqual([
      '2m0s',
      '0s',
      '0s',
    ]);
    expect([read.containerGC.maxPerPodContainer, read.containerGC.maxContainers]).toEqual([1, -1]);
    expect([read.podLogsDir, read.containerLogsDir, read.nodeStatusMaxImages]).toEqual([
      '/var/log/pods/',
      '/var/log/containers',
      50,
    ]);
  });

  it('NODE-001 reads from the file of a kubelet what concerns collection, and ignores the rest', () => {
    const read = readConfiguration(
      kubelet({
        imageGCHighThresholdPercent: 70,
        clusterDNS: ['10.0.0.10'],
        maxPods: 9,
        containerGC: { minAge: '1h' },
      }),
    );
    expect([read.imageGCHighThresholdPercent, read.containerGC.minAge]).toEqual([70, 0n]);
  });

  it('NODE-001 names an unknown key, a wrong type and an unknown kind', () => {
    expect(validate({ imageGCHigh: 1 })).toBe('strict decoding error: unknown field "imageGCHigh"');
    expect(validate({ containerGC: { minAgee: '1s' } })).toBe(
      'strict decoding error: unknown field "containerGC.minAgee"',
    );
    expect(validate({ imageGCHighThresholdPercent: '85' })).toBe(
      'imageGCHighThresholdPercent: Invalid value: "85": must be an integer',
    );
    expect(faultOf(() => readConfiguration({ apiVersion: 'v1', kind: 'Pod' }))).toContain(
      'no kind "Pod" is registered for version "v1"',
    );
    expect(faultOf(() => readConfiguration('text'))).toContain('must be a map');
  });

  it('NODE-003 checks the policy of a caller of the library in the words of the image manager', () => {
    expect(faultOf(() => checkImagePolicy({ high: 80, low: 80 }))).toBe('accepted');
    expect(faultOf(() => checkImagePolicy({ high: 101, low: 0 }))).toBe(
      'invalid HighThresholdPercent 101, must be in range [0-100]',
    );
    expect(faultOf(() => checkImagePolicy({ high: 10, low: -1 }))).toBe(
      'invalid LowThresholdPercent -1, must be in range [0-100]',
    );
    expect(faultOf(() => checkImagePolicy({ high: 10, low: 11 }))).toBe(
      'LowThresholdPercent 11 can not be higher than HighThresholdPercent 10',
    );
  });

  it('NODE-006 refuses a negative minimum age', () => {
    expect(validate({ imageMinimumGCAge: '-1s' })).toBe(
      'invalid configuration: imageMinimumGCAge -1s must not be negative',
    );
  });

  it('NODE-008, 214 lifts the order of the ages when they are independent', () => {
    expect(validate({ imageMaximumGCAge: '1m', imageAges: 'independent' })).toBe('accepted');
  });

  it('NODE-060 CF-09, CF-10 starts the image loop only when it has something to do', () => {
    const loop = (more: object): boolean =>
      imageLoopRuns({ ...defaultConfiguration, imageGCHighThresholdPercent: 100, ...more });
    expect([
      loop({}),
      loop({ imageMaximumGCAge: 1n }),
      loop({ imageMaximumGCAge: 1n, featureGates: { ImageMaximumGCAge: false } }),
    ]).toEqual([false, true, false]);
    expect(imageLoopRuns(defaultConfiguration)).toBe(true);
  });

  it('names what is wrong with settings that the kubelet does not have', () => {
    expect(validate({ containerRuntimeEndpoint: 'http://x' })).toContain(
      'must be a URL such as unix:///run/containerd/containerd.sock',
    );
    expect(validate({ evictionHard: { 'disk.available': '1%' } })).toContain(
      'unknown eviction signal "disk.available"',
    );
    expect(validate({ evictionHard: { 'nodefs.available': '101%' } })).toContain(
      '"101%" is neither a quantity nor a percentage',
    );
    expect(validate({ keepNewest: { app: 0 } })).toContain('keepNewest "app" 0 must be 1 or greater');
    expect(validate({ parallelRemovals: 0, inodesHighPercent: 50, stateFile: 'x' })).toMatch(
      /parallelRemovals 0 .*stateFile "x"|stateFile "x".*parallelRemovals 0/,
    );
  });
});

describe('durations', () => {
  it('NODE-007 prints as Go does', () => {
    const texts = ['0s', '-1ns', '1.5s', '2m0s', '12h45m0s', '168h0m0s', '1.5µs', '20ms'];
    expect(texts.map((text) => formatDuration(parseDuration(text)))).toEqual(texts);
    expect(formatDuration(parseDuration('1h0.5s'))).toBe('1h0m0.5s');
  });

  it('NODE-007 refuses with the words of Go', () => {
    const fault = (text: string): string => faultOf(() => parseDuration(text));
    expect(fault('30')).toBe('time: missing unit in duration "30"');
    expect(fault('7d')).toBe('time: unknown unit "d" in duration "7d"');
    expect([fault('abc'), fault(''), fault('-'), fault('.s'), fault('9999999999999999h')]).toEqual(
      ['abc', '', '-', '.s', '9999999999999999h'].map((text) => `time: invalid duration ${JSON.stringify(text)}`),
    );
    expect(() => parseDuration('1x')).toThrow(DurationError);
  });
});
