/** The module behind `kubegc/nodegc`: image and container collection on one node, as a component of a program. */
import { systemClock } from '../base/time/clock.ts';
import { type Logger, silentLogger } from '../base/logs/logger.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import { defaultConfiguration, type NodeConfiguration } from '../nodegc/config/node-configuration.ts';
import { NodeCollection } from '../nodegc/daemon/node-collection.ts';

/** Facts about the node that a program supplies. */
export interface OpenNodeOptions {
  /** Socket of the container runtime, `unix:///…`. */
  readonly containerRuntimeEndpoint: string;
  /** Settings that differ from the kubelet's defaults; durations in nanoseconds. */
  readonly configuration?: Partial<NodeConfiguration> | undefined;
  /** Silent by default. */
  readonly logger?: Logger | undefined;
  /** Counts nothing by default. */
  readonly metrics?: Metrics | undefined;
}

/**
 * Connects to the container runtime of this machine. Nothing is removed before `images.collect` or `containers.collect` is called. Without
 * a state file, the age of an image is that of the runtime's record. Close it at the end.
 */
export function openNodeCollection(options: OpenNodeOptions): Promise<NodeCollection> {
  const { containerRuntimeEndpoint, configuration = {}, logger = silentLogger, metrics } = options;
  return NodeCollection.open({
    configuration: { ...defaultConfiguration, ...configuration, containerRuntimeEndpoint },
    clock: systemClock,
    logger,
    ...(metrics === undefined ? {} : { metrics }),
    remember: false,
    unknownImages: 'asRecorded',
  });
}

export { NodeCollection } from '../nodegc/daemon/node-collection.ts';
export { defaultConfiguration, type NodeConfiguration } from '../nodegc/config/node-configuration.ts';
export { ConfigurationError } from '../nodegc/config/validate-configuration.ts';
export { RuntimeCallError } from '../nodegc/inventory/runtime.ts';
