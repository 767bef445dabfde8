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
  /** The time from which the age of a dead container counts (NODE-222). */
  readonly minAgeFrom: 'created' | 'finished';
  /** Dead containers older than this are removed in any case; 0: none (NODE-222). */
  readonly maxAge: bigint;
  /** Keeps as many dead containers as `maxContainers` allows (NODE-221). */
  readonly useAllPlaces: boolean;
}

/** Settings of node collection, all defaults applied. Durations in nanoseconds. */
export interface NodeConfiguration {
  /** An image that was first seen within this time stays. */
  readonly imageMinimumGCAge: bigint;
  /** 0: images are not collected by age. */
  readonly imageMaximumGCAge: bigint;
  /** Use of the disk that starts a collection, in percent. */
  readonly imageGCHighThresholdPercent: number;
  /** Use of the disk that ends a collection, in percent. */
  readonly imageGCLowThresholdPercent: number;
  /** Which dead containers stay. */
  readonly containerGC: ContainerGCSettings;
  /** Directory of logs, one entry for each pod. */
  readonly podLogsDir: string;
  /** Directory of links to the logs of containers. */
  readonly containerLogsDir: string;
  /** Socket of the runtime service, `unix:///…`. */
  readonly containerRuntimeEndpoint: string;
  /** Socket of the image service; empty: that of the runtime service. */
  readonly imageServiceEndpoint: string;
  /** Time limit of one call to the runtime; the removal of an image has no limit. */
  readonly runtimeRequestTimeout: bigint;
  /** Eviction thresholds by signal, in the kubelet's form. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** Accepted because a kubelet's file may have it; collection does not depend on it. */
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
  /** Accepted because a kubelet's file may have it; collection does not depend on it. */
  readonly nodeStatusMaxImages: number;
  /** Feature gates of the kubelet; only `ImageMaximumGCAge` has an effect. */
  readonly featureGates: Readonly<Record<string, boolean>>;

  /** Which resources are collected beside a kubelet, and whether anything is removed. */
  readonly mode: NodeMode;
  /** `measured` measures the file system, `kubelet` uses the sizes that the runtime reports. */
  readonly accounting: Accounting;
  /** `independent` lifts the rule that the maximum age is above the minimum age (NODE-214). */
  readonly imageAges: 'kubelet' | 'independent';
  /** Which of the removable images is removed first (NODE-203). */
  readonly choose: 'fewest' | 'leastRecentlyUsed';
  /** Images used within this time are removed last (NODE-203). */
  readonly protectRecent: bigint;
  /** Maximum number of concurrent image removals. */
  readonly parallelRemovals: number;
  /** Use of inodes that starts a collection, in percent. */
  readonly inodesHighPercent: number;
  /** Use of inodes that ends a collection, in percent. */
  readonly inodesLowPercent: number;
  /** References, globs, digests, ids and selectors of labels (`label:app=web`) of images that are never removed (NODE-212). */
  readonly protect: readonly string[];
  /** Number of images of a repository that stay, by the repository's glob (NODE-213). */
  readonly keepNewest: Readonly<Record<string, number>>;
  /** With `cluster`, images that no pod of this node has used are not removed (NODE-215). */
  readonly scope: 'node' | 'cluster';
  /** Also collects containers and sandboxes that carry no uid of a pod. */
  readonly collectForeign: boolean;
  /** Whether images that a container mounts as a volume count as in use. */
  readonly imageVolumes: boolean;
  /** Plans and reports, removes nothing. */
  readonly dryRun: boolean;
  /** The file that remembers uses of images; an absolute path. */
  readonly stateFile: string;
  /** Whether metrics are also counted under the names of the kubelet. */
  readonly metrics: { readonly kubeletNames: boolean };
}

/** The defaults of the kubelet, and our own for settings that the kubelet does not have (NODE-001). */
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
