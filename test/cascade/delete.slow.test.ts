import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubegc-delete-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `kubegc cascade` with these arguments on a cluster. */
function runnerOn({ kubeconfig }: TestCluster) {
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, kubeconfig);
  return async (...args: readonly string[]): Promise<{ code: number; out: string }> => {
    let out = '';
    const write = (text: string): void => void (out += text);
    // A preview records nothing.
    const records = args[0] === 'preview' ? [] : ['--record-dir', join(folder, 'records')];
    const flags = ['--kubeconfig', path, ...records];
    const code = await run(['cascade', ...args, ...flags], { stdout: write, stderr: write, columns: 100 });
    return { code, out };
  };
}

it('CAS-050 CAS-051 CAS-052 CAS-053 deletes by digest and budget only, records, waits, and goes on after the time is over', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const cascade = runnerOn(cluster);
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
  const { metadata } = await cluster.client.create({ ...configMap, metadata: { name: 'root', namespace: 'default' } });
  await cluster.client.create({
    ...configMap,
    metadata: {
      name: 'held',
      namespace: 'default',
      finalizers: ['example.com/hold'],
      ownerReferences: [{ ...configMap, name: 'root', uid: metadata.uid ?? '' }],
    },
  });
  expect(await cascade('delete', 'configmap/root', '--digest', '000000000000')).toMatchObject({ code: 3 });
  expect(await cascade('delete', 'configmap/root', '--yes', '--budget', '1')).toMatchObject({ code: 3 });
  expect(await cluster.client.find({ ...configMap, name: 'root' })).toBeDefined();

  const timedOut = await cascade('delete', 'configmap/root', '--yes', '--timeout', '1s');
  expect(timedOut.code).toBe(4);
  expect(timedOut.out).toContain('configmap/held waits for finalizer example.com/hold');
  expect(timedOut.out).toContain('kubectl cascade explain configmap/held -n default says why;');
  const id = /Recorded 2 objects as (\S+)\./.exec(timedOut.out)?.[1] ?? '';

  const rest = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default', name: 'held' };
  await cluster.client.rest.patch(rest, {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  });
  const ended = await cascade('wait', id);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Deleted 2 objects, as planned.') as string });
});

it('CAS-050 CAS-060 a deletion that the server refuses is in the log as failed, and the command says that nothing was deleted', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const cascade = runnerOn(cluster);
  const create = (name: string): Promise<object> =>
    cluster.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
  await create('a');
  await create('b');
  const refuse = (name: string, message: string) =>
    cluster.faults.add({
      match: { verb: 'delete', resource: 'configmaps', name },
      answer: { status: 403, reason: 'Forbidden', message },
    });
  let allow = refuse('a', 'a policy protects it\nHINT: ask its owner');
  const { code, out } = await cascade('delete', 'configmap/a', '--yes');
  expect(code).toBe(1);
  expect(out).toContain('Nothing was deleted.\n');
  // An admission plug-in that says what to do next is no lack of rights.
  expect(out).toMatch(/error: from server \(Forbidden\): a policy protects it\nHINT: ask its owner\n$/);
  const [, first = ''] = /Recorded 1 object as (\S+)\./.exec(out) ?? [];
  const records = ['--record-dir', join(folder, 'records')];
  const log = async (...args: string[]): Promise<string> => {
    let said = '';
    await run(['cascade', 'log', ...args, ...records], {
      stdout: (text) => void (said += text),
      stderr: () => undefined,
      columns: 100,
    });
    return said;
  };
  expect(await log()).toMatch(new RegExp(`^${first} .* failed$`, 'm'));
  expect(await log(first)).toMatch(/^The deletion of configmap\/a -n default failed \d+s ago/);
  expect(await log(first)).toContain('          a policy protects it');
  allow();

  // The first of two objects is gone when the server refuses the second one.
  allow = refuse('b', 'a policy protects it');
  const part = await cascade('delete', 'configmap/a', 'configmap/b', '--yes');
  expect(part).toMatchObject({ code: 1, out: expect.stringContaining('Ask for the right') as string });
  const [, second = ''] = /kubectl cascade undo (\S+) --record-dir \S+ brings back what is gone/.exec(part.out) ?? [];
  expect(await log()).toMatch(new RegExp(`^${second} .* failed$`, 'm'));
  expect(await cascade('undo', second, '--yes')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Restored 1 object; 1 was there') as string,
  });
  allow();
});

