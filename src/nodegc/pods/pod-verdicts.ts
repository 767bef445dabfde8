/** The fields of a Pod that decide whether its remains on the node may be removed. */
export interface KnownPod {
  readonly uid: string;
  /** For a mirror pod, the uid of its static pod (NODE-101). */
  readonly mirrorOf: string | undefined;
  readonly phase: string;
  readonly reason: string;
  readonly deleted: boolean;
  /** Images that its spec names. */
  readonly images: readonly string[];
}

/** Answers about pods, by uid. While `ready` is false, every answer is that nothing should be removed (NODE-100). */
export interface PodKnowledge {
  readonly ready: boolean;
  contentShouldBeRemoved(podUid: string): boolean;
  runtimeShouldBeRemoved(podUid: string): boolean;
  /** Images named by pods that are not finished (NODE-142). */
  readonly imagesInUse: ReadonlySet<string>;
}

/** No pod is known: the source is `none`, or the first list is not complete. */
export const noPodKnowledge: PodKnowledge = {
  ready: false,
  contentShouldBeRemoved: () => false,
  runtimeShouldBeRemoved: () => false,
  imagesInUse: new Set(),
};

const FINISHED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/**
 * Decides by the pods of the API server and the running containers (NODE-102).
 * @param pods undefined until the first complete list
 * @param running uids of pods with a running container
 */
export function podKnowledge(pods: readonly KnownPod[] | undefined, running: ReadonlySet<string>): PodKnowledge {
  if (pods === undefined) return noPodKnowledge;
  const byUid = new Map<string, KnownPod>();
  for (const pod of pods) {
    byUid.set(pod.uid, pod);
    if (pod.mirrorOf !== undefined) byUid.set(pod.mirrorOf, pod);
  }
  const terminated = (pod: KnownPod, uid: string): boolean => FINISHED.has(pod.phase) && !running.has(uid);
  return {
    ready: true,
    contentShouldBeRemoved(uid) {
      const pod = byUid.get(uid);
      if (pod === undefined) return true;
      const evicted = pod.phase === 'Failed' && pod.reason === 'Evicted';
      return terminated(pod, uid) && (evicted || pod.deleted);
    },
    runtimeShouldBeRemoved(uid) {
      const pod = byUid.get(uid);
      return pod === undefined || terminated(pod, uid);
    },
    imagesInUse: new Set(pods.filter(({ phase }) => !FINISHED.has(phase)).flatMap(({ images }) => images)),
  };
}

interface ContainerSpec {
  readonly image?: string;
}

/** The fields of a v1 Pod that are read. */
export interface PodObject {
  readonly metadata?: {
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly containers?: readonly ContainerSpec[];
    readonly initContainers?: readonly ContainerSpec[];
    readonly ephemeralContainers?: readonly ContainerSpec[];
    readonly volumes?: readonly { readonly image?: { readonly reference?: string } }[];
  };
  readonly status?: { readonly phase?: string; readonly reason?: string };
}

/** Reads a v1 Pod. Undefined if it has no uid. */
export function knownPod({ metadata = {}, spec = {}, status = {} }: PodObject): KnownPod | undefined {
  const { uid, annotations = {} } = metadata;
  if (uid === undefined || uid === '') return undefined;
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  const images = [
    ...[...containers, ...initContainers, ...ephemeralContainers].map(({ image }) => image),
    ...volumes.map(({ image }) => image?.reference),
  ];
  return {
    uid,
    mirrorOf: annotations['kubernetes.io/config.mirror'],
    phase: status.phase ?? '',
    reason: status.reason ?? '',
    deleted: metadata.deletionTimestamp !== undefined,
    images: images.filter((image): image is string => image !== undefined && image !== ''),
  };
}
