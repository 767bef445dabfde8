import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { readKubeconfig } from '../program/read-kubeconfig.ts';
import { until } from '../program/until.ts';
import { EtcdProcess } from './etcd-process.ts';
import { etcdCertificates } from './etcd-tls.ts';

interface Item {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Record<string, string>;
  };
  readonly data?: Record<string, string>;
  readonly spec?: { readonly clusterIP?: string; readonly ports?: readonly { readonly nodePort?: number }[] };
}

const configmaps = '/api/v1/namespaces/default/configmaps';
const services = '/api/v1/namespaces/default/services';
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubegc-controllers';
const configMap = (name: string, data: Record<string, string> = {}, more: object = {}) => ({
  metadata: { name, ...more },
  data,
});

/** The built program over an etcd, with a client and a kubeconfig of its own. */
class Server {
  readonly process: KubegcProcess;
  readonly kubeconfig: string;
  #client: ApiClient | undefined;

  constructor(directory: string, name: string, endpoints: readonly string[], flags: readonly string[] = []) {
    this.kubeconfig = join(directory, `kubeconfig-${name}`);
    this.process = new KubegcProcess([
      'up',
      '--store=etcd',
      `--etcd-endpoints=${endpoints.join(',')}`,
      '--listen=127.0.0.1:0',
      '--tls-san=kube.example.org',
      `--write-kubeconfig=${this.kubeconfig}`,
      '--leader-elect-lease-duration=3s',
      '--leader-elect-renew-deadline=2s',
      '--leader-elect-retry-period=500ms',
      ...flags,
    ]);
  }

  async ready(): Promise<this> {
    await this.process.ready();
    this.#client = new ApiClient(this.kubeconfig);
    return this;
  }

  get client(): ApiClient {
    if (this.#client === undefined) throw new Error('the server is not ready');
    return this.#client;
  }

  async ok(method: string, path: string, body?: unknown, contentType?: string): Promise<Item> {
    const { status, body: answer } = await this.client.send(method, path, body, contentType);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer as unknown as Item;
  }

  async list(path: string): Promise<readonly Item[]> {
    const { items } = (await this.ok('GET', path)) as unknown as { items: Item[] };
    return items;
  }

  async leads(): Promise<boolean> {
    const { body } = await this.client.send('GET', '/metrics');
    return /^leader_election_master_status\{name="kubegc-controllers"\} 1$/m.test(String(body['text']));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.close();
    this.process.kill('SIGKILL');
    await this.process.ended;
  }
}

/** Two servers over the same etcd, started at the same moment. */
class ServerPair {
  readonly a: Server;
  readonly b: Server;

  constructor(directory: string, endpoints: readonly string[]) {
    this.a = new Server(directory, 'a', endpoints);
    this.b = new Server(directory, 'b', endpoints);
  }

  get both(): readonly [Server, Server] {
    return [this.a, this.b];
  }

  async ready(): Promise<void> {
    await Promise.all(this.both.map((server) => server.ready()));
  }

  /** As soon as one of them leads. */
  async roles(): Promise<{ readonly leader: Server; readonly other: Server }> {
    let leader: Server | undefined;
    await until('one leads', async () => {
      for (const server of this.both) if (await server.leads()) leader = server;
      return leader !== undefined;
    });
    return leader === this.b ? { leader: this.b, other: this.a } : { leader: this.a, other: this.b };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.both.map((server) => server[Symbol.asyncDispose]()));
  }
}

