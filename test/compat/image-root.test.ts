import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/** The root file system of the image, started as the user of the image in a chroot. Needs root, as the chroot does. */
const script = join(import.meta.dirname, '../../scripts/image-root.sh');
const home = '/var/lib/kubegc';
const userspec = ['--userspec=1000:1000', '--groups='];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let root: string;
const stops: (() => Promise<number | null>)[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  execFileSync(script, [directory.path], { stdio: ['ignore', 'inherit', 'inherit'] });
  root = join(directory.path, 'root');
});

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await directory[Symbol.asyncDispose]();
});

const environment = { HOME: home, PATH: '/usr/bin' };
const inside = (...command: readonly string[]): string =>
  execFileSync('/usr/sbin/chroot', [...userspec, root, ...command], { env: environment, encoding: 'utf8' });

/** Starts kubegc in the root and waits for a line of its output. */
async function started(line: RegExp, ...args: readonly string[]): Promise<() => Promise<number | null>> {
  const child = spawn('/usr/sbin/chroot', [...userspec, root, '/usr/bin/kubegc', ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise<number | null>((settle) => child.once('exit', settle));
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM');
    return ended;
  };
  stops.push(stop);
  await until(`kubegc ${args[0]} is ready`, async () => {
    if (child.exitCode !== null) throw new Error(`kubegc ${args.join(' ')} ended:\n${output}`);
    return line.test(output);
  });
  return stop;
}

it('the image has Node.js and kubegc, and neither a shell nor npm nor apt', () => {
  expect(inside('/usr/bin/kubegc', 'version')).toMatch(/^kubegc \d+\.\d+\.\d+ .*Node \d+/);
  expect(inside('/usr/bin/node', '--print', 'process.getuid()')).toBe('1000\n');
  const tools = ['usr/bin/sh', 'usr/bin/bash', 'usr/bin/npm', 'usr/bin/apt-get', 'usr/share/nodejs/npm'];
  expect(tools.filter((path) => existsSync(join(root, path)))).toEqual([]);
});

it('kubegc up and kubegc collect work in it as a user without rights', async () => {
  const kubeconfig = `${home}/kubeconfig`;
  const listen = ['--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
  const stopUp = await started(/^kubegc is ready/m, 'up', '--store', 'memory', ...listen);
  const stopCollect = await started(/debug graph/, 'collect', '--kubeconfig', kubeconfig, '--bind-address=127.0.0.1:0');
  const client = new ApiClient(join(root, kubeconfig));
  try {
    const path = '/api/v1/namespaces/default';
    const { body } = await client.send('POST', `${path}/configmaps`, { metadata: { name: 'owner' } });
    const { uid } = body['metadata'] as { uid: string };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    const dependent = { metadata: { name: 'dependent', ownerReferences } };
    expect((await client.send('POST', `${path}/secrets`, dependent)).status).toBe(201);
    expect((await client.send('DELETE', `${path}/configmaps/owner`)).status).toBe(200);
    const gone = async () => (await client.send('GET', `${path}/secrets/dependent`)).status === 404;
    await until('the dependent is gone', gone);
  } finally {
    client.close();
  }
  expect([await stopCollect(), await stopUp()]).toEqual([0, 0]);
});
