import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error -- a script without declarations
import { staleSchemas } from '../../scripts/json-schemas.mjs';
import { run } from '../../src/cli/program.ts';
import { startCluster } from '../../src/testing/testing.ts';
import { faults, schemas } from './document-schemas.ts';

describe('schemas', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubegc-schemas-'));
    cluster = await startCluster({ clock: 'real', listen: true });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig);
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
    const create = (name: string, metadata: object = {}) =>
      cluster.client.create({ ...configMap, metadata: { name, namespace: 'default', ...metadata } });
    const { metadata } = await create('root');
    const owner = (name: string, uid = '') => [{ ...configMap, name, uid }];
    await create('child', { ownerReferences: owner('root', metadata.uid) });
    await create('held', { finalizers: ['example.com/hold'] });
    await cluster.client.delete({ ...configMap, name: 'held' });
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  const cascade = async (...args: readonly string[]): Promise<{ code: number; out: string; all: string }> => {
    let out = '';
    let all = '';
    const stdout = (text: string): void => {
      out += text;
      all += text;
    };
    const command = ['cascade', ...args];
    const code = await run(command, { stdout, stderr: (text) => void (all += text), columns: 100 });
    return { code, out, all };
  };
  const server = (): string[] => ['--kubeconfig', join(folder, 'kubeconfig')];
  const records = (): string[] => ['--record-dir', join(folder, 'records')];
  const document = async (...args: readonly string[]): Promise<{ readonly kind: string }> =>
    JSON.parse((await cascade(...args, '-o', 'json')).out) as { kind: string };

  it('CAS-095 are as the types say', () => {
    expect(staleSchemas(schemas)).toEqual([]);
    expect(schemas.length).toBeGreaterThanOrEqual(9);
  });

  it('CAS-095 refuse a document that lacks a field, has a wrong value or an unknown field', () => {
    const good = { apiVersion: 'kubegc.io/v1alpha1', kind: 'UndoResult', id: 'x', objects: [] };
    expect(faults(good).join()).toContain("must have required property 'summary'");
    expect(faults({ ...good, apiVersion: 'v2' }).join()).toContain('apiVersion must be equal to constant');
    expect(faults({ ...good, extra: 1 }).join()).toContain('must NOT have additional properties');
  });

  it('CAS-095 CAS-093 CAS-094 hold for what the commands that only read print', async () => {
    const preview = await document('preview', 'configmap/root', ...server());
    const tree = await document('tree', 'configmap/root', ...server());
    const graph = await document('graph', ...server());
    const top = await document('top', ...server());
    const alive = await document('explain', 'configmap/child', ...server());
    const stuck = await document('explain', 'configmap/held', ...server());
    const lint = await document('lint', '--older-than', '1ms', ...server());
    const relink = await document('relink', '--live', '--dry-run', ...server());
    expect(stuck).toMatchObject({ state: 'terminating', heldBy: [{ name: 'example.com/hold' }] });
    expect((lint as unknown as { findings: unknown[] }).findings).not.toEqual([]);
    const all = [preview, tree, graph, top, alive, stuck, lint, relink];
    expect(all.map(({ kind }) => kind).join(' ')).toBe(
      'CascadePlan Graph Graph Graph Explanation Explanation LintReport RelinkPlan',
    );
    expect(all.flatMap((each) => faults(each))).toEqual([]);
  });

  it('CAS-095 hold for records and for the plan and the result of an undo', async () => {
    const { code, all } = await cascade('delete', 'configmap/root', '--yes', ...server(), ...records());
    expect(all).toContain('Deleted 2 objects, as planned.');
    expect(code).toBe(0);
    const id = /Recorded 2 objects as (\S+)\./.exec(all)?.[1] ?? '';
    const documents = [
      await document('log', ...records()),
      await document('log', id, ...records()),
      await document('undo', id, '--dry-run', ...server(), ...records()),
      await document('undo', id, '--yes', ...server(), ...records()),
      await document('log', id, ...records()),
    ];
    expect(documents.map(({ kind }) => kind).join(' ')).toBe(
      'CascadeRecordList CascadeRecord UndoPlan UndoResult CascadeRecord',
    );
    expect(documents.flatMap((each) => faults(each))).toEqual([]);
  });
});
