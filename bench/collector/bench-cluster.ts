import type { PropagationPolicy } from '../../src/client/rest/delete-options.ts';
import { apiVersionOf, type GroupVersionResource } from '../../src/api/meta/group-version-kind.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { isAlreadyExists } from '../../src/api/status-error.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemKubeconfigIo } from '../../src/cli/process/system-kubeconfig-io.ts';
import { loadClientConfig } from '../../src/client/kubeconfig/client-config.ts';
import { connect } from '../../src/client/http/connect.ts';
import type { ClientConfig } from '../../src/client/http/connect-options.ts';
import type { ResourceRef } from '../../src/client/rest/resource-path.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';

const NAMESPACE = 'kubegc-bench';

/** The kind of the objects of a benchmark. */
export interface BenchKind {
  readonly kind: string;
  readonly gvr: GroupVersionResource;
  /** The least that every kube-apiserver takes, beside metadata. */
  readonly body: object;
}

const labels = { app: NAMESPACE };
const containers = [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }];
const template = { metadata: { labels }, spec: { containers } };
/**
 * The spec of a Deployment or ReplicaSet that does nothing, also where its controller runs: it wants no replicas. No object here has its
 * labels or names it as the controller, so the controller adopts none.
 */
const idle = { replicas: 0, selector: { matchLabels: labels }, template };

export const CONFIG_MAP: BenchKind = {
  kind: 'ConfigMap',
  gvr: { group: '', version: 'v1', resource: 'configmaps' },
  body: {},
};
/** No scheduler of that name gives it a node: what was never started is deleted at once (API-310). */
export const POD: BenchKind = {
  kind: 'Pod',
  gvr: { group: '', version: 'v1', resource: 'pods' },
  body: { spec: { schedulerName: NAMESPACE, automountServiceAccountToken: false, containers } },
};
export const REPLICA_SET: BenchKind = {
  kind: 'ReplicaSet',
  gvr: { group: 'apps', version: 'v1', resource: 'replicasets' },
  body: { spec: idle },
};
/** Paused, so that its controller makes no ReplicaSet. */
export const DEPLOYMENT: BenchKind = {
  kind: 'Deployment',
  gvr: { group: 'apps', version: 'v1', resource: 'deployments' },
  body: { spec: { ...idle, paused: true } },
};

export interface Wanted {
  readonly of: BenchKind;
  readonly name: string;
  /** None unless given. */
  readonly owners?: readonly KubeObject[];
  /** Its references block. */
  readonly block?: boolean;
}

/** Objects in one namespace of any cluster, through the product's own client. */
export class BenchCluster {
  readonly #config: ClientConfig;
  readonly #client: RestClient;
  readonly #inFlight: number;

  private constructor(config: ClientConfig, inFlight: number) {
    this.#config = config;
    this.#inFlight = inFlight;
    this.#client = this.newClient();
  }

  /** `inFlight`: calls under way at once. */
  static async open(kubeconfig: string, inFlight: number): Promise<BenchCluster> {
    const config = await loadClientConfig({ io: systemKubeconfigIo, clock: systemClock, path: kubeconfig });
    const cluster = new BenchCluster(config, inFlight);
    await cluster.#ensure('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    // No pod is made without it, and nobody may be there to make it.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await cluster.#ensure('serviceaccounts', account, NAMESPACE);
    return cluster;
  }

  async #ensure(resource: string, object: object, namespace?: string): Promise<void> {
    const ref = { gvr: { group: '', version: 'v1', resource }, ...(namespace === undefined ? {} : { namespace }) };
    await this.#client.create(ref, object).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }

  /** Returns a second client with its own connections. */
  newClient(): RestClient {
    const transport = connect({ ...this.#config, clock: systemClock });
    return new RestClient({ transport, clock: systemClock, userAgent: 'kubegc-bench' });
  }

  create({ of, name, owners = [], block = false }: Wanted): Promise<KubeObject> {
    const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata?.name,
      uid: metadata?.uid,
      ...(block ? { blockOwnerDeletion: true } : {}),
    }));
    const { gvr, kind, body } = of;
    const object = { apiVersion: apiVersionOf(gvr), kind, metadata: { name, ownerReferences }, ...body };
    return this.#client.create(refTo(of), object);
  }

  async createMany(count: number, wanted: (n: number) => Wanted): Promise<KubeObject[]> {
    const made: KubeObject[] = Array.from({ length: count });
    await this.each(count, async (n) => {
      made[n] = await this.create(wanted(n));
    });
    return made;
  }

  async delete(of: BenchKind, name: string, propagationPolicy: PropagationPolicy): Promise<void> {
    await this.#client.delete(refTo(of, name), { propagationPolicy });
  }

  async each(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: this.#inFlight }, loop));
  }

  /** Objects of these kinds. One of each is asked for: a page of them would hold up what is measured. */
  async count(kinds: readonly BenchKind[]): Promise<number> {
    const counts = await Promise.all(
      kinds.map(async (of) => {
        const { items, metadata } = await this.#client.list(refTo(of), { query: { limit: 1 } });
        return items.length + (metadata.remainingItemCount ?? 0);
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Until only so many are left. Asks the more often the closer it is, so that the end is not missed by more than a millisecond or two. */
  async gone(kinds: readonly BenchKind[], others: number): Promise<void> {
    for (let left = await this.count(kinds); left > others; left = await this.count(kinds)) {
      await pause(Math.min(20, Math.max(1, (left - others) / 50)));
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

export function refTo({ gvr }: BenchKind, name?: string): ResourceRef {
  return { gvr, namespace: NAMESPACE, ...(name === undefined ? {} : { name }) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
