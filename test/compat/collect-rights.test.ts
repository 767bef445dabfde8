import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { readKubeconfig } from '../program/read-kubeconfig.ts';
import { until } from '../program/until.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/**
 * The collector as the ServiceAccount of docs/manifests/collect-rbac.yaml, on a server that lets it do what the manifest says and
 * nothing else: all of its work goes, and whatever is taken away from the manifest is missed aloud.
 */
const manifest = join(import.meta.dirname, '../../docs/manifests/collect-rbac.yaml');
const deployment = join(import.meta.dirname, '../../docs/manifests/collect-deployment.yaml');
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const systemRoles = `${rbac}/namespaces/kube-system/roles`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const quick = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let kubectl: Kubectl;
let admin: ApiClient;
/** The kubeconfig of the collector: a token and the server's authority, nothing else. */
let kubeconfig: string;
/** The same as a folder, as a pod has it. */
let serviceAccount: string;
let started: KubegcProcess[] = [];
const granted = new Map<string, readonly Rule[]>();

beforeAll(async () => {
  directory = await temporaryDirectory();
  const ofAdmin = join(directory.path, 'admin');
  const flags = ['--listen', '127.0.0.1:0', '--data-dir', join(directory.path, 'data'), '--write-kubeconfig', ofAdmin];
  server = new KubegcProcess([
    'up',
    '--authorization-mode',
    'RBAC',
    '--controllers',
    '*,-garbage-collector-controller',
    ...flags,
  ]);
  await server.ready();
  kubectl = new Kubectl({ path: kubectlPaths().at(-1) ?? '', kubeconfig: ofAdmin, home: directory.path });
  admin = new ApiClient(ofAdmin);
  await kubectl.run(['apply', '-f', manifest]);
  const token = await kubectl.run('create token kubegc-collector -n kube-system --duration 1h');
  kubeconfig = join(directory.path, 'collector');
  const ofCollector = readFileSync(ofAdmin, 'utf8')
    .replace(/^.*client-(certificate|key)-data:.*\n/gm, '')
    .replace(/token: .*/, `token: ${token.trim()}`);
  await writeFile(kubeconfig, ofCollector);
  serviceAccount = join(directory.path, 'serviceaccount');
  await mkdir(serviceAccount);
  const files = { token: token.trim(), 'ca.crt': readKubeconfig(ofAdmin).ca, namespace: 'kube-system' };
  for (const [name, content] of Object.entries(files)) await writeFile(join(serviceAccount, name), content);
  for (const path of [`${rbac}/clusterroles`, systemRoles]) {
    granted.set(path, (await admin.send('GET', `${path}/kubegc-collector`)).body['rules'] as readonly Rule[]);
  }
});

afterAll(async () => {
  admin.close();
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

afterEach(async () => {
  await Promise.all(started.map((each) => each.stop()));
  started = [];
  for (const [path, rules] of granted) await setRules(path, rules);
});

async function setRules(path: string, rules: readonly Rule[]): Promise<void> {
  const { body } = await admin.send('GET', `${path}/kubegc-collector`);
  expect((await admin.send('PUT', `${path}/kubegc-collector`, { ...body, rules })).status).toBe(200);
}

/** All other rights of the collector are those of every authenticated user. */
function collector(...args: string[]): KubegcProcess {
  const process = new KubegcProcess(['collect', '--kubeconfig', kubeconfig, ...quick, ...args]);
  started.push(process);
  return process;
}

/** Returns the output, with the quotes as they stand in the server's texts. */
const plain = ({ output }: KubegcProcess): string => output.replaceAll('\\"', '"');

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface PodOwner {
  readonly spec: {
    readonly template: { readonly spec: { serviceAccountName: string; containers: readonly Container[] } };
  };
}

function missingContainer(): never {
  throw new Error(`${deployment} has no container`);
}

let families = 0;

interface Family {
  readonly namespace: string;
  readonly gone: (kind: 'owner' | 'dependent') => Promise<boolean>;
  readonly owners: () => Promise<unknown>;
}

/** A ConfigMap that owns a Secret, in a namespace of their own. */
async function family(): Promise<Family> {
  const namespace = `family-${++families}`;
  await admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const paths = {
    owner: `/api/v1/namespaces/${namespace}/configmaps/owner`,
    dependent: `/api/v1/namespaces/${namespace}/secrets/dependent`,
  };
  const { body } = await admin.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    metadata: { name: 'owner' },
  });
  const { uid } = body['metadata'] as { uid: string };
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true };
  const metadata = { name: 'dependent', ownerReferences: [reference] };
  expect((await admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata })).status).toBe(201);
  return {
    namespace,
    gone: async (kind) => (await admin.send('GET', paths[kind])).status === 404,
    owners: async () => {
      const { metadata: there } = (await admin.send('GET', paths.dependent)).body as {
        metadata?: { ownerReferences?: unknown };
      };
      return there?.ownerReferences;
    },
  };
}

