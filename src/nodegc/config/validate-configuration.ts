import { messageOf } from '../../base/errors/thrown.ts';
import { parseProtectPattern } from '../patterns/protect-pattern.ts';
import { formatDuration } from './go-duration.ts';
import type { NodeConfiguration } from './node-configuration.ts';
import { parseThreshold, SIGNALS } from './eviction-threshold.ts';

/** The configuration cannot be used. The message names each fault once, in the kubelet's words where the kubelet knows the fault. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigurationError';
  }
}

/** One message stays as it is; several become `[e1, e2]`, without duplicates (NODE-004). */
export function aggregate(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}

const inPercent = (value: number): boolean => value >= 0 && value <= 100;

/** Faults of the kubelet's settings, in the kubelet's order and words (NODE-002), then faults of our own settings. */
export function configurationFaults(c: NodeConfiguration): string[] {
  const faults: string[] = [];
  const fault = (when: boolean, message: string): void => {
    if (when) faults.push(`invalid configuration: ${message}`);
  };
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = c;
  const { imageMaximumGCAge: maxAge, imageMinimumGCAge: minAge } = c;
  const highName = 'imageGCHighThresholdPercent (--image-gc-high-threshold)';
  const lowName = 'imageGCLowThresholdPercent (--image-gc-low-threshold)';
  fault(!inPercent(high), `${highName} ${high} must be between 0 and 100, inclusive`);
  fault(!inPercent(low), `${lowName} ${low} must be between 0 and 100, inclusive`);
  fault(low >= high, `${lowName} ${low} must be less than ${highName} ${high}`);
  fault(
    maxAge !== 0n && c.featureGates['ImageMaximumGCAge'] === false,
    'ImageMaximumGCAge feature gate is required for Kubelet configuration option imageMaximumGCAge',
  );
  fault(maxAge < 0n, `imageMaximumGCAge ${formatDuration(maxAge)} must not be negative`);
  fault(
    c.imageAges === 'kubelet' && maxAge > 0n && maxAge <= minAge,
    `imageMaximumGCAge ${formatDuration(maxAge)} must be greater than imageMinimumGCAge ${formatDuration(minAge)}`,
  );
  fault(minAge < 0n, `imageMinimumGCAge ${formatDuration(minAge)} must not be negative`);
  const images = c.nodeStatusMaxImages;
  fault(images < -1, `nodeStatusMaxImages (--node-status-max-images) ${images} must be -1 or greater`);
  if (c.containerGC.minAge < 0n) {
    faults.push(`invalid minimum garbage collection age: ${formatDuration(c.containerGC.minAge)}`);
  }
  return [...faults, ...ownFaults(c)];
}

function ownFaults(c: NodeConfiguration): string[] {
  const faults: string[] = [];
  const fault = (when: boolean, message: string): void => {
    if (when) faults.push(`invalid configuration: ${message}`);
  };
  fault(c.containerGC.maxAge < 0n, `containerGC.maxAge ${formatDuration(c.containerGC.maxAge)} must not be negative`);
  fault(!c.podLogsDir.startsWith('/'), `podLogsDir "${c.podLogsDir}" must be an absolute path`);
  fault(!c.containerLogsDir.startsWith('/'), `containerLogsDir "${c.containerLogsDir}" must be an absolute path`);
  fault(!c.stateFile.startsWith('/'), `stateFile "${c.stateFile}" must be an absolute path`);
  const timeout = formatDuration(c.runtimeRequestTimeout);
  fault(c.runtimeRequestTimeout <= 0n, `runtimeRequestTimeout ${timeout} must be greater than 0`);
  fault(c.protectRecent < 0n, `protectRecent ${formatDuration(c.protectRecent)} must not be negative`);
  const parallel = c.parallelRemovals;
  fault(parallel < 1 || parallel > 64, `parallelRemovals ${parallel} must be between 1 and 64, inclusive`);
  const { inodesHighPercent: high, inodesLowPercent: low } = c;
  fault(!inPercent(high), `inodesHighPercent ${high} must be between 0 and 100, inclusive`);
  fault(!inPercent(low), `inodesLowPercent ${low} must be between 0 and 100, inclusive`);
  fault(low >= high, `inodesLowPercent ${low} must be less than inodesHighPercent ${high}`);
  for (const [pattern, count] of Object.entries(c.keepNewest)) {
    fault(count < 1, `keepNewest "${pattern}" ${count} must be 1 or greater`);
  }
  fault(c.protect.includes(''), 'protect must not have an empty pattern');
  for (const pattern of c.protect) {
    try {
      parseProtectPattern(pattern);
    } catch (error) {
      fault(true, `protect "${pattern}" cannot be read: ${messageOf(error)}`);
    }
  }
  for (const endpoint of ['containerRuntimeEndpoint', 'imageServiceEndpoint'] as const) {
    fault(
      c[endpoint] !== '' && !/^unix:\/\/\/./.test(c[endpoint]),
      `${endpoint} "${c[endpoint]}" must be a URL such as unix:///run/containerd/containerd.sock`,
    );
  }
  for (const field of ['evictionHard', 'evictionMinimumReclaim'] as const) {
    for (const [signal, value] of Object.entries(c[field])) {
      fault(!(SIGNALS as readonly string[]).includes(signal), `${field}: unknown eviction signal "${signal}"`);
      fault(
        parseThreshold(value) === undefined,
        `${field} "${signal}": "${value}" is neither a quantity nor a percentage`,
      );
    }
  }
  return faults;
}

/** @throws ConfigurationError that names every fault */
export function validateConfiguration(configuration: NodeConfiguration): void {
  const faults = configurationFaults(configuration);
  if (faults.length > 0) throw new ConfigurationError(aggregate(faults));
}

/** The checks of the constructor of the kubelet's image manager, in its words. Equal thresholds are allowed here (NODE-003). */
export function checkImagePolicy({ high, low }: { readonly high: number; readonly low: number }): void {
  const refuse = (message: string): never => {
    throw new ConfigurationError(message);
  };
  if (!inPercent(high)) refuse(`invalid HighThresholdPercent ${high}, must be in range [0-100]`);
  if (!inPercent(low)) refuse(`invalid LowThresholdPercent ${low}, must be in range [0-100]`);
  if (low > high) refuse(`LowThresholdPercent ${low} can not be higher than HighThresholdPercent ${high}`);
}

/** False when the image loop has nothing to do: the high threshold is 100 and there is no maximum age (NODE-060). */
export function imageLoopRuns(c: NodeConfiguration): boolean {
  const byAge = c.imageMaximumGCAge > 0n && c.featureGates['ImageMaximumGCAge'] !== false;
  return c.imageGCHighThresholdPercent < 100 || byAge;
}