/** A list, and a watch from there, as curl would show it. `ended`: the server closed it, or the connection broke. */
async function watchOf(server: Server, path: string) {
  const list = (await server.ok('GET', path)) as unknown as { items: Item[]; metadata: { resourceVersion: string } };
  const { origin, ca, authorization } = readKubeconfig(server.kubeconfig);
  const events: { readonly type: string; readonly object: Item }[] = [];
  const state = { ended: false };
  const outgoing = request(
    {
      host: origin.hostname,
      port: origin.port,
      path: `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
      ca,
      agent: false,
      headers: { authorization, accept: 'application/json' },
    },
    (incoming) => {
      const lines = createInterface(incoming);
      lines.on('line', (line) => events.push(JSON.parse(line) as (typeof events)[number]));
      lines.on('close', () => (state.ended = true));
      lines.on('error', () => undefined);
      incoming.on('error', () => undefined);
    },
  );
  outgoing.on('error', () => (state.ended = true));
  outgoing.end();
  return { before: list.items, events, state, close: () => outgoing.destroy() };
}

/** The facts that writers know for certain about their writes. */
interface Known {
  /** Counts that were acknowledged last, by name; `absent`: the deletion was. */
  readonly acknowledged: Map<string, number | 'absent'>;
  /** Writes that nobody answered, by name: may or may not be there. */
  readonly unanswered: Map<string, number | 'absent'>;
}

/** Creates, raises a counter in each object twice, and deletes every third, until it is aborted. */
async function write(server: Server, prefix: string, known: Known, signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    const name = `${prefix}-${i}`;
    const attempt = async (count: number | 'absent', send: () => Promise<Answer>): Promise<boolean> => {
      try {
        const { status, body } = await send();
        if (status >= 400 && status < 500) throw new RangeError(`${name}: ${status} ${JSON.stringify(body)}`);
        if (status < 300) {
          known.acknowledged.set(name, count);
          return true;
        }
      } catch (error) {
        if (error instanceof RangeError) throw error;
      }
      known.unanswered.set(name, count);
      // A server that is gone would refuse a million times a second.
      await new Promise((next) => setTimeout(next, 20));
      return false;
    };
    const path = `${configmaps}/${name}`;
    const steps: (() => Promise<boolean>)[] = [
      () =>
        attempt(0, () =>
          server.client.send('POST', configmaps, configMap(name, { count: '0' }, { labels: { load: '1' } })),
        ),
      ...[1, 2].map(
        (count) => () =>
          attempt(count, () =>
            server.client.send('PUT', path, configMap(name, { count: String(count) }, { labels: { load: '1' } })),
          ),
      ),
      ...(i % 3 === 0 ? [() => attempt('absent', () => server.client.send('DELETE', path))] : []),
    ];
    for (const step of steps) if (!(await step())) break;
  }
}

async function expectNothingLost(server: Server, known: Known): Promise<void> {
  const found = new Map(
    (await server.list(`${configmaps}?labelSelector=load=1`)).map(({ metadata, data }) => [
      metadata.name,
      Number(data?.['count']),
    ]),
  );
  const names = new Set([...known.acknowledged.keys(), ...known.unanswered.keys()]);
  expect(known.acknowledged.size).toBeGreaterThan(50);
  for (const name of names) {
    const allowed = [known.acknowledged.get(name) ?? 'absent'];
    const unanswered = known.unanswered.get(name);
    if (unanswered !== undefined) allowed.push(unanswered);
    expect(allowed, name).toContain(found.get(name) ?? 'absent');
  }
  for (const name of found.keys()) expect(names.has(name), `${name} was written`).toBe(true);
}

/** Expects every change of every object once: the events of a watch lead to the state that a list shows, and never go back. */
async function expectComplete(
  server: Server,
  { before, events }: { before: readonly Item[]; events: readonly { type: string; object: Item }[] },
): Promise<void> {
  const told = new Map(before.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  let last = 0;
  for (const { type, object } of events) {
    const { name, resourceVersion } = object.metadata;
    expect(Number(resourceVersion)).toBeGreaterThan(last);
    last = Number(resourceVersion);
    expect(type === 'ADDED', `${type} of ${name}`).toBe(!told.has(name));
    if (type === 'DELETED') told.delete(name);
    else told.set(name, resourceVersion);
  }
  const listed = (await server.list(configmaps)).map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
  expect([...told].toSorted()).toEqual(listed.toSorted());
}

describe('two servers over one etcd', () => {
  let etcd: EtcdProcess;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let pair: ServerPair;
  let a: Server;
  let b: Server;
  beforeAll(async () => {
    [etcd, directory] = await Promise.all([EtcdProcess.start(), temporaryDirectory()]);
    pair = new ServerPair(directory.path, [etcd.url]);
    ({ a, b } = pair);
    await pair.ready();
  });
  afterAll(async () => {
    await pair[Symbol.asyncDispose]();
    await etcd[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('that were started at the same moment are one cluster, and one’s credentials are good at the other', async () => {
    const [one, two] = await Promise.all([a, b].map(({ kubeconfig }) => readFile(kubeconfig, 'utf8')));
    const withoutAddress = (text = ''): string => text.replace(/server: .*/, '');
    expect(withoutAddress(two)).toBe(withoutAddress(one));
    const [ofA, ofB] = await Promise.all([a, b].map((server) => server.list('/api/v1/namespaces')));
    expect(ofA?.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    expect(ofB).toEqual(ofA);
  });

  it('that a balancer stands in front of have its name in their certificates, of the same authority', async () => {
    for (const { kubeconfig } of [a, b]) {
      const { origin } = readKubeconfig(kubeconfig);
      const { ca } = readKubeconfig(a.kubeconfig);
      const options = { host: origin.hostname, port: Number(origin.port), servername: 'kube.example.org', ca };
      await new Promise<void>((settle, reject) => {
        const socket = connect(options, () => {
          socket.end();
          settle();
        });
        socket.once('error', reject);
      });
    }
  });

  it('a write that one has acknowledged is visible at the other at once', async () => {
    for (let i = 0; i < 40; i++) {
      const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a];
      const name = `shown-${i}`;
      const { metadata } = await writer.ok('POST', configmaps, configMap(name));
      const got = await reader.ok('GET', `${configmaps}/${name}`);
      expect(got.metadata.resourceVersion).toBe(metadata.resourceVersion);
      expect((await reader.list(configmaps)).some((item) => item.metadata.name === name)).toBe(true);
      // The revision of one means the same to the other.
      const exact = `${configmaps}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
      expect((await reader.list(exact)).some((item) => item.metadata.name === name)).toBe(true);
      const changed = await reader.ok(
        'PUT',
        `${configmaps}/${name}`,
        configMap(name, { by: 'the other' }, { resourceVersion: metadata.resourceVersion }),
      );
      const stale = configMap(name, { by: 'the one' }, { resourceVersion: metadata.resourceVersion });
      expect((await writer.client.send('PUT', `${configmaps}/${name}`, stale)).status).toBe(409);
      await writer.ok('DELETE', `${configmaps}/${name}`, {
        preconditions: { resourceVersion: changed.metadata.resourceVersion },
      });
      expect((await reader.client.send('GET', `${configmaps}/${name}`)).status).toBe(404);
    }
  });

  it('a page begun at one is continued at the other', async () => {
    for (let i = 0; i < 6; i++) await a.ok('POST', configmaps, configMap(`page-${i}`, {}, { labels: { page: '1' } }));
    const first = (await a.ok('GET', `${configmaps}?limit=4&labelSelector=page=1`)) as unknown as {
      items: Item[];
      metadata: { continue: string };
    };
    await b.ok('DELETE', `${configmaps}/page-5`);
    const rest = await b.list(
      `${configmaps}?limit=4&labelSelector=page=1&continue=${encodeURIComponent(first.metadata.continue)}`,
    );
    expect([...first.items, ...rest].map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 6 }, (_, i) => `page-${i}`),
    );
  });

  it('a watch at one shows the writes at both, in one order', async () => {
    const watches = await Promise.all([a, b].map((server) => watchOf(server, configmaps)));
    const writes = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? a : b).ok('POST', configmaps, configMap(`watched-${i}`))),
    );
    const last = Math.max(...writes.map(({ metadata }) => Number(metadata.resourceVersion)));
    for (const [i, watch] of watches.entries()) {
      await until('all is told', async () => Number(watch.events.at(-1)?.object.metadata.resourceVersion) >= last);
      await expectComplete(i === 0 ? b : a, watch);
      watch.close();
    }
    expect(watches[1]?.events.slice(-60).map(({ object }) => object.metadata.resourceVersion)).toEqual(
      watches[0]?.events.slice(-60).map(({ object }) => object.metadata.resourceVersion),
    );
  });

  it('a definition made at one is served at the other, and gone when it is deleted there', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const names = { plural: 'trees', singular: 'tree', kind: 'Tree', listKind: 'TreeList' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await a.ok('POST', definitions, {
      metadata: { name: 'trees.garden.example' },
      spec: {
        group: 'garden.example',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const trees = '/apis/garden.example/v1/namespaces/default/trees';
    await until('the other one serves it', async () => (await b.client.send('GET', trees)).status === 200);
    await b.ok('POST', trees, { apiVersion: 'garden.example/v1', kind: 'Tree', metadata: { name: 'oak' } });
    expect((await a.list(trees)).map(({ metadata }) => metadata.name)).toEqual(['oak']);
    await b.ok('DELETE', `${definitions}/trees.garden.example`);
    await until('it is gone at both', async () => {
      const answers = await Promise.all([a, b].map((server) => server.client.send('GET', trees)));
      return answers.every(({ status }) => status === 404);
    });
  });

  it('law 2: patches of one object through both at once are all in it', async () => {
    await a.ok('POST', configmaps, configMap('fought-over'));
    const keys = Array.from({ length: 80 }, (_, i) => `k${i}`);
    await Promise.all(
      keys.map((key, i) =>
        (i % 2 === 0 ? a : b).ok(
          'PATCH',
          `${configmaps}/fought-over`,
          { data: { [key]: String(i) } },
          'application/merge-patch+json',
        ),
      ),
    );
    const { data } = await a.ok('GET', `${configmaps}/fought-over`);
    expect(Object.keys(data ?? {}).toSorted()).toEqual(keys.toSorted());
  });

  it('never give one cluster address or node port to two services', async () => {
    const service = (name: string, spec: object = {}) => ({
      metadata: { name },
      spec: {
        type: 'NodePort',
        ports: [{ port: 80 }, { name: 'b', port: 81 }].map((port, i) => ({ name: `p${i}`, ...port })),
        ...spec,
      },
    });
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? a : b).ok('POST', services, service(`address-${i}`))),
    );
    expect(new Set(made.map(({ spec }) => spec?.clusterIP)).size).toBe(40);
    expect(new Set(made.flatMap(({ spec }) => spec?.ports?.map(({ nodePort }) => nodePort))).size).toBe(80);
    const wanted = { type: 'ClusterIP', clusterIP: '10.97.1.1' };
    const answers = await Promise.all(
      [a, b].map((server, i) => server.client.send('POST', services, service(`wanted-${i}`, wanted))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
    const winner = answers.findIndex(({ status }) => status === 201);
    await a.ok('DELETE', `${services}/wanted-${winner}`);
    await b.ok('POST', services, service('again', wanted));
  });

  it('API-511 are both endpoints of the cluster', async () => {
    await until('both are listed', async () => {
      const { subsets } = (await b.ok('GET', '/api/v1/namespaces/default/endpoints/kubernetes')) as unknown as {
        subsets: { ports: { port: number }[] }[];
      };
      const wanted = [a, b].map(({ kubeconfig }) => Number(readKubeconfig(kubeconfig).origin.port));
      const listed = subsets.map(({ ports }) => ports[0]?.port ?? 0);
      return listed.toSorted().join() === wanted.toSorted().join();
    });
  });

  it('one of them runs the controllers', async () => {
    const leading = (): Promise<boolean[]> => Promise.all([a, b].map((server) => server.leads()));
    await until('one leads', async () => (await leading()).some((leads) => leads));
    expect((await leading()).filter((leads) => leads)).toHaveLength(1);
    expect((await b.ok('GET', lease)).metadata.name).toBe('kubegc-controllers');
  });
});