const deleteOwner = ({ namespace }: Family, propagationPolicy: string) =>
  admin.send('DELETE', `/api/v1/namespaces/${namespace}/configmaps/owner`, { propagationPolicy });

/** Refers to an owner of another namespace. */
async function stray(): Promise<string> {
  const { namespace } = await family();
  const { body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/configmaps/owner`);
  const { uid } = body['metadata'] as { uid: string };
  const home = `${namespace}-elsewhere`;
  await admin.send('POST', '/api/v1/namespaces', { metadata: { name: home } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  await admin.send('POST', `/api/v1/namespaces/${home}/secrets`, { metadata: { name: 'stray', ownerReferences } });
  return home;
}

async function eventsIn(namespace: string): Promise<readonly unknown[]> {
  const { body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/events`);
  return (body['items'] as { reason: string }[]).map(({ reason }) => reason);
}

describe('with the rights of the manifest', () => {
  it('COL-220 COL-211 COL-214 collects in all three ways, reports references into other namespaces, and leads', async () => {
    const running = collector('--mode', 'collect');
    await running.ready();
    for (const policy of ['Background', 'Foreground', 'Orphan']) {
      const one = await family();
      await deleteOwner(one, policy);
      await until(`the owner is gone (${policy})`, () => one.gone('owner'));
      if (policy === 'Orphan') await until('it has no owner', async () => (await one.owners()) === undefined);
      else await until(`the dependent is gone (${policy})`, () => one.gone('dependent'));
    }
    const home = await stray();
    await until('it is reported', async () => (await eventsIn(home)).includes('OwnerRefInvalidNamespace'));
    const { body } = await admin.send('GET', `${leases}/kubegc-collector`);
    expect((body['spec'] as { holderIdentity: string }).holderIdentity).not.toBe('');
    expect(running.output).not.toMatch(/forbidden|tried again|ERROR/);
    expect((await running.stop()).code).toBe(0);
  });

  function inPod(args: readonly string[]): KubegcProcess {
    const { hostname, port } = readKubeconfig(kubeconfig).origin;
    const env = {
      HOME: directory.path,
      KUBECONFIG: '',
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    };
    const running = new KubegcProcess([...args, ...quick], { env, serviceAccount });
    started.push(running);
    return running;
  }

  it('COL-220 COL-200 does all of that in a pod, by what the kubelet gives it', async () => {
    const running = inPod(['collect', '--mode', 'collect']);
    await running.ready();
    for (const policy of ['Background', 'Foreground', 'Orphan']) {
      const one = await family();
      await deleteOwner(one, policy);
      await until(`the owner is gone (${policy})`, () => one.gone('owner'));
    }
    expect(running.output).toContain('in-cluster');
    expect(running.output).not.toMatch(/forbidden|tried again|ERROR/);
    expect((await running.stop()).code).toBe(0);
  });

  it('COL-220 COL-192 runs as the Deployment says, and answers its probes', async () => {
    await kubectl.run(['apply', '-f', deployment]);
    const { spec } = (parse(readFileSync(deployment, 'utf8')) as PodOwner).spec.template;
    expect(spec.serviceAccountName).toBe('kubegc-collector');
    const [{ args, ports, readinessProbe, livenessProbe, volumeMounts } = missingContainer()] = spec.containers;
    const [{ mountPath } = { mountPath: '' }] = volumeMounts;
    await writeFile(join(directory.path, 'token'), 'open-sesame\n');
    // It only watches until somebody says otherwise.
    expect(args).toContain('--mode=observe');
    const here = args.map((arg) =>
      arg
        .replace(/:10257$/, ':0')
        .replace(mountPath, directory.path)
        .replace('--mode=observe', '--mode=collect'),
    );
    expect(args).toContain(`--bind-address=0.0.0.0:${ports[0]?.containerPort}`);
    const running = inPod(here);
    await running.ready();
    const port = /debug graph: http:\/\/[\d.]+:(\d+)/.exec(running.output)?.[1];
    const ask = async (path: string, headers = {}): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
    expect([await ask(readinessProbe.httpGet.path), await ask(livenessProbe.httpGet.path)]).toEqual([200, 200]);
    expect([await ask('/metrics'), await ask('/metrics', { authorization: 'Bearer open-sesame' })]).toEqual([401, 200]);
    const one = await family();
    await deleteOwner(one, 'Background');
    await until('the dependent is gone', () => one.gone('dependent'));
    expect((await running.stop()).code).toBe(0);
  });

  it('COL-220 observes with what the manifest says that suffices for it', async () => {
    const clusterRoles = `${rbac}/clusterroles`;
    const [widest] = granted.get(clusterRoles) ?? [];
    const verbs = (widest?.verbs ?? []).filter((verb) => verb !== 'patch' && verb !== 'delete');
    await setRules(clusterRoles, widest === undefined ? [] : [{ ...widest, verbs }]);
    await setRules(systemRoles, []);
    const running = collector('--mode', 'observe', '--bind-address', '127.0.0.1:0');
    await running.ready();
    const { namespace } = await family();
    const url = /debug graph: (\S+)/.exec(running.output)?.[1] ?? '';
    const graph = async () => (await fetch(`${url}/debug/controllers/garbage-collector-controller/graph`)).text();
    await until('it shows them', async () => (await graph()).includes(`namespace=${namespace}`));
    expect(running.output).not.toMatch(/forbidden|tried again|ERROR/);
  });

  it('COL-190 COL-220 shows graph and metrics only to who has its token', async () => {
    const tokenFile = join(directory.path, 'page.token');
    await writeFile(tokenFile, 'open-sesame\n');
    const running = collector('--mode', 'observe', '--bind-address', '127.0.0.1:0', '--bind-token-file', tokenFile);
    await running.ready();
    const url = /debug graph: (\S+)/.exec(running.output)?.[1] ?? '';
    const ask = async (path: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(`${url}${path}`, { headers })).status;
    };
    for (const path of ['/metrics', '/debug/controllers/garbage-collector-controller/graph']) {
      expect([await ask(path), await ask(path, 'wrong'), await ask(path, 'open-sesame')]).toEqual([401, 401, 200]);
    }
    expect(await ask('/healthz')).toBe(200);
  });
});

