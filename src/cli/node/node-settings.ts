import { existsSync } from 'node:fs';
import { DurationError, parseDuration } from '../../nodegc/config/go-duration.ts';
import { defaultConfiguration, type NodeConfiguration } from '../../nodegc/config/node-configuration.ts';
import { withDefaults } from '../../nodegc/config/read-configuration.ts';
import { ConfigurationError, validateConfiguration } from '../../nodegc/config/validate-configuration.ts';
import { CommandError } from '../process/command-error.ts';
import type { NodeFlags } from './node-options.ts';

/** The sockets of runtimes, in the order in which they are tried. */
const USUAL_ENDPOINTS = [
  'unix:///run/containerd/containerd.sock',
  'unix:///run/crio/crio.sock',
  'unix:///run/cri-dockerd.sock',
  'unix:///run/k3s/containerd/containerd.sock',
];
const ADVICE = 'Nothing was removed. Mend the configuration, then try again.';

function integerOf(flag: string, text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new CommandError(`invalid ${flag} "${text}"`, 'Give an integer.');
}

function durationOf(flag: string, text: string): bigint {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw new CommandError(`invalid ${flag} "${text}": ${error.message}`, 'Give a duration such as 2m or 1h30m.', {
      cause: error,
    });
  }
}

/** Validated settings from files and flags. Throws a {@link CommandError} in the kubelet's words. */
export async function nodeSettings(
  flags: NodeFlags,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<NodeConfiguration> {
  let settings = defaultConfiguration;
  for (const path of flags.config ?? []) {
    // Loaded only for a file, because YAML takes as much memory as all of node collection.
    const { readFileSettings } = await import('./file-settings.ts');
    settings = await readFileSettings(path, settings);
  }
  const given = <K extends string, T>(
    key: K,
    text: string | undefined,
    read: (text: string) => T,
  ): Partial<Record<K, T>> => (text === undefined ? {} : ({ [key]: read(text) } as Partial<Record<K, T>>));
  const integer = (flag: string) => (text: string) => integerOf(flag, text);
  const duration = (flag: string) => (text: string) => durationOf(flag, text);
  const plain = (text: string): string => text;
  settings = withDefaults({
    ...settings,
    ...given('imageGCHighThresholdPercent', flags.imageGcHighThreshold, integer('--image-gc-high-threshold')),
    ...given('imageGCLowThresholdPercent', flags.imageGcLowThreshold, integer('--image-gc-low-threshold')),
    ...given('imageMinimumGCAge', flags.minimumImageTtlDuration, duration('--minimum-image-ttl-duration')),
    ...given('runtimeRequestTimeout', flags.runtimeRequestTimeout, duration('--runtime-request-timeout')),
    ...given('containerRuntimeEndpoint', flags.containerRuntimeEndpoint, plain),
    ...given('stateFile', flags.stateFile, plain),
    ...given('accounting', flags.accounting, (text) => text as NodeConfiguration['accounting']),
    protect: [...settings.protect, ...(flags.protect ?? [])],
    containerGC: {
      ...settings.containerGC,
      ...given('minAge', flags.minimumContainerTtlDuration, duration('--minimum-container-ttl-duration')),
      ...given(
        'maxPerPodContainer',
        flags.maximumDeadContainersPerContainer,
        integer('--maximum-dead-containers-per-container'),
      ),
      ...given('maxContainers', flags.maximumDeadContainers, integer('--maximum-dead-containers')),
    },
  });
  if (settings.containerRuntimeEndpoint === '') {
    settings = { ...settings, containerRuntimeEndpoint: environment['CONTAINER_RUNTIME_ENDPOINT'] ?? usualEndpoint() };
  }
  try {
    validateConfiguration(settings);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new CommandError(error.message, ADVICE, { cause: error });
  }
  return settings;
}

function usualEndpoint(): string {
  const found = USUAL_ENDPOINTS.find((endpoint) => existsSync(endpoint.slice('unix://'.length)));
  if (found !== undefined) return found;
  throw new CommandError(
    'no container runtime was found on this machine',
    `Start one, or give its socket with --container-runtime-endpoint. These were tried: ${USUAL_ENDPOINTS.join(', ')}`,
  );
}
