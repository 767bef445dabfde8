import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/** kubegc and Node.js in one executable file, started with nothing on the PATH. */
const root = join(import.meta.dirname, '../..');

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let executable: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  executable = join(directory.path, 'kubegc');
  execFileSync(process.execPath, ['scripts/single-file.mjs', executable], { cwd: root, stdio: 'ignore' });
});

afterAll(async () => {
  await directory[Symbol.asyncDispose]();
});

/** A server of the file, which has collected a dependent and ended well; its ready line. */
async function served(file: string, ...args: readonly string[]): Promise<string> {
  const kubeconfig = join(directory.path, 'kubeconfig');
  const child = spawn(file, ['up', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig, ...args], {
    env: {},
    cwd: directory.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise<number | null>((settle) => child.once('exit', settle));
  try {
    await until('it is ready', async () => {
      if (child.exitCode !== null) throw new Error(`it ended:\n${output}`);
      return output.includes('kubegc is ready');
    });
    const client = new ApiClient(kubeconfig);
    const path = '/api/v1/namespaces/default';
    const { body } = await client.send('POST', `${path}/configmaps`, { metadata: { name: 'owner' } });
    const { uid } = body['metadata'] as { uid: string };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await client.send('POST', `${path}/secrets`, { metadata: { name: 'dependent', ownerReferences } });
    expect((await client.send('DELETE', `${path}/configmaps/owner`)).status).toBe(200);
    await until(
      'the dependent is gone',
      async () => (await client.send('GET', `${path}/secrets/dependent`)).status === 404,
    );
    client.close();
  } finally {
    child.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
  return /^kubegc is ready.*$/m.exec(output)?.[0] ?? '';
}

const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, { env: {}, encoding: 'utf8' });

it('the single file needs no Node.js, and is a plugin of kubectl by its name', () => {
  expect(run(executable, 'version')).toMatch(/^kubegc \d+\.\d+\.\d+ /);
  const plugin = join(directory.path, 'kubectl-undelete');
  copyFileSync(executable, plugin);
  expect(run(plugin, '--help')).toContain('Usage: kubectl cascade undelete');
});

it('the single file writes programs for envtest that start it again', () => {
  const assets = join(directory.path, 'assets');
  run(executable, 'envtest-assets', assets);
  expect(readFileSync(join(assets, 'kube-apiserver'), 'utf8')).toContain(
    `exec '${executable}' envtest-kube-apiserver "$@"`,
  );
});

it('the single file serves from memory', async () => {
  expect(await served(executable, '--store', 'memory')).toContain('memory store');
});

it('the single file keeps its objects in a data directory', async () => {
  expect(await served(executable, '--data-dir', join(directory.path, 'data'))).toContain('file store');
});
