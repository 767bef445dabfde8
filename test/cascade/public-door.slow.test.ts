import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import * as door from '../../src/doors/cascade.ts';
import { startCluster } from '../../src/testing/testing.ts';
import { faults } from './document-schemas.ts';

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };
const ROOT = { ...CONFIG_MAP, namespace: 'default', name: 'root' };

/** A document without the time of its reading; lists of nodes, whose order is that of parallel answers, sorted. */
function comparable(document: object): unknown {
  const copy = JSON.parse(JSON.stringify(document)) as { readAt?: string; nodes?: { ref: { uid: string } }[] };
  const nodes = copy.nodes?.toSorted((a, b) => (a.ref.uid < b.ref.uid ? -1 : 1));
  return { ...copy, readAt: undefined, nodes };
}

describe('kubegc/cascade', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubegc-door-'));
    cluster = await startCluster({ clock: 'real', listen: true });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig);
    const { metadata } = await cluster.client.create({
      ...CONFIG_MAP,
      metadata: { name: 'root', namespace: 'default' },
    });
    const owner = (uid: string, name = 'root') => [{ ...CONFIG_MAP, name, uid }];
    const create = (name: string, ownerReferences: object[]) =>
      cluster.client.create({ ...CONFIG_MAP, metadata: { name, namespace: 'default', ownerReferences } as object });
    await create('child', owner(metadata!.uid!));
    // Two references to one owner, which lint reports.
    await create('twice', [...owner(metadata!.uid!), { ...owner(metadata!.uid!)[0]!, blockOwnerDeletion: true }]);
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  const server = (): string[] => ['--kubeconfig', join(folder, 'kubeconfig')];
  const recordsFolder = (): string[] => ['--record-dir', join(folder, 'records')];
  /** The document that the command prints. */
  async function printed(...args: readonly string[]): Promise<object> {
    let out = '';
    const terminal = { stdout: (text: string) => void (out += text), stderr: () => undefined, columns: 100 };
    expect([0, 2]).toContain(await run(['cascade', ...args, '-o', 'json'], terminal));
    return JSON.parse(out) as object;
  }

  it('CAS-080 the functions that read give the documents that the commands print, as plain data', async () => {
    const { rest } = cluster.client;
    const given: Record<string, readonly [object, object]> = {
      preview: [await door.preview(rest, [ROOT]), await printed('preview', 'configmap/root', ...server())],
      foreground: [
        await door.preview(rest, [ROOT], { policy: 'Foreground' }),
        await printed('preview', 'configmap/root', '--cascade=foreground', ...server()),
      ],
      tree: [await door.tree(rest, ROOT), await printed('tree', 'configmap/root', ...server())],
      owners: [
        await door.tree(rest, { ...ROOT, name: 'child' }, { direction: 'up' }),
        await printed('tree', 'configmap/child', '--up', ...server()),
      ],
      graph: [await door.graph(rest, { namespace: 'default' }), await printed('graph', '-n', 'default', ...server())],
      explain: [
        await door.explainObject(rest, { ...ROOT, name: 'child' }),
        await printed('explain', 'configmap/child', ...server()),
      ],
      lint: [await door.lint(rest, { namespace: 'default' }), await printed('lint', '-n', 'default', ...server())],
      relink: [
        await door.planRelink(rest, { namespace: 'default' }),
        await printed('relink', '--live', '--dry-run', '-n', 'default', ...server()),
      ],
    };
    for (const [name, [data, shown]] of Object.entries(given)) {
      expect(comparable(data), name).toEqual(comparable(shown));
      // Plain data: nothing is lost as JSON, and it fits its schema.
      expect(structuredClone(data), name).toEqual(data);
      expect(faults(JSON.parse(JSON.stringify(data)) as { kind: string }), name).toEqual([]);
    }
    expect(given['preview']![0]).toMatchObject({ summary: { byOutcome: { deleted: 3 } } });
    expect(given['lint']![0]).toMatchObject({ findings: [{ code: 'duplicateOwner' }] });
  });

  it('CAS-080 the functions that write delete by the plan, record, and take it back without a command', async () => {
    const { rest } = cluster.client;
    const records = door.openRecords(join(folder, 'records'));
    const plan = await door.preview(rest, [ROOT]);
    // A plan that went through a file is as good as the one in memory.
    const saved = JSON.parse(JSON.stringify(plan)) as door.CascadePlan;
    const deleted = await door.deletePlanned(rest, saved, { records });
    expect(deleted).toEqual({ id: expect.any(String) as string, end: 'asPlanned', remaining: [], differences: [] });
    expect(await cluster.client.find(ROOT)).toBeUndefined();

    const { records: listed } = await records.list();
    const shown = (await printed('log', ...recordsFolder())) as { items: object[] };
    expect(shown.items).toEqual(listed.map(({ plan: _plan, ...facts }) => facts));

    const undoing = await door.planUndo(rest, records, deleted.id);
    expect(comparable(undoing)).toEqual(
      comparable(await printed('undo', deleted.id, '--dry-run', ...recordsFolder(), ...server())),
    );
    const undone = await door.undo(rest, records, deleted.id);
    expect(undone).toMatchObject({ summary: { created: 3, failed: 0 }, ownerEdges: { broken: [] } });
    expect([undoing, undone].flatMap((each) => faults(JSON.parse(JSON.stringify(each)) as { kind: string }))).toEqual(
      [],
    );
  });

  it('CAS-080 relink repairs the references that its plan names', async () => {
    // No collector, which would delete the object with the stale reference first.
    await using restored = await startCluster({ controllers: [] });
    const { client } = restored;
    const root = await client.create({ ...CONFIG_MAP, metadata: { name: 'root', namespace: 'default' } });
    const ownerReferences = [{ ...CONFIG_MAP, name: 'root', uid: '00000000-0000-4000-8000-000000000001' }];
    await client.create({ ...CONFIG_MAP, metadata: { name: 'child', namespace: 'default', ownerReferences } });
    const repair = await door.planRelink(client.rest, { namespace: 'default' });
    expect(await door.relink(client.rest, repair)).toEqual([
      { ref: expect.objectContaining({ name: 'child' }) as object },
    ]);
    const { metadata } = await client.get({ ...ROOT, name: 'child' });
    expect(metadata!.ownerReferences![0]!.uid).toBe(root.metadata!.uid);
  });
});
