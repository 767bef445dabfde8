import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { kubegcCommand, KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';
import { debianGoEnv, unpackedGo } from './debian-go.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** The guard as the ServiceAccount of its manifests, reached through its Service: with their rights and no others. */
const root = join(import.meta.dirname, '../..');
const manifest = join(root, 'docs/manifests/guard/guard.yaml');
const chart = join(root, 'deploy/helm/kubegc-guard');

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: string[] }[] } };
  };
}
const key = ({ kind, metadata }: Resource): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const resources = (...texts: readonly string[]): readonly Resource[] =>
  texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Resource | null))
    .filter((each) => each !== null)
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
const handedOut = resources(readFileSync(manifest, 'utf8'));

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let guard: KubegcProcess | undefined;
let kubectls: readonly Kubectl[];
let port: number;
let kubeconfig: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  port = await freePort();
  const up = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
  const more = ['--authorization-mode', 'RBAC', '--webhook-service', `kubegc-guard/kubegc-guard=127.0.0.1:${port}`];
  server = new KubegcProcess([...up, ...more], { cwd: directory.path });
  await server.ready();
  kubectls = kubectlPaths().map((path) => new Kubectl({ path, kubeconfig, home: directory.path }));
}, 60_000);

afterAll(async () => {
  await guard?.stop();
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

/** The server has to know it before the guard listens. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

it('CAS-073 kustomize and the Helm chart have the resources of docs/manifests/guard', async () => {
  for (const kubectl of kubectls) {
    const built = await kubectl.run(['kustomize', join(root, 'deploy/kustomize/guard')]);
    expect(resources(built)).toEqual(handedOut);
  }
  const templates = Object.fromEntries(
    readdirSync(join(chart, 'templates')).map((name) => [name, readFileSync(join(chart, 'templates', name), 'utf8')]),
  );
  const { appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { appVersion: string };
  const Values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as object;
  const output = execFileSync(join(unpackedGo(), 'go/bin/go'), ['run', 'main.go'], {
    cwd: join(import.meta.dirname, 'go-template'),
    env: debianGoEnv(directory.path),
    input: JSON.stringify({ data: { Values, Chart: { AppVersion: appVersion } }, templates }),
    encoding: 'utf8',
  });
  expect(resources(...Object.values(JSON.parse(output) as Record<string, string>))).toEqual(handedOut);
});

it('CAS-073 an API server takes them, and the guard works with the rights that they give', async () => {
  const [kubectl] = kubectls as [Kubectl];
  await kubectl.run(['apply', '-k', join(root, 'deploy/kustomize/guard')]);
  const authority = join(directory.path, 'authority');
  const kubegc = (args: readonly string[]) =>
    runCommand(kubegcCommand, args, { cwd: directory.path, env: { HOME: directory.path, KUBECONFIG: kubeconfig } });
  const webhook = [
    'guard',
    '--certificate-dir',
    authority,
    '--print',
    'webhook',
    '--service',
    'kubegc-guard/kubegc-guard',
  ];
  const { stdout } = await kubegc(webhook);
  expect(parse(stdout)).toMatchObject({
    webhooks: [
      {
        failurePolicy: 'Fail',
        clientConfig: { caBundle: readFileSync(join(authority, 'ca.crt')).toString('base64') },
        namespaceSelector: { matchExpressions: [{ operator: 'NotIn', values: ['kubegc-guard'] }] },
      },
    ],
  });
  const token = await kubectl.run('create token kubegc-guard -n kubegc-guard --duration 1h');
  const ofGuard = join(directory.path, 'of-guard');
  const account = readFileSync(kubeconfig, 'utf8')
    .replace(/^.*client-(certificate|key)-data:.*\n/gm, '')
    .replace(/token: .*/, `token: ${token.trim()}`);
  await writeFile(ofGuard, account);
  const args = handedOut.find(({ kind }) => kind === 'Deployment')?.spec?.template.spec.containers[0]?.args ?? [];
  expect(args).toContain('--listen=0.0.0.0:9443');
  const adapted = args.map((arg) =>
    arg
      .replace('--listen=0.0.0.0:9443', `--listen=127.0.0.1:${port}`)
      .replace('--certificate-dir=/etc/kubegc/authority', `--certificate-dir=${authority}`),
  );
  guard = new KubegcProcess([...adapted, '--kubeconfig', ofGuard], { cwd: directory.path });
  await guard.ready();
  await writeFile(join(directory.path, 'webhook.yaml'), stdout);
  await kubectl.run(['apply', '-f', join(directory.path, 'webhook.yaml')]);

  await kubectl.run('create namespace shop');
  await kubectl.run('create configmap orders -n shop');
  await kubectl.run('annotate configmap orders -n shop kubegc.io/protect=orders');
  const refused = await kubectl.try(['delete', 'namespace', 'shop']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('DETAIL: configmaps shop/orders: orders'),
  ]);
  // No kind was left out, and what is not protected goes.
  await kubectl.run('create configmap plain -n shop');
  const deleted = await kubectl.try(['delete', 'configmap', 'plain', '-n', 'shop']);
  expect([deleted.code, deleted.stderr]).toEqual([0, '']);
  // The right to unprotect is asked of the server.
  await kubectl.run('create clusterrole editor --verb=get,list,patch --resource=configmaps');
  await kubectl.run('create clusterrolebinding editor --clusterrole=editor --user=ann');
  const off = ['annotate', 'configmap', 'orders', '-n', 'shop', 'kubegc.io/protect-'];
  expect((await kubectl.try([...off, '--as', 'ann'])).stderr).toContain('has no right to unprotect it');
  await kubectl.run(off);
  // Without the right to list, a warning says that protections may have been missed.
  await kubectl.run('delete clusterrolebinding kubegc-guard');
  const blind = await kubectl.try(['delete', 'configmap', 'orders', '-n', 'shop']);
  expect([blind.code, blind.stderr]).toEqual([0, expect.stringContaining('kubegc guard could not read')]);
  // Its own namespace is not guarded: it can be taken away whatever its state.
  await guard.stop();
  await kubectl.run('delete deployment kubegc-guard -n kubegc-guard');
});