describe('a server that is killed', () => {
  it('loses nothing that was acknowledged, and another one collects on', async () => {
    await using etcd = await EtcdProcess.start();
    await using directory = await temporaryDirectory();
    await using pair = new ServerPair(directory.path, [etcd.url]);
    await pair.ready();
    const { leader: victim, other: survivor } = await pair.roles();
    const watch = await watchOf(survivor, configmaps);
    const known: Known = { acknowledged: new Map(), unanswered: new Map() };
    const stop = new AbortController();
    const writers = [victim, survivor].flatMap((server, s) =>
      Array.from({ length: 4 }, (_, i) => write(server, `load-${s}-${i}`, known, stop.signal)),
    );
    const owner = await survivor.ok('POST', configmaps, configMap('owner'));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    const dependents = Array.from({ length: 100 }, (_, i) => `dependent-${i}`);
    await Promise.all(
      dependents.map((name) => survivor.ok('POST', configmaps, configMap(name, {}, { ownerReferences: [reference] }))),
    );
    await until('there is load', async () => known.acknowledged.size > 60);
    await survivor.ok('DELETE', `${configmaps}/owner`, { propagationPolicy: 'Background' });
    victim.process.kill('SIGKILL');
    await until('the survivor leads', () => survivor.leads());
    await until('all dependents are collected', async () => {
      const names = (await survivor.list(configmaps)).map(({ metadata }) => metadata.name);
      return !names.some((name) => name.startsWith('dependent-'));
    });
    stop.abort();
    await Promise.all(writers);
    await expectNothingLost(survivor, known);
    const { metadata } = await survivor.ok('POST', configmaps, configMap('last'));
    await until('all is told', async () =>
      watch.events.some(({ object }) => object.metadata.resourceVersion === metadata.resourceVersion),
    );
    await expectComplete(survivor, watch);
    expect(watch.state.ended).toBe(false);
    watch.close();
  });

  it('LIFE-204 properly gives its leases back, so that nobody waits for it', async () => {
    await using etcd = await EtcdProcess.start();
    await using directory = await temporaryDirectory();
    await using pair = new ServerPair(directory.path, [etcd.url]);
    await pair.ready();
    const { leader, other } = await pair.roles();
    const selector = 'labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver';
    const servers = () => other.list(`/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?${selector}`);
    expect(await servers()).toHaveLength(2);
    const ended = await leader.process.stop();
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('released the lease');
    expect(await servers()).toHaveLength(1);
    await until('the other leads', () => other.leads());
  });
});

