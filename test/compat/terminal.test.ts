import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubegcCommand, KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { type CommandResult, runCommand } from '../program/run-command.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** The plugin as a person runs it: on a terminal, which a pseudo-terminal is for every program. */
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const QUESTION = 'Delete 2 objects? [y/N] ';

describe.each(kubectlPaths())('kubectl cascade delete on a terminal, with %s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    server = new KubegcProcess(
      ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig],
      { cwd: directory.path },
    );
    await server.ready();
    const plugins = join(directory.path, 'bin');
    await mkdir(plugins);
    await symlink(kubegcCommand, join(plugins, 'kubectl-cascade'));
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    const records = join(directory.path, 'state');
    env = {
      KUBECONFIG: kubeconfig,
      HOME: directory.path,
      XDG_STATE_HOME: records,
      PATH: `${plugins}:${process.env['PATH']}`,
    };
    await kubectl.run('create namespace shop');
    await kubectl.run('-n shop create configmap root');
    const uid = await kubectl.run('-n shop get configmap root -o jsonpath={.metadata.uid}');
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'root', uid };
    const metadata = { name: 'held', namespace: 'shop', finalizers: ['example.com/hold'], ownerReferences: [owner] };
    const file = join(directory.path, 'held.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }));
    await kubectl.run(['apply', '-f', file]);
  }, 60_000);

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  const pty = join(import.meta.dirname, 'on_terminal.py');
  /** The stdout of the result has everything that the terminal shows, codes that move the cursor included. */
  const onTerminal = (line: string, steps: readonly (readonly [string, string])[]): Promise<CommandResult> =>
    runCommand('python3', [pty, JSON.stringify(steps), path, ...line.split(' ')], { cwd: directory.path, env });
  const there = async (): Promise<string> => kubectl.run('-n shop get configmap root held -o name --ignore-not-found');
  const DELETE = 'cascade delete configmap/root -n shop';

  it.each([
    ['n', 'n\r'],
    ['nothing', '\r'],
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('CAS-050 shows the plan, asks, and deletes nothing when the answer is %s', async (_what, keys) => {
    const { code, stdout } = await onTerminal(DELETE, [[QUESTION, keys]]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('Nothing was deleted.')]);
    expect(stdout.indexOf('PLAN ')).toBeGreaterThan(0);
    expect(stdout.indexOf('PLAN ')).toBeLessThan(stdout.indexOf(QUESTION));
    expect(await there()).toBe('configmap/root\nconfigmap/held\n');
  });

  it('CAS-050 asks nothing where there is no terminal, and deletes nothing', async () => {
    const { code, stderr } = await runCommand(path, DELETE.split(' '), { cwd: directory.path, env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('Give --yes to go on without a question.')]);
    expect(await there()).toBe('configmap/root\nconfigmap/held\n');
  });

  it('CAS-050 CAS-053 rewrites one line while it waits, ends with Ctrl-C, and wait goes on with the record', async () => {
    const interrupted = await onTerminal(DELETE, [
      [QUESTION, 'y\r'],
      ['waits: ', CTRL_C],
    ]);
    expect(interrupted.code).toBe(1);
    expect(interrupted.stdout).toContain('\r\u001b[Kdeleting root: 1 of 2 objects');
    const [, id = ''] = /kubectl cascade wait (\S+) waits until it has finished/.exec(interrupted.stdout) ?? [];
    expect(interrupted.stdout).toContain(`Recorded 2 objects as ${id}.`);
    const waiting = onTerminal(`cascade wait ${id}`, [['waits: ', '']]);
    await kubectl.run([
      '-n',
      'shop',
      'patch',
      'configmap',
      'held',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
    const waited = await waiting;
    expect([waited.code, waited.stdout]).toEqual([0, expect.stringContaining('Deleted 2 objects, as planned.')]);
    expect(await there()).toBe('');
  });
});
