import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';
import { kubegcCommand } from '../program/kubegc-process.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** Roles, tokens and admission as people meet them: real kubectl against `kubegc up --authorization-mode RBAC`. */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let admin: string;

const flags = (): string[] => ['--data-dir', join(directory.path, 'data'), '--write-kubeconfig', admin];

beforeAll(async () => {
  directory = await temporaryDirectory();
  admin = join(directory.path, 'admin');
  server = new KubegcProcess(['up', '--authorization-mode', 'RBAC', '--listen', '127.0.0.1:0', ...flags()]);
  await server.ready();
});

afterAll(async () => {
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

/** kubectl with a token and the server's authority, and nothing else. */
async function withToken(path: string, token: string): Promise<Kubectl> {
  const kubeconfig = join(directory.path, `token-${kubeconfigs++}`);
  const text = readFileSync(admin, 'utf8')
    .replace(/^.*client-(certificate|key)-data:.*\n/gm, '')
    .replace(/token: .*/, `token: ${token.trim()}`);
  await writeFile(kubeconfig, text);
  return new Kubectl({ path, kubeconfig, home: directory.path });
}
let kubeconfigs = 0;

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe.each(kubectlPaths())('%s', (path) => {
  const version = kubectlPaths().indexOf(path);
  const namespace = `n${version}`;
  const robot = `system:serviceaccount:${namespace}:robot`;
  let kubectl: Kubectl;

  beforeAll(async () => {
    kubectl = new Kubectl({ path, kubeconfig: admin, home: directory.path });
    await kubectl.run(`create namespace ${namespace}`);
    await kubectl.run(`create serviceaccount robot -n ${namespace}`);
  });

  const mayI = async (line: string): Promise<string> =>
    (await kubectl.try(['auth', 'can-i', ...line.split(' ')])).stdout.trim();

  it('API-373 API-375 auth can-i follows roles and bindings at once', async () => {
    expect(await mayI(`list pods -n ${namespace} --as ${robot}`)).toBe('no');
    await kubectl.run(`create rolebinding view -n ${namespace} --clusterrole=view --serviceaccount=${namespace}:robot`);
    expect(await mayI(`list pods -n ${namespace} --as ${robot}`)).toBe('yes');
    expect(await mayI(`list pods -n default --as ${robot}`)).toBe('no');
    expect(await mayI(`get secrets -n ${namespace} --as ${robot}`)).toBe('no');
    await kubectl.run(`create role one -n ${namespace} --verb=get --resource=secrets --resource-name=mine`);
    await kubectl.run(`create rolebinding one -n ${namespace} --role=one --serviceaccount=${namespace}:robot`);
    expect(await mayI(`get secrets/mine -n ${namespace} --as ${robot}`)).toBe('yes');
    expect(await mayI(`get secrets/yours -n ${namespace} --as ${robot}`)).toBe('no');
    expect(await mayI('get /metrics --as bob')).toBe('no');
    expect(await mayI('get /version --as bob')).toBe('yes');
    expect(await mayI('* * --all-namespaces')).toBe('yes');
    await kubectl.run(`delete rolebinding view one -n ${namespace}`);
    expect(await mayI(`list pods -n ${namespace} --as ${robot}`)).toBe('no');
  });

  it('API-374 auth can-i --list shows the rules of a user', async () => {
    await kubectl.run(`create role writer -n ${namespace} --verb=create,delete --resource=configmaps,deployments.apps`);
    await kubectl.run(`create rolebinding writer -n ${namespace} --role=writer --user=ann`);
    const rules = await kubectl.run(`auth can-i --list -n ${namespace} --as ann`);
    expect(rules).toMatch(/^configmaps +\[\] +\[\] +\[create delete\]$/m);
    expect(rules).toMatch(/^deployments\.apps +\[\] +\[\] +\[create delete\]$/m);
    expect(rules).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    expect(rules).toMatch(/\[\/version\] +\[\] +\[get\]$/m);
    expect(await kubectl.run(`auth can-i --list -n default --as ann`)).not.toContain('configmaps');
  });

  it('API-042 API-375 says who may not do what', async () => {
    const refused = await kubectl.try(['get', 'pods', '-n', namespace, '--as', 'bob']);
    expect(refused.stderr).toBe(
      `Error from server (Forbidden): pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "${namespace}"\n`,
    );
    expect(refused.code).toBe(1);
  });

  it('API-375 users cannot grant more than they have', async () => {
    await kubectl.run(`create rolebinding granter -n ${namespace} --clusterrole=admin --user=carl`);
    const given = await kubectl.try([
      'create',
      'rolebinding',
      'ok',
      '-n',
      namespace,
      '--clusterrole=view',
      '--user=bob',
      '--as',
      'carl',
    ]);
    expect(given.stdout).toBe('rolebinding.rbac.authorization.k8s.io/ok created\n');
    const refused = await kubectl.try([
      'create',
      'rolebinding',
      'too-much',
      '-n',
      namespace,
      '--clusterrole=cluster-admin',
      '--user=carl',
      '--as',
      'carl',
    ]);
    expect(refused.stderr).toContain(
      'user "carl" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
    );
    expect(refused.stderr).toContain('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
  });

  it('auth reconcile creates roles, and adds their missing rules', async () => {
    const file = join(directory.path, `roles-${version}.yaml`);
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'kept', namespace } };
    const rule = (verb: string) => ({ apiGroups: [''], resources: ['pods'], verbs: [verb] });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kept' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }];
    const items = [
      { ...role, rules: [rule('get'), rule('list')] },
      { ...role, kind: 'RoleBinding', roleRef, subjects },
    ];
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    expect(await kubectl.run(['auth', 'reconcile', '-f', file])).toMatch(
      /role\.rbac\.authorization\.k8s\.io\/kept reconciled/,
    );
    await kubectl.run([
      'patch',
      'role',
      'kept',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify({ rules: [rule('watch')] }),
    ]);
    expect(await mayI(`get pods -n ${namespace} --as dora`)).toBe('no');
    await kubectl.run(['auth', 'reconcile', '-f', file]);
    for (const verb of ['get', 'list', 'watch'])
      expect(await mayI(`${verb} pods -n ${namespace} --as dora`)).toBe('yes');
  });

  it('API-375 roles that aggregate have the rules of their parts', async () => {
    await kubectl.run(`create clusterrole part-${version} --verb=get --resource=nodes`);
    await kubectl.run(`label clusterrole part-${version} rbac.authorization.k8s.io/aggregate-to-view=true`);
    await kubectl.run(`create clusterrolebinding eva-${version} --clusterrole=view --user=eva-${version}`);
    await until('view has it', async () => (await mayI(`get nodes --as eva-${version}`)) === 'yes');
    await kubectl.run(`delete clusterrole part-${version}`);
    await until('view has it no more', async () => (await mayI(`get nodes --as eva-${version}`)) === 'no');
  });

  it('COL-18A the debug graph is for who has its path', async () => {
    const graph = ['get', '--raw', '/debug/controllers/garbage-collector-controller/graph'];
    const refused = await kubectl.try([...graph, '--as', `graph-${version}`]);
    expect(refused.stderr).toContain('(Forbidden)');
    await kubectl.run(`create clusterrole graph-${version} --verb=get --non-resource-url=/debug/controllers/*`);
    await kubectl.run(
      `create clusterrolebinding graph-${version} --clusterrole=graph-${version} --user=graph-${version}`,
    );
    expect((await kubectl.try([...graph, '--as', `graph-${version}`])).stdout).toMatch(/^strict digraph full \{/);
  });

  it('API-377 create token makes tokens that are their ServiceAccount', async () => {
    const token = await kubectl.run(`create token robot -n ${namespace} --duration 20m`);
    const { iat, exp, aud } = claimsOf(token) as { iat: number; exp: number; aud: string[] };
    expect([exp - iat, aud]).toEqual([1200, ['https://kubernetes.default.svc.cluster.local']]);
    const own = await withToken(path, token);
    expect(await own.run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe(robot);
    expect((await own.try(['get', 'pods', '-n', namespace])).stderr).toContain(
      `User "${robot}" cannot list resource "pods"`,
    );
    const short = await kubectl.try(['create', 'token', 'robot', '-n', namespace, '--duration', '1m']);
    expect(short.stderr).toContain('may not specify a duration less than 10 minutes');
    expect((await kubectl.try(['create', 'token', 'nobody', '-n', namespace])).stderr).toContain(
      'serviceaccounts "nobody" not found',
    );
  });

  it('API-377 a token for others is none for this server', async () => {
    const token = await kubectl.run(`create token robot -n ${namespace} --audience vault --audience bank`);
    expect(claimsOf(token)['aud']).toEqual(['vault', 'bank']);
    const own = await withToken(path, token);
    expect((await own.try(['get', 'pods'])).stderr).toContain('You must be logged in to the server');
  });

  it('API-371 API-377 a bound token goes with what it is bound to', async () => {
    await kubectl.run(`create secret generic bound -n ${namespace}`);
    const token = await kubectl.run(
      `create token robot -n ${namespace} --bound-object-kind Secret --bound-object-name bound`,
    );
    const own = await withToken(path, token);
    expect(await own.run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe(robot);
    await kubectl.run(`delete secret bound -n ${namespace}`);
    expect((await own.try(['auth', 'whoami'])).stderr).toContain('Unauthorized');
  });

  it('LIFE-680 a Secret for a token gets one, and goes with its account', async () => {
    await kubectl.run(`create serviceaccount old -n ${namespace}`);
    const annotations = { 'kubernetes.io/service-account.name': 'old' };
    const type = 'kubernetes.io/service-account-token';
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'old', namespace, annotations }, type };
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(secret) });
    const read = (key: string) =>
      kubectl.run(['get', 'secret', 'old', '-n', namespace, '-o', `go-template={{index .data "${key}"}}`]);
    await until('it has a token', async () => (await read('token')) !== '<no value>');
    const own = await withToken(path, Buffer.from(await read('token'), 'base64').toString());
    expect(await own.run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe(
      `system:serviceaccount:${namespace}:old`,
    );
    expect(Buffer.from(await read('ca.crt'), 'base64').toString()).toContain('BEGIN CERTIFICATE');
    expect(Buffer.from(await read('namespace'), 'base64').toString()).toBe(namespace);
    await kubectl.run(`delete serviceaccount old -n ${namespace}`);
    await until('it is gone', async () => (await kubectl.try(['get', 'secret', 'old', '-n', namespace])).code !== 0);
    expect((await own.try(['auth', 'whoami'])).stderr).toContain('Unauthorized');
  });

  it('API-341 API-502 a pod looks as Kubernetes makes it', async () => {
    await kubectl.run(`run p -n ${namespace} --image=nginx:1`);
    const pod = await kubectl.json(`get pod p -n ${namespace}`);
    const { spec } = pod as unknown as { spec: { volumes: { name: string }[] } };
    const name = spec.volumes[0]?.name ?? '';
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    const toleration = (key: string) => ({ effect: 'NoExecute', key, operator: 'Exists', tolerationSeconds: 300 });
    expect(spec).toEqual({
      containers: [
        {
          image: 'nginx:1',
          imagePullPolicy: 'IfNotPresent',
          name: 'p',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          volumeMounts: [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', name, readOnly: true }],
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      serviceAccount: 'default',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      tolerations: [toleration('node.kubernetes.io/not-ready'), toleration('node.kubernetes.io/unreachable')],
      volumes: [
        {
          name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
              {
                downwardAPI: {
                  items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
                },
              },
            ],
          },
        },
      ],
    });
  });

  it('API-361 create quota counts, and refuses what is too much', async () => {
    await kubectl.run(`create quota few -n ${namespace} --hard=configmaps=2`);
    // The root certificate of the namespace is one.
    await until('it is counted', async () =>
      /configmaps: 1\/2/.test(await kubectl.run(`get quota few -n ${namespace}`)),
    );
    await kubectl.run(`create configmap a -n ${namespace}`);
    const refused = await kubectl.try(['create', 'configmap', 'b', '-n', namespace]);
    expect(refused.stderr).toBe(
      'error: failed to create configmap: configmaps "b" is forbidden: exceeded quota: few, requested: configmaps=1, used: configmaps=2, limited: configmaps=2\n',
    );
    await kubectl.run(`delete configmap a -n ${namespace}`);
    await until(
      'there is room again',
      async () => (await kubectl.try(['create', 'configmap', 'b', '-n', namespace])).code === 0,
    );
  });
});

it('API-377 API-513 tokens and roles outlive the server', async () => {
  const path = kubectlPaths().at(-1) ?? '';
  const kubectl = new Kubectl({ path, kubeconfig: admin, home: directory.path });
  const token = await kubectl.run('create token default -n default');
  await kubectl.run('delete clusterrolebinding system:discovery');
  const address = /127\.0\.0\.1:\d+/.exec(server.output)?.[0] ?? '';
  await server.stop();
  server = new KubegcProcess(['up', '--authorization-mode', 'RBAC', '--listen', address, ...flags()]);
  await server.ready();
  const own = await withToken(path, token);
  expect(await own.run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe(
    'system:serviceaccount:default:default',
  );
  expect(await kubectl.run('get clusterrolebinding system:discovery -o name')).toBe(
    'clusterrolebinding.rbac.authorization.k8s.io/system:discovery\n',
  );
});

describe('flags', () => {
  it.each([
    [['--authorization-mode', 'ABAC'], /'ABAC' is invalid\. Allowed choices are AlwaysAllow, AlwaysDeny, RBAC/],
    [['--enable-admission-plugins', 'Nonsense'], /enable-admission-plugins plugin "Nonsense" is unknown/],
    [['--disable-admission-plugins', 'Priority,Nonsense'], /disable-admission-plugins plugin "Nonsense" is unknown/],
    [
      ['--enable-admission-plugins', 'Priority', '--disable-admission-plugins', 'Priority'],
      /\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped/,
    ],
  ])('API-340 API-372 %j is refused', async (args, message) => {
    const { code, stderr } = await runCommand(process.execPath, [
      kubegcCommand,
      'up',
      '--store',
      'memory',
      '--listen',
      '127.0.0.1:0',
      ...args,
      '--data-dir',
      join(directory.path, 'unused'),
    ]);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });
});
