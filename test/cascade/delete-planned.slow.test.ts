import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CascadePlan } from '../../src/cascade/documents/cascade-plan.ts';
import { deletePlanned, openRecords, preview, type Records } from '../../src/doors/cascade.ts';
import { startCluster } from '../../src/testing/testing.ts';

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };

describe('deletePlanned', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let folder: string;
  let records: Records;

  beforeAll(async () => {
    cluster = await startCluster({ clock: 'real' });
    folder = await mkdtemp(join(tmpdir(), 'kubegc-delete-planned-'));
    records = openRecords(folder);
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  async function create(
    namespace: string,
    name: string,
    { annotations = {}, finalizers = [] }: { annotations?: Record<string, string>; finalizers?: string[] } = {},
  ): Promise<void> {
    await cluster.client.create({ ...CONFIG_MAP, metadata: { name, namespace, annotations, finalizers } });
  }
  const isTerminating = async (namespace: string, name: string): Promise<boolean | undefined> => {
    const found = await cluster.client.find({ ...CONFIG_MAP, namespace, name });
    return found === undefined ? undefined : found.metadata?.deletionTimestamp !== undefined;
  };
  const named = (
    namespace: string,
    ...names: string[]
  ): { namespace: string; name: string; apiVersion: string; kind: string }[] =>
    names.map((name) => ({ ...CONFIG_MAP, namespace, name }));

  it('CAS-054 deletes in the waves of the cluster when the plan that it is given does not have them', async () => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'waves' } });
    await create('waves', 'database', { annotations: { 'kubegc.io/delete-after': 'configmap/backend' } });
    await create('waves', 'backend', { finalizers: ['example.com/hold'] });
    const plan = await preview(cluster.client.rest, named('waves', 'database', 'backend'));
    expect(plan.roots.map(({ ref, wave }) => [ref.name, wave])).toEqual([
      ['backend', 1],
      ['database', 2],
    ]);
    const roots = plan.roots.map(({ wave: _wave, ...root }) => root);
    const withoutWaves: CascadePlan = { ...plan, roots };
    const options = { records, timeoutMs: 1 };
    expect(await deletePlanned(cluster.client.rest, withoutWaves, options)).toMatchObject({ end: 'timedOut' });
    expect([await isTerminating('waves', 'backend'), await isTerminating('waves', 'database')]).toEqual([true, false]);
  });
});
