import { checkCollected, checkFinalizer, checkOwnedBy, clusterFor, type Finding } from './check.ts';
import type { TestCluster } from './cluster.ts';
import type { Subject } from './client/object-ref.ts';

/**
 * The assertions of `expect(object)` after `expect.extend(kubegcMatchers)`. All are asynchronous: await them. Each waits until the cluster
 * is settled. A cluster is needed only for an object that did not come from `cluster.client`.
 */
export interface KubegcMatchers<R = unknown> {
  /** The object is gone. */
  toBeCollected(cluster?: TestCluster): Promise<R>;
  /** True if one of its owner references means this owner: by uid, or by kind and name for a reference without uid. */
  toBeOwnedBy(owner: Subject, cluster?: TestCluster): Promise<R>;
  /** The object has this finalizer. */
  toHaveFinalizer(finalizer: string, cluster?: TestCluster): Promise<R>;
}

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

const result = ({ pass, message }: Finding): MatcherResult => ({ pass, message: () => message });

/** For `expect.extend` of vitest and of runners with Jest's interface. */
export const kubegcMatchers = {
  async toBeCollected(subject: Subject, cluster?: TestCluster): Promise<MatcherResult> {
    return result(await checkCollected(clusterFor(subject, cluster), subject));
  },
  async toBeOwnedBy(subject: Subject, owner: Subject, cluster?: TestCluster): Promise<MatcherResult> {
    return result(await checkOwnedBy(clusterFor(subject, cluster), subject, owner));
  },
  async toHaveFinalizer(subject: Subject, finalizer: string, cluster?: TestCluster): Promise<MatcherResult> {
    return result(await checkFinalizer(clusterFor(subject, cluster), subject, finalizer));
  },
};