describe('with --probe', () => {
  const probes = async (namespace: string): Promise<readonly string[]> => {
    const { body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/configmaps`);
    const names = (body['items'] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    return names.filter((name) => name.startsWith('kubegc-probe-'));
  };

  it('COL-204 COL-220 asks, takes the probe away and collects with the right to create ConfigMaps there', async () => {
    const one = await family();
    const { namespace } = one;
    const metadata = { name: 'kubegc-probe' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
    await admin.send('POST', `${rbac}/namespaces/${namespace}/roles`, { metadata, rules });
    const { status } = await admin.send('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kubegc-probe' },
      subjects: [{ kind: 'ServiceAccount', name: 'kubegc-collector', namespace: 'kube-system' }],
    });
    expect(status).toBe(201);
    const running = collector('--mode', 'auto', '--probe', namespace);
    await until('the probe is there', async () => (await probes(namespace)).length === 1);
    await until('nobody took it', async () => running.output.includes('nobody deleted the probe'));
    expect(await probes(namespace)).toEqual([]);
    await deleteOwner(one, 'Background');
    await until('the dependent is gone', () => one.gone('dependent'));
    expect(running.output).not.toMatch(/forbidden|ERROR/);
  });

  it('COL-204 COL-220 says what it may not without it, and creates nothing', async () => {
    const { namespace } = await family();
    const running = collector('--mode', 'auto', '--probe', namespace);
    const said = new RegExp(
      `observing only .*cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`,
    );
    await until('it says so', async () => said.test(plain(running)));
    expect(await probes(namespace)).toEqual([]);
  });
});

/** Creates an object that depends on an owner that never existed: only a read of the owner shows that. */
async function orphanOfNobody(): Promise<void> {
  const { namespace } = await family();
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' };
  const metadata = { name: 'of-nobody', ownerReferences: [owner] };
  expect((await admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata })).status).toBe(201);
}

const forget = () => admin.send('DELETE', `${leases}/kubegc-collector`);
const nothing = async (): Promise<void> => undefined;
const deleted = async (policy: string) => deleteOwner(await family(), policy);

/** With fewer resources, so that the other rules count: what they allow is in the widest one otherwise. */
const narrow: Partial<Rule> = { apiGroups: [''], resources: ['configmaps', 'secrets'] };

interface Missing {
  readonly path: 'clusterroles' | 'roles';
  readonly rule: number;
  readonly verb: string;
  readonly widest?: Partial<Rule>;
  readonly provoke: () => Promise<unknown>;
  readonly said: RegExp;
  readonly mode?: 'auto';
}

/**
 * Every rule of the manifest, verb by verb, and what is said when it is not there. `list` of objects and `patch` of Events are asked for
 * only where a server knows no lists by watch, and where an Event repeats (test/collector/rights.test.ts).
 */
const missing: readonly Missing[] = [
  {
    path: 'clusterroles',
    rule: 0,
    verb: 'watch',
    provoke: nothing,
    said: /watches fail and are tried again .*cannot watch resource/,
  },
  { path: 'clusterroles', rule: 0, verb: 'get', provoke: orphanOfNobody, said: /cannot get resource "configmaps"/ },
  {
    path: 'clusterroles',
    rule: 0,
    verb: 'patch',
    provoke: () => deleted('Orphan'),
    said: /cannot patch resource "secrets"/,
  },
  {
    path: 'clusterroles',
    rule: 0,
    verb: 'delete',
    provoke: () => deleted('Background'),
    said: /cannot delete resource "secrets"/,
  },
  {
    path: 'clusterroles',
    rule: 1,
    verb: 'create',
    provoke: stray,
    said: /the server rejected an event .*cannot create resource "events"/,
  },
  {
    path: 'roles',
    rule: 0,
    verb: 'create',
    provoke: forget,
    said: /failed to acquire or renew the lease, will retry .*cannot create resource "leases"/,
  },
  {
    path: 'roles',
    rule: 1,
    verb: 'get',
    widest: narrow,
    provoke: nothing,
    said: /failed to acquire or renew the lease, will retry .*cannot get resource "leases"/,
  },
  {
    path: 'roles',
    rule: 1,
    verb: 'update',
    provoke: nothing,
    said: /failed to acquire or renew the lease, will retry .*cannot update resource "leases"/,
  },
  {
    path: 'roles',
    rule: 2,
    verb: 'get',
    widest: narrow,
    provoke: nothing,
    said: /observing only .*cannot get resource "leases"/,
    mode: 'auto',
  },
];

describe('with one right less', () => {
  it.each(missing)(
    'COL-220 COL-221 says so: $path rule $rule without $verb',
    async ({ path, rule, verb, widest, provoke, said, mode = 'collect' }) => {
      const clusterRoles = `${rbac}/clusterroles`;
      const where = path === 'roles' ? systemRoles : clusterRoles;
      if (widest !== undefined) {
        await setRules(
          clusterRoles,
          (granted.get(clusterRoles) ?? []).map((each, index) => (index === 0 ? { ...each, ...widest } : each)),
        );
      }
      const less = (granted.get(where) ?? []).map((each, index) =>
        index === rule ? { ...each, verbs: each.verbs.filter((word) => word !== verb) } : each,
      );
      await setRules(
        where,
        less.filter(({ verbs }) => verbs.length > 0),
      );
      const running = collector('--mode', mode);
      await provoke();
      await until(`it says ${String(said)}`, async () => said.test(plain(running))).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${running.output}`);
      });
      // It goes on: what is not allowed now may be in a moment.
      expect((await running.stop()).code).toBe(0);
    },
  );

  it('COL-221 COL-222 what could not be done is done when it is allowed again', async () => {
    await setRules(`${rbac}/clusterroles`, (granted.get(`${rbac}/clusterroles`) ?? []).slice(1));
    const running = collector('--mode', 'collect', '--retry-cap', '2s');
    const one = await family();
    await deleteOwner(one, 'Foreground');
    await until('it says that it may not', async () => /cannot watch resource/.test(plain(running)));
    expect(await one.gone('dependent')).toBe(false);
    for (const [path, rules] of granted) await setRules(path, rules);
    await until('the dependent is gone', () => one.gone('dependent'));
    await until('the owner is gone', () => one.gone('owner'));
  });
});