describe('two servers over a cluster of three', () => {
  it('go on while its members die in turn and while all are away, and their watches miss nothing', async () => {
    await using cluster = await EtcdProcess.startCluster(3);
    const { members } = cluster;
    await using directory = await temporaryDirectory();
    const endpoints = members.map(({ url }) => url);
    await using pair = new ServerPair(directory.path, endpoints);
    await pair.ready();
    const { a, both } = pair;
    const watches = await Promise.all(both.map((server) => watchOf(server, configmaps)));
    const known: Known = { acknowledged: new Map(), unanswered: new Map() };
    const stop = new AbortController();
    const writers = both.flatMap((server, s) =>
      Array.from({ length: 2 }, (_, i) => write(server, `load-${s}-${i}`, known, stop.signal)),
    );
    const progress = async (what: string): Promise<void> => {
      const before = known.acknowledged.size;
      await until(what, async () => known.acknowledged.size > before + 15);
    };
    for (const member of members) {
      await progress('writes go on with all members');
      await member.kill();
      await progress('writes go on without one');
      await member.run();
    }
    await Promise.all(members.map((member) => member.kill()));
    // A load balancer should look elsewhere meanwhile.
    const readiness = async (): Promise<(number | string)[]> => {
      const answers = await Promise.all(both.map((server) => server.client.send('GET', '/readyz?verbose=true')));
      return answers.map(({ status, body }) => (String(body['text']).includes('[-]etcd failed: ') ? 'etcd' : status));
    };
    await until('they say that etcd is away', async () => (await readiness()).every((what) => what === 'etcd'));
    await Promise.all(members.map((member) => member.run()));
    await until('they are ready again', async () => (await readiness()).every((what) => what === 200));
    await progress('writes go on after all were away');
    stop.abort();
    await Promise.all(writers);
    await expectNothingLost(a, known);
    const { metadata } = await pair.b.ok('POST', configmaps, configMap('last'));
    for (const watch of watches) {
      await until('all is told', async () =>
        watch.events.some(({ object }) => object.metadata.resourceVersion === metadata.resourceVersion),
      );
      await expectComplete(a, watch);
      expect(watch.state.ended).toBe(false);
      watch.close();
    }
  });
});

