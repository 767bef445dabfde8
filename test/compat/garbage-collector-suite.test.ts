import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { type Answer, ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/**
 * The steps of the eleven tests that Kubernetes itself has for its garbage collector (`test/e2e/apimachinery/garbage_collector.go`), with their
 * time limits, in namespaces of their own and side by side, as its runner plays them. kubectl creates and watches, a plain client deletes with
 * the uid as precondition. Where the official test sleeps 30 s and then counts, a watch sees here that nothing was deleted meanwhile.
 */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let kubectl: Kubectl;
let api: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const kubeconfig = join(directory.path, 'kubeconfig');
  const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
  server = new KubegcProcess([...command, '--simulate-pods', 'run'], { cwd: directory.path });
  await server.ready();
  kubectl = new Kubectl({ path: kubectlPaths().at(-1)!, kubeconfig, home: directory.path });
  api = new ApiClient(kubeconfig);
});

afterAll(async () => {
  api.close();
  const { stderr } = await server.stop();
  await directory[Symbol.asyncDispose]();
  expect(stderr).not.toContain('Warning');
});

type Policy = 'Background' | 'Foreground' | 'Orphan';
interface Workload extends KubeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly replicas?: number };
}

const RESOURCES = {
  ReplicationController: '/api/v1/namespaces/NAMESPACE/replicationcontrollers',
  Pod: '/api/v1/namespaces/NAMESPACE/pods',
  Deployment: '/apis/apps/v1/namespaces/NAMESPACE/deployments',
  ReplicaSet: '/apis/apps/v1/namespaces/NAMESPACE/replicasets',
  CronJob: '/apis/batch/v1/namespaces/NAMESPACE/cronjobs',
  Job: '/apis/batch/v1/namespaces/NAMESPACE/jobs',
} as const;
type Kind = keyof typeof RESOURCES;

/** How long the official tests wait for a deletion that must not come, s. */
const WATCHED_S = 30;

/** The namespace of one test, and what is done there. */
class Room {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  static async open(name: string): Promise<Room> {
    await kubectl.run(['create', 'namespace', name]);
    return new Room(name);
  }

  path(kind: Kind): string {
    return RESOURCES[kind].replace('NAMESPACE', this.name);
  }

  async create(object: object): Promise<Workload> {
    const args = ['create', '-n', this.name, '-f', '-', '-o', 'json'];
    return JSON.parse(await kubectl.run(args, { input: JSON.stringify(object) })) as Workload;
  }

  async list<T extends KubeObject = KubeObject>(kind: Kind): Promise<T[]> {
    return itemsOf<T>(await api.send('GET', this.path(kind)));
  }

  get(kind: Kind, name: string): Promise<Answer> {
    return api.send('GET', `${this.path(kind)}/${name}`);
  }

  /** Kinds and how many there are. */
  async counts(...kinds: readonly Kind[]): Promise<Partial<Record<Kind, number>>> {
    const counted = await Promise.all(kinds.map(async (kind) => [kind, (await this.list(kind)).length] as const));
    return Object.fromEntries(counted);
  }

  async gone(seconds: number, ...kinds: readonly Kind[]): Promise<void> {
    const none = Object.fromEntries(kinds.map((kind) => [kind, 0]));
    await within(seconds, none, () => this.counts(...kinds));
  }

  /** Deletes exactly this object. */
  delete(kind: Kind, { metadata: { name, uid } }: Workload, propagationPolicy?: Policy): Promise<Answer> {
    return accepted(api.send('DELETE', `${this.path(kind)}/${name}`, deleteOptions(uid, propagationPolicy)));
  }

  /** The status of a ReplicationController says that all of its pods are made. */
  async replicated(owner: Workload, seconds: number): Promise<void> {
    await within(seconds, owner.spec.replicas, async () => {
      const { body } = await this.get('ReplicationController', owner.metadata.name);
      return (body as Partial<Workload>).status?.replicas;
    });
  }

