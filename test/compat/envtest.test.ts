import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EtcdProcess } from './etcd-process.ts';
import { kubegcCommand, temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';

/**
 * The executables of `kubegc envtest-assets`, started as controller-runtime's envtest starts its own: the same flags in the same
 * order, the same files in the directory of certificates, the same questions about health, and SIGTERM at the end (API-565).
 */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let assets: string;
let certDir: string;
let etcd: Executable;
let apiserver: Executable;
let etcdUrl: string;
let port: number;

class Executable {
  readonly #child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  output = '';

  constructor(path: string, args: readonly string[]) {
    this.#child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (text: Buffer) => (this.output += text.toString()));
    this.#child.stderr?.on('data', (text: Buffer) => (this.output += text.toString()));
    this.ended = new Promise((settle) => this.#child.once('close', (code, signal) => settle({ code, signal })));
  }

  stop(): Promise<{ code: number | null; signal: string | null }> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}

async function openssl(...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand('openssl', args, { timeoutMs: 60_000 });
  expect(code, stderr).toBe(0);
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority on P-256 with keys in PKCS#8, as envtest makes them. */
async function authority(certificate: string, key: string, name: string): Promise<void> {
  await openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', certificate, '-days', '1', '-subj', `/CN=${name}`);
}

interface Issued {
  readonly ca: readonly [certificate: string, key: string];
  readonly subject: string;
  readonly hosts?: string;
}

async function issue(certificate: string, key: string, { ca, subject, hosts }: Issued): Promise<void> {
  const names = hosts === undefined ? [] : ['-addext', `subjectAltName=${hosts}`];
  const [caCertificate, caKey] = ca;
  const signing = ['-CA', caCertificate, '-CAkey', caKey, '-days', '1', '-subj', subject, ...names];
  await openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', certificate, ...signing);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const found = (server.address() as AddressInfo).port;
  await new Promise((closed) => server.close(closed));
  return found;
}

const file = (name: string): string => join(certDir, name);
const read = (name: string): Promise<Buffer> => readFile(file(name));

function statusOf(url: string): Promise<number> {
  return new Promise((settle) => {
    const ask = url.startsWith('https:') ? request(url, { rejectUnauthorized: false }) : httpGet(url);
    ask
      .on('error', () => settle(0))
      .on('response', (response) => {
        response.resume();
        settle(response.statusCode ?? 0);
      });
    ask.end();
  });
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [field: string]: unknown; readonly metadata?: { readonly uid?: string } };
}

/** With a client certificate, and trust in nothing but envtest's own authority. */
async function send(user: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const [ca, cert, key] = await Promise.all(['serving-ca.crt', `${user}.crt`, `${user}.key`].map(read));
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((settle, reject) => {
    const headers = { accept: 'application/json', ...(payload && { 'content-type': 'application/json' }) };
    const asked = request(
      { host: '127.0.0.1', port, path, method, headers, ca: ca!, cert: cert!, key: key! },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          settle({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
        );
      },
    );
    asked.on('error', reject).end(payload);
  });
}

/** Parses the output of --help as envtest's CheckFlag does. */
async function hasFlag(executable: string, flag: string): Promise<boolean> {
  const { code, stdout, stderr } = await runCommand(join(assets, executable), ['--help'], { timeoutMs: 60_000 });
  expect(code).toBe(0);
  return new RegExp(`^\\s*--${flag}\\b`, 'm').test(stdout + stderr);
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  assets = join(directory.path, 'assets');
  certDir = join(directory.path, 'certificates');
  await mkdir(certDir);
  const written = await runCommand(process.execPath, [kubegcCommand, 'envtest-assets', assets], { timeoutMs: 60_000 });
  expect(written.stdout).toContain(`export KUBEBUILDER_ASSETS=${assets}`);

  await authority(file('serving-ca.crt'), file('serving-ca.key'), 'envtest-environment');
  const serving = [file('serving-ca.crt'), file('serving-ca.key')] as const;
  const hosts = 'IP:127.0.0.1,IP:::1,DNS:localhost';
  await issue(file('apiserver.crt'), file('apiserver.key'), { ca: serving, subject: '/CN=localhost', hosts });
  await authority(file('sa-signer.crt'), file('sa-signer.key'), 'envtest-environment');
  await authority(file('client-cert-auth-ca.crt'), file('client-ca.key'), 'envtest-environment');
  const clients = [file('client-cert-auth-ca.crt'), file('client-ca.key')] as const;
  await issue(file('admin.crt'), file('admin.key'), { ca: clients, subject: '/O=system:masters/CN=admin' });
  await issue(file('dev.crt'), file('dev.key'), { ca: clients, subject: '/O=developers/CN=dev' });

  const [etcdPort, peerPort] = [await freePort(), await freePort()];
  etcdUrl = `http://127.0.0.1:${etcdPort}`;
  etcd = new Executable(join(assets, 'etcd'), [
    `--advertise-client-urls=${etcdUrl}`,
    `--data-dir=${join(directory.path, 'etcd-data')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    ...((await hasFlag('etcd', 'unsafe-no-fsync')) ? ['--unsafe-no-fsync=true'] : []),
  ]);
  await until(`etcd is healthy: ${etcd.output}`, async () => (await statusOf(`${etcdUrl}/health`)) === 200);

  port = await freePort();
  apiserver = new Executable(join(assets, 'kube-apiserver'), [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${certDir}`,
    `--client-ca-file=${file('client-cert-auth-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=${etcdUrl}`,
    ...((await hasFlag('kube-apiserver', 'insecure-port')) ? ['--insecure-port=0'] : []),
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${file('sa-signer.crt')}`,
    `--service-account-signing-key-file=${file('sa-signer.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ]);
  await until('kube-apiserver is healthy', async () => (await statusOf(`https://127.0.0.1:${port}/healthz`)) === 200);
});

afterAll(async () => {
  await Promise.all([etcd?.stop(), apiserver?.stop()]);
  await directory[Symbol.asyncDispose]();
});

describe('API-565 kubegc envtest-assets', () => {
  it('writes the three executables that envtest looks for', async () => {
    expect((await readdir(assets)).toSorted()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
  });

  it('is ready for whoever has no credentials, as envtest asks', async () => {
    await until('it is ready', async () => (await statusOf(`https://127.0.0.1:${port}/readyz`)) === 200);
    expect(await statusOf(`https://127.0.0.1:${port}/livez`)).toBe(200);
    expect(await statusOf(`${etcdUrl}/v3/kv/range`)).toBe(404);
  });

  it('serves with the certificate that it was given, and believes client certificates of the authority it was given', async () => {
    expect((await send('admin', 'GET', '/api/v1/namespaces/default')).status).toBe(200);
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { body } = await send('admin', 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    expect(body['status']).toMatchObject({
      userInfo: { username: 'admin', groups: expect.arrayContaining(['system:masters']) },
    });
  });

  it('goes by RBAC: others may do what roles allow, and no more', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    expect((await send('dev', 'GET', secrets)).status).toBe(403);
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }];
    expect((await send('admin', 'POST', `${rbac}/roles`, { metadata: { name: 'dev' }, rules })).status).toBe(201);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'dev' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }];
    const binding = { metadata: { name: 'dev' }, roleRef, subjects };
    expect((await send('admin', 'POST', `${rbac}/rolebindings`, binding)).status).toBe(201);
    await until('the role counts', async () => (await send('dev', 'GET', secrets)).status === 200);
  });

  it('signs the tokens of service accounts with the key and for the issuer it was given', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    // The controller that would make it does not run.
    expect((await send('admin', 'POST', accounts, { metadata: { name: 'default' } })).status).toBe(201);
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { body } = await send('admin', 'POST', `${accounts}/default/token`, asked);
    const { token } = body['status'] as { token: string };
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss: string };
    expect(claims.iss).toBe(`https://127.0.0.1:${port}/`);
  });

  it('collects, which envtest does not', async () => {
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const owner = await send('admin', 'POST', configMaps, { metadata: { name: 'owner' } });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.body.metadata?.uid };
    const dependent = { metadata: { name: 'dependent', ownerReferences: [reference] } };
    expect((await send('admin', 'POST', configMaps, dependent)).status).toBe(201);
    await send('admin', 'DELETE', `${configMaps}/owner`);
    await until('the dependent goes', async () => {
      return (await send('admin', 'GET', `${configMaps}/dependent`)).status === 404;
    });
  });

  it('kubectl is the one on the PATH, or says that there is none', async () => {
    const found = (process.env['KUBECTL_PATHS'] ?? '').split(':')[0] ?? '';
    const path = `${assets}:${dirname(found)}:/usr/bin:/bin`;
    const env = { PATH: path };
    const with_ = await runCommand(join(assets, 'kubectl'), ['version', '--client'], { timeoutMs: 60_000, env });
    if (found !== '') expect(with_.stdout).toContain('Client Version');
    const alone = await runCommand('/bin/sh', [join(assets, 'kubectl'), 'version'], {
      timeoutMs: 60_000,
      env: { PATH: assets },
    });
    expect(alone).toMatchObject({ code: 127, stderr: expect.stringContaining('kubectl is not installed') });
  });

  it('writes nothing of its own into a namespace', async () => {
    expect((await send('admin', 'POST', '/api/v1/namespaces', { metadata: { name: 'quiet' } })).status).toBe(201);
    const writes = ['serviceaccounts', 'configmaps', 'secrets'].map(async (resource) => {
      const { body } = await send('admin', 'GET', `/api/v1/namespaces/quiet/${resource}`);
      return body['items'];
    });
    expect(await Promise.all(writes)).toEqual([[], [], []]);
    await send('admin', 'DELETE', '/api/v1/namespaces/quiet');
    await until('the namespace is gone', async () => {
      return (await send('admin', 'GET', '/api/v1/namespaces/quiet')).status === 404;
    });
  });

  it('ends on SIGTERM', async () => {
    expect(await apiserver.stop()).toEqual({ code: 0, signal: null });
    expect(await etcd.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('API-565 kube-apiserver of kubegc envtest-assets', () => {
  it('says what it needs when etcd is not there, and when a file is not', async () => {
    const run = (...flags: string[]) =>
      runCommand(join(assets, 'kube-apiserver'), [`--cert-dir=${certDir}`, '--secure-port=0', ...flags], {
        timeoutMs: 60_000,
      });
    const missing = await run('--client-ca-file=/nowhere/ca.crt');
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot use --client-ca-file') });
    const odd = await run('--authorization-mode=ABAC');
    expect(odd).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--authorization-mode=ABAC is not to be had'),
    });
  });

  it('keeps its objects in a real etcd that stands in the place of ours, from one start to the next', async () => {
    await using real = await EtcdProcess.start();
    const start = async (): Promise<Executable> => {
      port = await freePort();
      const started = new Executable(join(assets, 'kube-apiserver'), [
        '--authorization-mode=RBAC',
        `--cert-dir=${certDir}`,
        `--client-ca-file=${file('client-cert-auth-ca.crt')}`,
        `--etcd-servers=${real.url}`,
        `--secure-port=${port}`,
      ]);
      const healthy = async (): Promise<boolean> => (await statusOf(`https://127.0.0.1:${port}/healthz`)) === 200;
      await until('kube-apiserver is healthy', healthy);
      return started;
    };
    const first = await start();
    const kept = '/api/v1/namespaces/default/configmaps';
    expect((await send('admin', 'POST', kept, { metadata: { name: 'kept' } })).status).toBe(201);
    await first.stop();
    const second = await start();
    expect((await send('admin', 'GET', `${kept}/kept`)).status).toBe(200);
    await second.stop();
  });

  it('makes its own serving certificate in an empty directory of certificates, for clients to find', async () => {
    const own = join(directory.path, 'own');
    const at = await freePort();
    const started = new Executable(join(assets, 'kube-apiserver'), [
      `--cert-dir=${own}`,
      `--secure-port=${at}`,
      '--v=2',
    ]);
    await until('it is healthy', async () => (await statusOf(`https://127.0.0.1:${at}/healthz`)) === 200);
    expect((await readdir(own)).toSorted()).toEqual(['apiserver.crt', 'apiserver.key']);
    expect(started.output).toContain('flags that kubegc does not know are ignored');
    await started.stop();
  });
});
