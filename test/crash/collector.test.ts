import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KillingProxy, type Moment } from '../program/killing-proxy.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/**
 * The real program, SIGKILL at every one of its calls that has to do with objects (not lists and discovery), before the call
 * reaches the server and after it took effect; a second process then finishes (COL-215, COL-217).
 */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let client: ApiClient;
let proxy: KillingProxy;
let throughProxy: string;
let rounds = 0;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const kubeconfig = join(directory.path, 'kubeconfig');
  const flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
  server = new KubegcProcess(['up', '--controllers', '*,-garbage-collector-controller', ...flags]);
  await server.ready();
  client = new ApiClient(kubeconfig);
  proxy = await KillingProxy.start(kubeconfig);
  throughProxy = join(directory.path, 'proxied');
  await writeFile(throughProxy, kubeconfigFor(proxy.url));
});

afterAll(async () => {
  client.close();
  await proxy.stop();
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

function kubeconfigFor(url: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  });
}

async function collector(): Promise<KubegcProcess> {
  const flags = ['--kubeconfig', throughProxy, '--mode', 'collect', '--leader-elect=false'];
  const started = new KubegcProcess(['collect', ...flags]);
  await started.ready();
  return started;
}

/** The objects of one round, which has a namespace of its own. */
class Family {
  readonly #namespace = `round-${++rounds}`;

  path(resource: string, name = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  /** owner <- child <- grandchild, owner <- second, and one that has another owner too. */
  async create(): Promise<void> {
    await client.send('POST', '/api/v1/namespaces', { metadata: { name: this.#namespace } });
    const owner = await this.#make('configmaps', 'owner');
    const other = await this.#make('configmaps', 'other');
    const child = await this.#make('secrets', 'child', owner);
    await this.#make('configmaps', 'grandchild', child);
    await this.#make('secrets', 'second', owner);
    await this.#make('secrets', 'both', owner, other);
  }

  async #make(resource: string, name: string, ...owners: object[]): Promise<object> {
    const { status, body } = await client.send('POST', this.path(resource), {
      metadata: { name, ownerReferences: owners },
    });
    expect(status).toBe(201);
    const { uid } = body['metadata'] as { uid: string };
    const kind = resource === 'secrets' ? 'Secret' : 'ConfigMap';
    return { apiVersion: 'v1', kind, name, uid, blockOwnerDeletion: true };
  }

  /** `name <- owners` of everything. */
  async left(): Promise<string[]> {
    const answers = await Promise.all(['configmaps', 'secrets'].map((each) => client.send('GET', this.path(each))));
    return answers
      .flatMap(({ body }) => body['items'] as { metadata: { name: string; ownerReferences?: { name: string }[] } }[])
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map(({ metadata: { name, ownerReferences = [] } }) =>
        [name, ...ownerReferences.map((reference) => `<- ${reference.name}`)].join(' '),
      )
      .toSorted();
  }
}

/** Everything but what a start is made of. */
const aboutObjects = (method: string, path: string): boolean =>
  method !== 'GET' || /\/namespaces\/[^/]+\/[^/]+\/./.test(path);

const policies = [
  { policy: 'Foreground', left: ['both <- other', 'other'], calls: 5 },
  { policy: 'Background', left: ['both <- other', 'other'], calls: 4 },
  { policy: 'Orphan', left: ['both <- other', 'child', 'grandchild <- child', 'other', 'second'], calls: 4 },
] as const;

describe.each(policies)('a deletion in $policy', ({ policy, left, calls }) => {
  it.each<Moment>(['before', 'after'])(
    'COL-215 COL-217 ends the same when the collector is killed with SIGKILL %s any of its calls',
    async (moment) => {
      let call = 0;
      for (; ; call++) {
        const family = new Family();
        await family.create();
        proxy.set(undefined);
        const first = await collector();
        const kill = (): Promise<unknown> => {
          first.kill('SIGKILL');
          return first.ended;
        };
        proxy.set({ counts: aboutObjects, call, moment, kill });
        await client.send('DELETE', family.path('configmaps', 'owner'), { propagationPolicy: policy });
        const done = async (): Promise<boolean> => (await family.left()).join() === left.join();
        await until(
          `call ${call} or the end`,
          async () => proxy.sprung !== undefined || ((await done()) && proxy.quiet),
        );
        const killedAt = proxy.sprung;
        if (killedAt !== undefined) expect((await first.ended).signal).toBe('SIGKILL');
        const last = killedAt === undefined ? first : await collector();
        await until(`the end, killed ${moment} call ${call}, ${killedAt ?? 'which never came'}`, done);
        await last.stop();
        expect(await family.left()).toEqual(left);
        if (killedAt === undefined) break;
      }
      expect(call, 'calls').toBeGreaterThanOrEqual(calls);
    },
    300_000,
  );
});
