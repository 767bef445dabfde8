import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { formatTime } from '../../src/api/meta/time.ts';
import { type EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

export const NAMESPACE = 'default';
export const replicaSets = gvrOf('replicasets', 'apps');
export const deployments = gvrOf('deployments', 'apps');
export const statefulSets = gvrOf('statefulsets', 'apps');
export const daemonSets = gvrOf('daemonsets', 'apps');
export const controllerRevisions = gvrOf('controllerrevisions', 'apps');
export const replicationControllers = gvrOf('replicationcontrollers');
export const events = gvrOf('events');
export const strategic = 'application/strategic-merge-patch+json';
export const merge = 'application/merge-patch+json';

export const template = (labels: Record<string, string>, image = 'one', more: object = {}) => ({
  metadata: { labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image }], ...more },
});

/** Short ways to read and change the objects of a cluster, with time standing still meanwhile. */
export class Workloads {
  readonly cluster: EmbeddedCluster;

  constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
  }

  async list<T extends KubeObject = KubeObject>(gvr: ReturnType<typeof gvrOf>, labelSelector = ''): Promise<T[]> {
    const { client } = this.cluster;
    const query = labelSelector === '' ? {} : { query: { labelSelector } };
    const { items } = await this.cluster.wait(client.list<T>({ gvr, namespace: NAMESPACE }, query));
    return items;
  }

  pods(labelSelector = ''): Promise<KubeObject[]> {
    return this.list(pods, labelSelector);
  }

  get<T extends KubeObject = KubeObject>(gvr: ReturnType<typeof gvrOf>, name: string): Promise<T | undefined> {
    return this.cluster.get({ gvr, namespace: NAMESPACE, name }) as Promise<T | undefined>;
  }

  patch(gvr: ReturnType<typeof gvrOf>, name: string, body: object, type: typeof strategic | typeof merge = strategic) {
    return this.cluster.wait(this.cluster.client.patch({ gvr, namespace: NAMESPACE, name }, { type, body }));
  }

  delete(gvr: ReturnType<typeof gvrOf>, name: string, options: object = {}) {
    return this.cluster.wait(this.cluster.client.delete({ gvr, namespace: NAMESPACE, name }, options));
  }

  create(gvr: ReturnType<typeof gvrOf>, name: string, body: { metadata?: object; [field: string]: unknown }) {
    return this.cluster.create({ gvr, namespace: NAMESPACE }, { ...body, metadata: { name, ...body.metadata } });
  }

  /** Does the kubelet's part: every pod of the namespace that has not begun is running and ready. */
  async ready(labelSelector = ''): Promise<number> {
    let count = 0;
    for (const pod of await this.pods(labelSelector)) {
      const status = pod['status'] as { phase?: string };
      if (status.phase !== 'Pending' || pod.metadata?.deletionTimestamp) continue;
      const lastTransitionTime = formatTime(this.cluster.clock.now());
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
      const body = { status: { phase: 'Running', conditions } };
      const ref = { gvr: pods, namespace: NAMESPACE, name: pod.metadata?.name ?? '', subresource: 'status' };
      await this.cluster.wait(this.cluster.client.patch(ref, { type: strategic, body }));
      count++;
    }
    return count;
  }

  /** Until the condition holds; every pod becomes ready meanwhile if `ready` says so. */
  until(condition: () => Promise<boolean>, { ready = false, withinMs = 60_000 } = {}): Promise<number> {
    return this.cluster.until(
      async () => {
        if (ready) await this.ready();
        return condition();
      },
      { withinMs },
    );
  }

  /** Reason and message of the events of an object, in the order of their writing. */
  async eventsOf(name: string): Promise<string[]> {
    const all = await this.list(events);
    return all
      .toSorted((a, b) => Number(a.metadata?.resourceVersion) - Number(b.metadata?.resourceVersion))
      .filter((event) => (event['involvedObject'] as { name?: string }).name === name)
      .map((event) => `${String(event['type'])} ${String(event['reason'])} ${String(event['message'])}`);
  }
}
