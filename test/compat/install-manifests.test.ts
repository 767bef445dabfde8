import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { debianGoEnv, unpackedGo } from './debian-go.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/**
 * The kustomize base, its overlay and the Helm chart have the resources of docs/manifests, which other tests prove. Debian has no
 * helm: the chart is rendered by Go's text/template, which helm uses as well, with the functions that the chart needs.
 */
const root = join(import.meta.dirname, '../..');
const chart = join(root, 'deploy/helm/kubegc-collector');

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { template: { spec: { containers: { image: string; args: string[]; resources: unknown }[] } } };
}

const key = ({ kind, metadata }: Resource): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** The resources of a text, in an order that does not depend on the tool. */
const resources = (...texts: readonly string[]): readonly Resource[] =>
  texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Resource | null))
    .filter((each) => each !== null)
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1));

const handedOut = (): readonly Resource[] =>
  resources(
    ...['collect-rbac.yaml', 'collect-deployment.yaml'].map((name) =>
      readFileSync(join(root, 'docs/manifests', name), 'utf8'),
    ),
  );

const container = (all: readonly Resource[]) => {
  const found = all.find(({ kind }) => kind === 'Deployment')?.spec?.template.spec.containers[0];
  if (found === undefined) throw new Error('there is no Deployment with a container');
  return found;
};

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let kubectls: readonly Kubectl[];

beforeAll(async () => {
  directory = await temporaryDirectory();
  const kubeconfig = join(directory.path, 'kubeconfig');
  server = new KubegcProcess(['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig]);
  await server.ready();
  kubectls = kubectlPaths().map((path) => new Kubectl({ path, kubeconfig, home: directory.path }));
});

afterAll(async () => {
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

describe('kustomize', () => {
  const built = (kubectl: Kubectl, name: string) => kubectl.run(['kustomize', join(root, 'deploy/kustomize', name)]);

  it('the base has the resources of docs/manifests', async () => {
    for (const kubectl of kubectls) expect(resources(await built(kubectl, 'base'))).toEqual(handedOut());
  });

  it('the overlay "collect" differs from the base in the mode alone', async () => {
    for (const kubectl of kubectls) {
      const collecting = resources(await built(kubectl, 'collect'));
      expect(container(collecting).args).toContain('--mode=collect');
      const { args } = container(collecting);
      args[args.indexOf('--mode=collect')] = '--mode=observe';
      expect(collecting).toEqual(handedOut());
    }
  });

  it('an API server accepts what kubectl apply -k sends', async () => {
    for (const kubectl of kubectls) {
      const output = await kubectl.run(['apply', '-k', join(root, 'deploy/kustomize/collect')]);
      expect(output.trim().split('\n')).toHaveLength(handedOut().length);
      await kubectl.run(['delete', '-k', join(root, 'deploy/kustomize/collect')]);
    }
  });
});

describe('the Helm chart', () => {
  const read = (name: string) => readFileSync(join(chart, name), 'utf8');
  const metadata = parse(read('Chart.yaml')) as { version: string; appVersion: string };
  const defaults = parse(read('values.yaml')) as Record<string, Record<string, unknown>>;

  /** The text of the chart with some values replaced. */
  function rendered(values: Record<string, unknown> = {}): readonly string[] {
    const templates = Object.fromEntries(
      readdirSync(join(chart, 'templates')).map((name) => [name, read(`templates/${name}`)]),
    );
    const data = { Values: { ...defaults, ...values }, Chart: { AppVersion: metadata.appVersion } };
    const output = execFileSync(join(unpackedGo(), 'go/bin/go'), ['run', 'main.go'], {
      cwd: join(import.meta.dirname, 'go-template'),
      env: debianGoEnv(directory.path),
      input: JSON.stringify({ data, templates }),
      encoding: 'utf8',
    });
    return Object.values(JSON.parse(output) as Record<string, string>);
  }

  it('has the resources of docs/manifests without any value given', () => {
    expect(resources(...rendered())).toEqual(handedOut());
  });

  it('takes image, mode, resources, probe namespace, token and further flags, and an API server accepts it', async () => {
    const limits = { limits: { memory: '2Gi' } };
    const text = rendered({
      image: { repository: 'registry.example.com/team/kubegc', tag: 'ours' },
      mode: 'auto',
      resources: limits,
      probe: { namespace: 'kube-public' },
      token: { value: 'say "friend"', secretName: 'other-token' },
      extraArgs: ['--self-check-period=1h'],
    });
    const all = resources(...text);
    expect(container(all)).toMatchObject({ image: 'registry.example.com/team/kubegc:ours', resources: limits });
    expect(container(all).args).toEqual([
      'collect',
      '--mode=auto',
      '--probe=kube-public',
      '--bind-address=0.0.0.0:10257',
      '--bind-token-file=/etc/kubegc/token',
      '--log-format=json',
      '--self-check-period=1h',
    ]);
    const before = new Set(handedOut().map(key));
    expect(all.map(key).filter((each) => !before.has(each))).toEqual([
      'Role kube-public/kubegc-collector-probe',
      'RoleBinding kube-public/kubegc-collector-probe',
      'Secret kube-system/other-token',
    ]);
    const file = join(directory.path, 'rendered.yaml');
    await writeFile(file, text.join('\n---\n'));
    const [kubectl = missing()] = kubectls;
    await kubectl.run(['apply', '--validate=strict', '-f', file]);
    const token = await kubectl.run('get secret other-token -n kube-system -o jsonpath={.data.token}');
    expect(Buffer.from(token, 'base64').toString()).toBe('say "friend"');
    await kubectl.run(['delete', '-f', file]);
  });

  it('has the version of the package, as the image of the base has', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(metadata).toMatchObject({ version, appVersion: version });
    expect(container(handedOut()).image).toMatch(new RegExp(`:${version.replaceAll('.', '\\.')}$`));
  });
});

function missing(): never {
  throw new Error('there is no kubectl');
}