  /** Watches so many of these objects with kubectl for half a minute from now on. Fails when one is not there, or is deleted. */
  async staying(resources: string, count: number): Promise<void> {
    await staying(['get', resources, '-n', this.name], count, WATCHED_S);
  }
}

async function staying(get: readonly string[], count: number, seconds: number): Promise<void> {
  const args = [...get, '--watch', '--output-watch-events', '--no-headers', `--request-timeout=${seconds}s`];
  const { stdout } = await kubectl.try(args, { timeoutMs: (seconds + 30) * 1000 });
  expect(stdout.match(/^ADDED/gm), 'the objects at the beginning of the watch').toHaveLength(count);
  expect(stdout).not.toMatch(/^DELETED/m);
}

function itemsOf<T>({ status, body }: Answer): T[] {
  if (status !== 200) throw new Error(`a list answered ${status}: ${JSON.stringify(body)}`);
  return body['items'] as T[];
}

async function accepted(request: Promise<Answer>): Promise<Answer> {
  const answer = await request;
  if (answer.status >= 300) throw new Error(`the server answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

const deleteOptions = (uid: string, propagationPolicy?: Policy) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions: { uid },
  ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
});

/** Reads again and again until the answer is the expected one; fails with the last answer. */
async function within<T>(seconds: number, expected: T, read: () => Promise<T>): Promise<void> {
  let answer: T | undefined;
  const isExpected = async () => isDeepStrictEqual((answer = await read()), expected);
  await until(`the answer is ${JSON.stringify(expected)}`, isExpected, { withinMs: seconds * 1000 }).catch((error) => {
    expect(answer, `after ${seconds} s`).toEqual(expected);
    throw error;
  });
}

const podSpec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'nginx', image: 'nginx' }] };
const templateOf = (labels: object) => ({ metadata: { labels }, spec: podSpec });
const replicationController = (name: string, replicas: number, labels: object) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: { replicas, selector: labels, template: templateOf(labels) },
});
const deployment = (name: string, labels: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    strategy: { type: 'RollingUpdate' },
    template: templateOf(labels),
  },
});
const uidsOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata?.uid).toSorted();
const ownersOf = ({ metadata }: KubeObject): readonly OwnerReference[] => metadata?.ownerReferences ?? [];

describe.concurrent('the official tests of the garbage collector', () => {
  it('LIFE-532 LIFE-267 should delete pods created by rc when not orphaning', async () => {
    const room = await Room.open('delete-pods');
    const owner = await room.create(replicationController('simpletest.rc', 2, { gctest: 'delete_pods' }));
    // Not all of its pods: the owner goes while it still makes them.
    await within(30, true, async () => (await room.list('Pod')).length > 0);
    await room.delete('ReplicationController', owner, 'Background');
    await room.gone(120, 'ReplicationController', 'Pod');
  });

  it('LIFE-267 LIFE-553 should orphan pods created by rc if delete options say so', async () => {
    const room = await Room.open('orphan-pods');
    const owner = await room.create(replicationController('simpletest.rc', 100, { gctest: 'orphan_pods' }));
    await room.replicated(owner, 120);
    const before = uidsOf(await room.list('Pod'));
    const remain = room.staying('pods', 100);
    await room.delete('ReplicationController', owner, 'Orphan');
    await room.gone(180, 'ReplicationController');
    await remain;
    const after = await room.list('Pod');
    expect(uidsOf(after)).toEqual(before);
    expect(after.flatMap(ownersOf)).toEqual([]);
  });

  it('LIFE-270 should orphan pods created by rc if deleteOptions.OrphanDependents is nil', async () => {
    const room = await Room.open('orphan-pods-by-default');
    const owner = await room.create(replicationController('simpletest.rc', 2, { gctest: 'nil_option' }));
    await room.replicated(owner, 30);
    const before = uidsOf(await room.list('Pod'));
    const remain = room.staying('pods', 2);
    await room.delete('ReplicationController', owner);
    await remain;
    expect(uidsOf(await room.list('Pod'))).toEqual(before);
    expect(await room.list('ReplicationController')).toEqual([]);
  });

  it('LIFE-484 LIFE-485 the runner finds no pod in kube-system to wait for, and none to read metrics from', async () => {
    const system = '/api/v1/namespaces/kube-system/pods';
    expect(itemsOf(await api.send('GET', system))).toEqual([]);
    const { status } = await api.send('GET', `${system}/kube-controller-manager-n:10257/proxy/metrics`);
    expect(status).toBe(404);
  });

  it('LIFE-801 should delete RS created by deployment when not orphaning', async () => {
    const room = await Room.open('delete-rs');
    const owner = await room.create(deployment('simpletest.deployment', { gctest: 'delete_rs' }));
    await within(60, true, async () => (await room.list('ReplicaSet')).length > 0);
    await room.delete('Deployment', owner, 'Background');
    await room.gone(120, 'Deployment', 'ReplicaSet', 'Pod');
  });

  it('LIFE-803 should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan', async () => {
    const room = await Room.open('orphan-rs');
    const owner = await room.create(deployment('simpletest.deployment', { gctest: 'orphan_rs' }));
    await within(60, { ReplicaSet: 1, Pod: 2 }, () => room.counts('ReplicaSet', 'Pod'));
    const sets = uidsOf(await room.list('ReplicaSet'));
    const remain = room.staying('replicasets', 1);
    await room.delete('Deployment', owner, 'Orphan');
    await within(120, { Deployment: 0, ReplicaSet: 1, Pod: 2 }, () => room.counts('Deployment', 'ReplicaSet', 'Pod'));
    await remain;
    const after = await room.list('ReplicaSet');
    expect(uidsOf(after)).toEqual(sets);
    expect(after.flatMap(ownersOf).filter(({ controller }) => controller === true)).toEqual([]);
  });

  it('LIFE-262 should keep the rc around until all its pods are deleted if the deleteOptions says so', async () => {
    const room = await Room.open('foreground');
    const owner = await room.create(replicationController('simpletest.rc', 100, { gctest: 'foreground' }));
    await room.replicated(owner, 90);
    await room.delete('ReplicationController', owner, 'Foreground');
    await within(90, 404, async () => (await room.get('ReplicationController', owner.metadata.name)).status);
    expect(await room.list('Pod')).toEqual([]);
  });

  it("LIFE-567 should not delete dependents that have both valid owner and owner that's waiting for dependents to be deleted", async () => {
    const room = await Room.open('two-owners');
    const leaving = await room.create(replicationController('to-be-deleted', 100, { gctest: 'to-be-deleted' }));
    const staying = await room.create(replicationController('to-stay', 0, { gctest: 'to-stay' }));
    await room.replicated(leaving, 90);
    const shared = (await room.list('Pod')).slice(0, 50);
    const reference = { apiVersion: 'v1', kind: 'ReplicationController', ...identityOf(staying) };
    const body = { metadata: { ownerReferences: [reference] } };
    for (const { metadata } of shared) {
      const path = `${room.path('Pod')}/${metadata?.name ?? ''}`;
      await accepted(api.send('PATCH', path, body, 'application/strategic-merge-patch+json'));
    }
    await room.delete('ReplicationController', leaving, 'Foreground');
    await within(90, 404, async () => (await room.get('ReplicationController', leaving.metadata.name)).status);
    const after = await room.list('Pod');
    expect(uidsOf(after)).toEqual(uidsOf(shared));
    for (const pod of after) {
      expect(pod.metadata?.deletionTimestamp).toBeUndefined();
      expect(ownersOf(pod)).toEqual([reference]);
    }
  });

  it('LIFE-532 should not be blocked by dependency circle', async () => {
    const room = await Room.open('circle');
    const made: Workload[] = [];
    for (const name of ['pod1', 'pod2', 'pod3']) {
      made.push(await room.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: podSpec }));
    }
    for (const [index, { metadata }] of made.entries()) {
      const owner = made[(index + 2) % 3]!;
      const reference = { apiVersion: 'v1', kind: 'Pod', ...identityOf(owner) };
      const patch = { metadata: { ownerReferences: [{ ...reference, controller: true, blockOwnerDeletion: true }] } };
      await kubectl.run(['patch', 'pod', metadata.name, '-n', room.name, '-p', JSON.stringify(patch)]);
    }
    await room.delete('Pod', made[0]!, 'Foreground');
    await room.gone(150, 'Pod');
  });

  it('LIFE-532 should support cascading deletion of custom resources', async () => {
    const kind = await define('Canary');
    const owner = await kind.create('owner');
    await kind.create('dependent', owner);
    // The official test first sees with a canary that the collector knows the kind.
    const parent = await kind.create('canary-parent');
    await kind.create('canary', parent);
    await kind.delete(parent, 'Background');
    await within(180, 404, () => kind.status('canary'));
    await kind.delete(owner, 'Background');
    await within(60, 404, () => kind.status('dependent'));
    expect(await kind.status('owner')).toBe(404);
    await kubectl.run(['delete', 'crd', kind.definition, '--timeout=60s']);
  });

  it('LIFE-532 should support orphan deletion of custom resources', async () => {
    const kind = await define('Orphan');
    const owner = await kind.create('owner');
    const dependent = await kind.create('dependent', owner);
    const remains = staying(['get', kind.definition, 'dependent'], 1, 90);
    await kind.delete(owner, 'Orphan');
    await within(120, 404, () => kind.status('owner'));
    await remains;
    const { metadata } = JSON.parse(await kubectl.run(['get', kind.definition, 'dependent', '-o', 'json'])) as Workload;
    expect(metadata.uid).toBe(dependent.metadata.uid);
    expect(metadata).not.toHaveProperty('ownerReferences');
    await kubectl.run(['delete', 'crd', kind.definition, '--timeout=60s']);
  });

  it('LIFE-410 LIFE-354 should delete jobs and pods created by cronjob', async () => {
    const room = await Room.open('cronjob');
    const containers = [{ name: 'c', image: 'busybox', command: ['sleep', '300'] }];
    const template = { spec: { restartPolicy: 'OnFailure', terminationGracePeriodSeconds: 0, containers } };
    const owner = await room.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'simple' },
      spec: { schedule: '*/1 * * * ?', jobTemplate: { spec: { parallelism: 1, completions: 1, template } } },
    });
    await within(120, true, async () => (await room.list('Job')).length > 0);
    await room.delete('CronJob', owner, 'Background');
    await room.gone(60, 'CronJob', 'Job', 'Pod');
  });
});

const identityOf = ({ metadata: { name, uid } }: Workload) => ({ name, uid });

/** Serves a custom kind of the cluster, and answers with what can be done with its objects. */
async function define(kind: string) {
  const group = 'gctest.example.com';
  const plural = `${kind.toLowerCase()}s`;
  const definition = `${plural}.${group}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definition },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
    },
  };
  await kubectl.run('create -f -', { input: JSON.stringify(crd) });
  await kubectl.run(['wait', '--for=condition=Established', `crd/${definition}`, '--timeout=120s']);
  const apiVersion = `${group}/v1beta1`;
  const path = `/apis/${apiVersion}/${plural}`;
  return {
    definition,
    async create(name: string, owner?: Workload): Promise<Workload> {
      const ownerReferences = owner === undefined ? [] : [{ apiVersion, kind, ...identityOf(owner) }];
      const { body } = await accepted(
        api.send('POST', path, { apiVersion, kind, metadata: { name, ownerReferences } }),
      );
      return body as unknown as Workload;
    },
    delete: ({ metadata: { name, uid } }: Workload, policy: Policy): Promise<Answer> =>
      accepted(api.send('DELETE', `${path}/${name}`, deleteOptions(uid, policy))),
    status: async (name: string): Promise<number> => (await api.send('GET', `${path}/${name}`)).status,
  };
}
