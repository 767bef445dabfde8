import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RestClient } from '../../src/client/rest/rest-client.ts';
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

  it('CAS-050 names the record of a plan that changed on the way only if something was deleted', async () => {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'changed' } });
    await create('changed', 'a');
    await create('changed', 'b');
    /** A client whose DELETE of an object meets another version of it. */
    const meetingChangeOf = (changed: string): RestClient =>
      cluster.client.rest.through(async (request, next) => {
        if (request.method !== 'DELETE' || !request.target.endsWith(`/${changed}`)) return next(request);
        const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 409, reason: 'Conflict' };
        return { status: 409, headers: {}, body: Buffer.from(JSON.stringify(status)) };
      });
    const plan = await preview(cluster.client.rest, named('changed', 'a', 'b'));
    const [first = '', second = ''] = plan.roots.map(({ ref }) => ref.name);
    const refused = async (changed: string): Promise<unknown> =>
      deletePlanned(meetingChangeOf(changed), plan, { records }).catch((error: unknown) => error);
    expect(await refused(first)).toMatchObject({
      name: 'PlanChangedError',
      record: undefined,
      message: 'the plan changed; nothing was deleted',
    });
    expect([await isTerminating('changed', first), await isTerminating('changed', second)]).toEqual([false, false]);
    expect(await refused(second)).toMatchObject({ name: 'PlanChangedError', record: expect.any(String) as string });
    expect([await isTerminating('changed', first), await isTerminating('changed', second)]).toEqual([undefined, false]);
  });
});
