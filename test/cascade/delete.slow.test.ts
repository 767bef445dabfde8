import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { startCluster } from '../../src/testing/testing.ts';

it('CAS-050 CAS-051 CAS-052 CAS-053 deletes by digest and budget only, records, waits, and goes on after the time is over', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const folder = mkdtempSync(join(tmpdir(), 'kubegc-delete-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig);
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
  const cascade = async (...args: readonly string[]): Promise<{ code: number; out: string }> => {
    let out = '';
    const write = (text: string): void => void (out += text);
    const flags = ['--kubeconfig', kubeconfig, '--record-dir', join(folder, 'records')];
    const code = await run(['cascade', ...args, ...flags], { stdout: write, stderr: write, columns: 100 });
    return { code, out };
  };
  expect(await cascade('delete', 'configmap/root', '--digest', '000000000000')).toMatchObject({ code: 3 });
  expect(await cascade('delete', 'configmap/root', '--yes', '--budget', '1')).toMatchObject({ code: 3 });
  expect(await cluster.client.find({ ...configMap, name: 'root' })).toBeDefined();

  const timedOut = await cascade('delete', 'configmap/root', '--yes', '--timeout', '1s');
  expect(timedOut.code).toBe(4);
  expect(timedOut.out).toContain('configmap/held waits for finalizer example.com/hold');
  const id = /Recorded 2 objects as (\S+)\./.exec(timedOut.out)?.[1] ?? '';

  const rest = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default', name: 'held' };
  await cluster.client.rest.patch(rest, {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  });
  const ended = await cascade('wait', id);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Deleted 2 objects, as planned.') as string });
});

it('CAS-050 says that a claim in use still waits, and for what, instead of calling it deleted', async () => {
  await using cluster = await startCluster({ clock: 'real', listen: true });
  const folder = mkdtempSync(join(tmpdir(), 'kubegc-delete-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig);
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
  let out = '';
  const write = (text: string): void => void (out += text);
  const flags = ['--kubeconfig', kubeconfig, '--record-dir', join(folder, 'records'), '--yes'];
  const code = await run(['cascade', 'delete', `pvc/${claimName}`, ...flags], {
    stdout: write,
    stderr: write,
    columns: 100,
  });
  expect(code).toBe(0);
  expect(out).toContain('No object is gone yet, as planned.\n1 object still waits:\n');
  expect(out).toMatch(/persistentvolumeclaim\/data: .*pod\/user/);
  expect(out).not.toContain('brings');
});
