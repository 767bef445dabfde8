import { spawn } from 'node:child_process';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { request } from 'node:https';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateRequest } from '../../src/apiserver/authentication/certificate-request.fixture.ts';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, kubegcCommand, temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';
import { controllerNames } from '../../src/assembly/controller-names.ts';

/** The command as a person meets it: what it prints, refuses, and leaves behind. */
const kubegc = (...args: string[]) => runCommand(process.execPath, [kubegcCommand, ...args]);

describe('kubegc', () => {
  it('prints version, help and completion', async () => {
    expect((await kubegc('version')).stdout).toMatch(/^kubegc \d+\.\d+\.\d+ \(Kubernetes API 1\.36\.\d+, Node \d+/);
    expect((await kubegc('--version')).stdout).toBe((await kubegc('version')).stdout);
    expect(JSON.parse((await kubegc('version', '-o', 'json')).stdout)).toMatchObject({ kind: 'Version' });
    expect((await kubegc('--help')).stdout).toContain('Examples:');
    expect((await kubegc('help', 'up')).stdout).toContain('--data-dir <DIR>');
    expect((await kubegc()).stdout).toContain('Usage: kubegc');
    for (const shell of ['bash', 'zsh', 'fish']) expect((await kubegc('completion', shell)).stdout).toContain('kubegc');
    const bash = await kubegc('completion', 'bash');
    const typed = await runCommand('bash', [
      '-c',
      `${bash.stdout}\nCOMP_WORDS=(kubegc up --da) COMP_CWORD=2; _kubegc; echo "\${COMPREPLY[@]}"`,
    ]);
    expect(typed.stdout).toBe('--data-dir\n');
  });

  it('ends quietly when nobody reads what it prints any more', async () => {
    const child = spawn(process.execPath, [kubegcCommand, 'help', 'up'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const code = await new Promise((ended) => void child.once('close', ended));
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each([
    { args: ['upp'], message: /unknown command 'upp'\n\(Did you mean up\?\)/ },
    { args: ['up', '--dta-dir', 'x'], message: /unknown option '--dta-dir'\n\(Did you mean --data-dir\?\)/ },
    { args: ['up', '--listen', 'nonsense'], message: /invalid --listen address "nonsense"\nGive HOST:PORT/ },
    { args: ['up', '--store', 'mysql'], message: /'mysql' is invalid\. Allowed choices are file, memory/ },
    {
      args: ['up', '--controllers', 'nope'],
      message: /"nope" is not in the list of known controllers\nKnown controllers: garbage-collector-controller/,
    },
    {
      args: ['up', '-f', '/does/not/exist.yaml'],
      message: /cannot read \/does\/not\/exist\.yaml: no such file or directory/,
    },
    {
      args: ['up', '--data-dir', '/dev/null/x'],
      message: /cannot use the data directory \/dev\/null\/x: .*\nChoose another one with --data-dir/,
    },
    {
      args: ['up', '--leader-elect-retry-period', '1s'],
      message: /--leader-elect-retry-period does nothing with --store file\nIt is for --store etcd/,
    },
    { args: ['completion', 'tcsh'], message: /no completion for the shell "tcsh"/ },
  ])('refuses $args with what is wrong and what to do', async ({ args, message }) => {
    const { code, stderr, stdout } = await kubegc(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stdout).toBe('');
  });

  it('refuses a busy port', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await new Promise((next) => busy.once('listening', next));
    const address = busy.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, stderr } = await kubegc('up', '--store', 'memory', '--listen', `127.0.0.1:${port}`);
    busy.close();
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: the address is already in use`);
    expect(code).toBe(1);
  });

  it('refuses a manifest that is not one, before anything is started', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'broken.yaml');
    await writeFile(file, 'a: [1');
    const { code, stderr } = await kubegc('up', '--store', 'memory', '--data-dir', directory.path, '-f', file);
    expect(code).toBe(1);
    expect(stderr).toContain(file);
  });
});

it('runs every controller of the sources in the bundle too, and warns of nothing at its start', async () => {
  await using own = await temporaryDirectory();
  const file = join(own.path, 'kubeconfig');
  const flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', file, '--simulate-pods', 'run'];
  const server = new KubegcProcess(['up', ...flags]);
  await server.ready();
  expect((await kubegc('up', '--help')).stdout).toContain(`Controllers: ${controllerNames.join(', ')}`);
  const client = new ApiClient(file);
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  expect((await client.send('POST', path, { metadata: { name: 'web' }, spec })).status).toBe(201);
  await until('it is rolled out', async () => {
    const { body } = await client.send('GET', `${path}/web`);
    return (body['status'] as { readyReplicas?: number } | undefined)?.readyReplicas === 2;
  });
  client.close();
  await server.stop();
  expect(server.output).not.toContain('Warning');
});

it('is what npx runs in this folder after npm ci: npx would else pack and build the folder once more', () => {
  expect(realpathSync(join(dirname(dirname(kubegcCommand)), 'node_modules', '.bin', 'kubegc'))).toBe(kubegcCommand);
});

describe('kubegc up --exit-with-parent', () => {
  it('ends when the program that started it is killed', async () => {
    await using directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    // The shell is the parent: it waits for its child, and is killed without a chance to pass that on.
    const command = [process.execPath, kubegcCommand, 'up', ...flags, '--exit-with-parent'];
    const parent = spawn('sh', ['-c', '"$@" & wait', 'sh', ...command], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    parent.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    // The pipe is the child's too: it closes when the last of the two has ended.
    const bothEnded = new Promise((settle) => parent.on('close', () => settle('both ended')));
    await until('kubegc is ready', () => output.includes('kubegc is ready'));
    parent.kill('SIGKILL');
    expect(await bothEnded).toBe('both ended');
  });
});

describe('kubegc up', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let data: string;
  let kubeconfig: string;
  let manifest: string;
  const start = (): KubegcProcess =>
    new KubegcProcess([
      'up',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      data,
      '--write-kubeconfig',
      kubeconfig,
      '-f',
      manifest,
    ]);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    data = join(directory.path, 'data');
    kubeconfig = join(directory.path, 'kubeconfig');
    manifest = join(directory.path, 'first.yaml');
    await writeFile(
      manifest,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: loaded, namespace: loaded-here}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: loaded-here}\n',
    );
    server = start();
    await server.ready();
  });

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  it('says where the kubeconfig is and one line that it is ready', () => {
    expect(server.output).toContain(`kubeconfig: ${kubeconfig}\n`);
    expect(server.output.match(/^kubegc is ready: https:\/\/127\.0\.0\.1:\d+ /gm)).toHaveLength(1);
  });

  it('API-340 reads requests for certificates, with what is loaded for the first of them', async () => {
    const client = new ApiClient(kubeconfig);
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const ask = (name: string, request: string) =>
      client.send('POST', path, {
        metadata: { name },
        spec: { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
      });
    expect((await ask('good', certificateRequest())).status).toBe(201);
    expect((await ask('forged', certificateRequest({ forged: true }))).status).toBe(422);
    expect((await ask('master', certificateRequest({ organizations: ['system:masters'] }))).status).toBe(403);
    client.close();
  });

  it('keeps what is secret to the user: kubeconfig and data directory (0600, 0700)', () => {
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, 'admin.token')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'ca.key')).mode & 0o777).toBe(0o600);
  });

  it('has loaded the manifests of -f, namespaces first', async () => {
    const client = new ApiClient(kubeconfig);
    expect((await client.send('GET', '/api/v1/namespaces/loaded-here/configmaps/loaded')).status).toBe(200);
    client.close();
  });

  it('API-370 API-371 lets in the administrator by token and by certificate, and nobody else', async () => {
    const text = readFileSync(kubeconfig, 'utf8');
    const origin = new URL(/server: (\S+)/.exec(text)?.[1] ?? '');
    const ask = (options: object): Promise<number> =>
      new Promise((settle, reject) => {
        request(
          {
            host: origin.hostname,
            port: origin.port,
            path: '/api/v1/namespaces',
            ca: readFileSync(join(data, 'ca.crt')),
            agent: false,
            ...options,
          },
          (answer) => {
            answer.resume();
            settle(answer.statusCode ?? 0);
          },
        )
          .on('error', reject)
          .end();
      });
    const pem = (name: string): Buffer => readFileSync(join(data, name));
    expect(await ask({})).toBe(401);
    expect(await ask({ headers: { authorization: 'Bearer wrong' } })).toBe(401);
    expect(await ask({ headers: { authorization: `Bearer ${pem('admin.token').toString().trim()}` } })).toBe(200);
    expect(await ask({ cert: pem('admin.crt'), key: pem('admin.key') })).toBe(200);
    expect(await ask({ path: '/readyz' })).toBe(200);
    expect(await ask({ path: '/version' })).toBe(200);
  });

  it('refuses a second instance on the same data directory, and the first goes on', async () => {
    const { code, stderr } = await kubegc('up', '--listen', '127.0.0.1:0', '--data-dir', data);
    expect(code).toBe(1);
    expect(stderr).toMatch(/the data directory .* is in use by another kubegc/);
    const client = new ApiClient(kubeconfig);
    expect((await client.send('GET', '/readyz')).status).toBe(200);
    client.close();
  });

  it('refuses it with the memory store too, which keeps its kubeconfig there', async () => {
    const { code, stderr } = await kubegc('up', '--store', 'memory', '--listen', '127.0.0.1:0', '--data-dir', data);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/the data directory .* is in use by another kubegc/)]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends cleanly on %s, also with a watch open, and starts again with what it had',
    async (signal) => {
      const client = new ApiClient(kubeconfig);
      const name = `kept-${signal.toLowerCase()}`;
      expect((await client.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } })).status).toBe(
        201,
      );
      const watch = await client.watch('/api/v1/configmaps?watch=true');
      server.kill(signal);
      const { code } = await server.ended;
      expect(code).toBe(0);
      await watch.ended;
      client.close();
      server = start();
      await server.ready();
      const again = new ApiClient(kubeconfig);
      expect((await again.send('GET', `/api/v1/namespaces/default/configmaps/${name}`)).status).toBe(200);
      again.close();
    },
  );
});

describe('kubegc up on a full disk', () => {
  it('refuses writes when one cannot be made durable, reads go on, and what it acknowledged is kept', async () => {
    await using directory = await temporaryDirectory();
    const data = join(directory.path, 'data');
    const kubeconfig = join(directory.path, 'kubeconfig');
    const args = ['up', '--listen', '127.0.0.1:0', '--data-dir', data, '--write-kubeconfig', kubeconfig];
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const full = new KubegcProcess(args, { fileKilobytes: 4096 });
    await full.ready();
    const client = new ApiClient(kubeconfig);
    const create = (name: string) =>
      client.send('POST', configMaps, { metadata: { name }, data: { filler: 'x'.repeat(50_000) } });
    const acknowledged: string[] = [];
    let refused = await create('first');
    for (let index = 0; refused.status === 201; index++) {
      acknowledged.push(index === 0 ? 'first' : `filler-${index - 1}`);
      refused = await create(`filler-${index}`);
    }
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(refused.status).toBe(503);
    expect(refused.body['message']).toMatch(/^the store failed and accepts no more writes: /);

    const watch = await client.send(
      'GET',
      `${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name%3Dfirst`,
    );
    expect(watch.status).toBe(200);
    const listed = await client.send('GET', configMaps);
    expect(namesOf(listed.body)).toEqual(expect.arrayContaining(acknowledged));
    expect((await client.send('GET', `${configMaps}/first`)).status).toBe(200);
    expect((await client.send('DELETE', `${configMaps}/first`)).status).toBe(503);
    expect((await client.send('GET', `${configMaps}/first`)).status).toBe(200);
    expect((await client.send('GET', '/livez')).status).toBe(200);
    expect((await client.send('GET', '/readyz')).status).toBe(500);
    client.close();
    const { code, stderr } = await full.stop();
    expect(code).toBe(0);
    expect(stderr).toContain('writes are refused from now on, reads go on; restart');

    const server = new KubegcProcess(args);
    await server.ready();
    const again = new ApiClient(kubeconfig);
    expect(namesOf((await again.send('GET', configMaps)).body)).toEqual(expect.arrayContaining(acknowledged));
    expect((await again.send('DELETE', `${configMaps}/first`)).status).toBe(200);
    again.close();
    await server.stop();
  });
});

function namesOf(list: Record<string, unknown>): string[] {
  return (list['items'] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}
