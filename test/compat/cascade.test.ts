import { spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubegcCommand, KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import type { CommandResult } from '../program/run-command.ts';
import { until } from '../program/until.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** A ConfigMap, and one that it owns, which a finalizer holds. */
const held = (uid: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: held
  namespace: shop
  finalizers: [example.com/hold]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: ${uid}}]
`;

/** The commands of a person with the plugins that kubectl finds on the PATH, against the built program. */
describe.each(kubectlPaths())('kubectl cascade with %s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const bin = join(directory.path, 'bin');
    await mkdir(bin);
    const programs = ['kubectl-cascade', 'kubectl-undelete', 'kubectl_complete-cascade', 'kubectl_complete-undelete'];
    for (const name of programs) await symlink(kubegcCommand, join(bin, name));
    const kubeconfig = join(directory.path, 'kubeconfig');
    const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess([...command, '--simulate-pods', 'run'], { cwd: directory.path });
    await server.ready();
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    env = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      NO_COLOR: '1',
      XDG_STATE_HOME: join(directory.path, 'state'),
      KUBECONFIG: kubeconfig,
      HOME: directory.path,
    };
    await kubectl.run('create namespace shop');
    await kubectl.run('-n shop create deployment web --image=nginx --replicas=2');
    await kubectl.run('-n shop rollout status deployment/web --timeout=120s');
  });

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  const plugin = (line: string): Promise<CommandResult> => kubectl.try(line.split(' '), { env });

  it('completes subcommands, flags, types, names and namespaces, as a shell asks for them', async () => {
    const completed = async (line: string, last: string): Promise<string[]> => {
      const { stdout } = await kubectl.try(['__complete', ...line.split(' '), last], { env });
      return stdout
        .trimEnd()
        .split('\n')
        .map((each) => each.split('\t')[0] ?? '');
    };
    expect(await completed('cascade', 'pre')).toEqual(['preview', ':4']);
    expect(await completed('cascade preview', '--assume')).toEqual(['--assume-finalizers', ':4']);
    expect(await completed('cascade tree', 'deployments')).toEqual(['deployments.apps', ':4']);
    expect(await completed('cascade tree -n shop deploy', '')).toEqual(['web', ':4']);
    expect(await completed('cascade preview -n shop', 'deploy/')).toEqual(['deploy/web', ':4']);
    expect(await completed('cascade lint -n', 'sh')).toEqual(['shop', ':4']);
    expect(await completed('cascade preview', '--cascade=or')).toEqual(['--cascade=orphan', ':4']);
    expect(await completed('undelete', '--on')).toEqual(['--on-conflict', ':4']);
    // A kubeconfig that cannot be read gives no choices, and no error between the words.
    expect(await completed('cascade tree --kubeconfig /nowhere deploy', '')).toEqual([':4']);
  });

  it('CAS-050 CAS-051 CAS-052 previews, refuses, deletes, and brings back', async () => {
    const preview = await plugin('cascade preview deployment/web -n shop');
    expect(preview).toMatchObject({ code: 0, stderr: '' });
    expect(preview.stdout).toContain('Deleting deployment.apps/web (background) removes 4 objects in 1 namespace.');
    expect(preview.stdout).not.toContain('\u001b');
    const digest = /--digest (\w{12})/.exec(preview.stdout)?.[1] ?? '';
    const plan = JSON.parse((await plugin('cascade preview deployment/web -n shop -o json')).stdout) as object;
    expect(plan).toMatchObject({ kind: 'CascadePlan', summary: { byOutcome: { deleted: 4 } } });
    expect(JSON.stringify(plan)).toContain(`"digest":"${digest}`);

    const tree = await plugin('cascade tree deploy web -n shop');
    expect(tree).toMatchObject({ code: 0, stderr: '' });
    expect(tree.stdout).toMatch(/^deployment\.apps\/web +2\/2 +4 /m);

    expect(await plugin('cascade delete deployment/web -n shop')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Give --yes to go on without a question.') as string,
    });
    expect(await plugin('cascade delete deployment/web -n shop --digest 000000000000')).toMatchObject({ code: 3 });
    expect(await plugin(`cascade delete deployment/web -n shop --digest ${digest} --budget 3`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('4 objects would go, and the budget is 3') as string,
    });
    const deleted = await plugin(`cascade delete deployment/web -n shop --digest ${digest} --budget 4 --timeout 120s`);
    expect(deleted.code, deleted.stderr).toBe(0);
    expect(deleted.stdout).toContain('Deleted 4 objects, as planned.');
    const id = /Recorded 4 objects as (\S+)\./.exec(deleted.stderr)?.[1] ?? '';

    expect((await plugin('cascade log')).stdout).toMatch(
      new RegExp(`^${id} .* deployment/web -n shop +4 +as planned`, 'm'),
    );
    const record = JSON.parse((await plugin(`cascade log ${id} -o json`)).stdout) as object;
    expect(record).toMatchObject({ kind: 'CascadeRecord', id, outcome: 'asPlanned' });
    const undo = await plugin(`cascade undo ${id} --dry-run -o json`);
    expect(JSON.parse(undo.stdout)).toMatchObject({ kind: 'UndoPlan', summary: { create: 1, leave: 3 } });
    const undeleted = await plugin('undelete deployment/web -n shop --yes');
    expect(undeleted.code, undeleted.stderr).toBe(0);
    expect(undeleted.stdout).toContain('Restored 1 object;');
    await kubectl.run('-n shop rollout status deployment/web --timeout=120s');
  });

  // One kubectl is enough: it waits ten seconds for a line of progress.
  if (path === kubectlPaths()[0])
    it('CAS-050 CAS-053 ends the wait at Ctrl-C, explains what holds, and waits on', async () => {
      await kubectl.run('-n shop create configmap root');
      const uid = await kubectl.run('-n shop get configmap root -o jsonpath={.metadata.uid}');
      const file = join(directory.path, 'held.yaml');
      await writeFile(file, held(uid));
      await kubectl.run(['apply', '-f', file]);
      const lint = await plugin('cascade lint -n shop');
      expect(lint, lint.stdout).toMatchObject({ code: 0 });

      const interrupted = await interruptedDelete();
      expect(interrupted.stderr).toContain(
        'deleting root: 1 of 2 objects, 0/s, waits: configmap/held waits for finalizer example.com/hold',
      );
      const id = /Recorded 2 objects as (\S+)\./.exec(interrupted.stderr)?.[1] ?? '';
      expect(`${interrupted.stdout}${interrupted.stderr}`).toContain(`kubectl cascade wait ${id}`);
      expect(interrupted.code).not.toBe(0);

      const explained = await plugin('cascade explain configmap/held -n shop -o json');
      expect(explained.code).toBe(2);
      expect(JSON.parse(explained.stdout)).toMatchObject({
        kind: 'Explanation',
        state: 'terminating',
        findings: [{ code: 'finalizerWithoutController' }],
      });
      expect(await plugin(`cascade wait ${id} --timeout 1s`)).toMatchObject({ code: 4 });
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
      const waited = await plugin(`cascade wait ${id} --timeout 120s`);
      expect(waited.code, waited.stderr).toBe(0);
      expect(waited.stdout).toContain('Deleted 2 objects, as planned.');
    });

  /** Deletes `configmap/root`, and presses Ctrl-C when the progress says what holds: a terminal signals the whole group. */
  async function interruptedDelete(): Promise<CommandResult> {
    const child = spawn(path, ['cascade', 'delete', 'configmap/root', '-n', 'shop', '--yes'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      timeout: 120_000,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<number | null>((settle) => child.on('close', settle));
    await until('the progress says what holds', () => stderr.includes('waits: '));
    process.kill(-(child.pid ?? 0), 'SIGINT');
    return { code: await ended, stdout, stderr };
  }
});
