import { HOUR, MINUTE, SECOND } from './go-duration.ts';

export type Accounting = 'measured' | 'kubelet';
/** `auto` becomes `besideKubelet` or `standalone` when the daemon starts (NODE-140). */
export type NodeMode = 'auto' | 'besideKubelet' | 'standalone' | 'audit';

/** Which dead containers stay (NODE-081 to NODE-085). Durations in nanoseconds. */
export interface ContainerGCSettings {
  readonly minAge: bigint;
  /** Dead containers that each container of a pod keeps; below 0: all. */
  readonly maxPerPodContainer: number;
  /** Dead containers on the node; below 0: any number. */
  readonly maxContainers: number;
  /** From when the age of a dead container counts (NODE-222). */
  readonly minAgeFrom: 'created' | 'finished';
  /** Dead containers that are older go in any case; 0: never (NODE-222). */
  readonly maxAge: bigint;
  /** Fills every place that `maxContainers` allows (NODE-221). */
  readonly useAllPlaces: boolean;
}

/** Settings of node collection, all defaults applied. Durations in nanoseconds. */
export interface NodeConfiguration {
  readonly imageMinimumGCAge: bigint;
  /** 0: images are not collected by age. */
  readonly imageMaximumGCAge: bigint;
  readonly imageGCHighThresholdPercent: number;
  readonly imageGCLowThresholdPercent: number;
  readonly containerGC: ContainerGCSettings;
  readonly podLogsDir: string;
  readonly containerLogsDir: string;
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeout: bigint;
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
  readonly nodeStatusMaxImages: number;
  readonly featureGates: Readonly<Record<string, boolean>>;

  readonly mode: NodeMode;
  readonly accounting: Accounting;
  /** `independent` lifts the rule that the maximum age is above the minimum age (NODE-214). */
  readonly imageAges: 'kubelet' | 'independent';
  /** Which image of those that may go is removed first (NODE-203). */
  readonly choose: 'fewest' | 'leastRecentlyUsed';
  /** Images used within this time go last (NODE-203). */
  readonly protectRecent: bigint;
  readonly parallelRemovals: number;
  readonly inodesHighPercent: number;
  readonly inodesLowPercent: number;
  /** References, globs, digests and ids that are never removed (NODE-212). */
  readonly protect: readonly string[];
  /** By glob of a repository: how many of its images stay (NODE-213). */
  readonly keepNewest: Readonly<Record<string, number>>;
  /** `cluster` leaves images alone that no pod of this node has used (NODE-215). */
  readonly scope: 'node' | 'cluster';
  readonly collectForeign: boolean;
  readonly imageVolumes: boolean;
  readonly dryRun: boolean;
  readonly stateFile: string;
  readonly metrics: { readonly kubeletNames: boolean };
}

/** Defaults of the kubelet, and of what the kubelet does not have (NODE-001). */
export const defaultConfiguration: NodeConfiguration = {
  imageMinimumGCAge: 2n * MINUTE,
  imageMaximumGCAge: 0n,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  containerGC: {
    minAge: 0n,
    maxPerPodContainer: 1,
    maxContainers: -1,
    minAgeFrom: 'created',
    maxAge: 0n,
    useAllPlaces: false,
  },
  podLogsDir: '/var/log/pods/',
  containerLogsDir: '/var/log/containers',
  containerRuntimeEndpoint: '',
  imageServiceEndpoint: '',
  runtimeRequestTimeout: 120n * SECOND,
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
  },
  evictionMinimumReclaim: {},
  nodeStatusMaxImages: 50,
  featureGates: {},
  mode: 'auto',
  accounting: 'measured',
  imageAges: 'kubelet',
  choose: 'fewest',
  protectRecent: 24n * HOUR,
  parallelRemovals: 8,
  inodesHighPercent: 95,
  inodesLowPercent: 90,
  protect: [],
  keepNewest: {},
  scope: 'node',
  collectForeign: false,
  imageVolumes: true,
  dryRun: false,
  stateFile: '/var/lib/kubegc/node-state.json',
  metrics: { kubeletNames: false },
};