describe('a server over an etcd that wants certificates', () => {
  it('shows its own and is shown the right one', async () => {
    await using directory = await temporaryDirectory();
    const { files } = await etcdCertificates(directory.path);
    await using etcd = await EtcdProcess.start({ tls: { ca: files.ca, ...files.server } });
    const tls = [
      `--etcd-cafile=${files.ca}`,
      `--etcd-certfile=${files.client.cert}`,
      `--etcd-keyfile=${files.client.key}`,
    ];
    await using server = new Server(directory.path, 'tls', [etcd.url], [...tls, '--etcd-prefix=/some/cluster']);
    await server.ready();
    await server.ok('POST', configmaps, configMap('safe'));
    expect((await server.list(configmaps)).map(({ metadata }) => metadata.name)).toContain('safe');
  });
});

describe('a server that cannot use etcd', () => {
  it('says which one and why, and ends', async () => {
    const refused = new KubegcProcess([
      'up',
      '--store=etcd',
      '--etcd-endpoints=http://127.0.0.1:1',
      '--listen=127.0.0.1:0',
      '--write-kubeconfig=/nowhere/kubeconfig',
    ]);
    const { code, stderr, stdout } = await refused.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('error: cannot use etcd: http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1');
    expect(stderr).toContain('Check that etcd runs there');
  });
});