it('CAS-050 says that a claim in use still waits, and for what, instead of calling it deleted', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const cascade = runnerOn(cluster);
  const claimName = 'data';
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claimName, namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'user', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }], volumes, nodeName: 'n' },
  });
  const { code, out } = await cascade('delete', `pvc/${claimName}`, '--yes');
  expect(code).toBe(0);
  expect(out).toContain('No object is gone yet, as planned.\n1 object still waits:\n');
  expect(out).toMatch(/persistentvolumeclaim\/data: .*pod\/user/);
  expect(out).not.toContain('brings');
});

it('CAS-054 deletes in waves, which a terminating object holds, and goes on with them after the time is over', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const cascade = runnerOn(cluster);
  const create = async (
    name: string,
    annotations: Record<string, string>,
    finalizers: string[] = [],
  ): Promise<void> => {
    const metadata = { name, namespace: 'default', labels: { app: 'shop' }, annotations, finalizers };
    await cluster.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  };
  await create('database', { 'internal.kro.run/apply-order': '1' });
  await create('backend', { 'internal.kro.run/apply-order': '2' }, ['example.com/hold']);
  await create('notes', { 'kubegc.io/delete-after': 'configmap/database' });
  const names = async (): Promise<string[]> => {
    const all = await cluster.client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' });
    return all
      .filter(({ metadata }) => metadata?.labels?.['app'] === 'shop')
      .map(({ metadata }) => metadata?.name ?? '');
  };
  const selected = ['configmaps', '-l', 'app=shop', '--assume-finalizers=removed'];
  const preview = await cascade('preview', ...selected);
  expect(preview.out).toContain(
    'WAVE 1     configmap/backend\nWAVE 2     configmap/database\nWAVE 3     configmap/notes\n',
  );
  const plan = JSON.parse((await cascade('preview', ...selected, '-o', 'json')).out) as {
    roots: { ref: { name: string }; wave?: number }[];
  };
  expect(plan.roots.map(({ ref, wave }) => [ref.name, wave])).toEqual([
    ['backend', 1],
    ['database', 2],
    ['notes', 3],
  ]);
  const timedOut = await cascade('delete', ...selected, '--yes', '--timeout', '1s');
  expect(timedOut).toMatchObject({
    code: 4,
    out: expect.stringContaining('configmap/backend waits for finalizer') as string,
  });
  // The first wave is terminating; nothing of the others was touched.
  expect(await names()).toEqual(['backend', 'database', 'notes']);
  const id = /Recorded 3 objects as (\S+)\./.exec(timedOut.out)?.[1] ?? '';
  const target = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' };
  const patch = (name: string, metadata: object): Promise<unknown> =>
    cluster.client.rest.patch({ ...target, name }, { type: 'application/merge-patch+json', body: { metadata } });
  await patch('backend', { finalizers: null });
  // Objects of later waves may change meanwhile.
  await patch('notes', { labels: { changed: 'yes' } });
  const ended = await cascade('wait', id);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Deleted 3 objects, as planned.') as string });
  expect(await names()).toEqual([]);

  await create('a', { 'kubegc.io/delete-after': 'configmap/b' });
  await create('b', { 'kubegc.io/delete-after': 'configmap/a' });
  expect(await cascade('delete', 'configmaps', '-l', 'app=shop', '--yes')).toMatchObject({
    code: 1,
    out: expect.stringContaining('each waits for the next to be gone: configmap/a, configmap/b, configmap/a') as string,
  });
  expect(await names()).toEqual(['a', 'b']);
});
