import { setMaxListeners } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import { RecordStore } from '../../cascade/record/record-store.ts';
import { startCluster, type TestCluster } from '../../testing/testing.ts';
import { run } from '../program.ts';
import { recordUntil } from './record.ts';
import { until } from '../../../test/program/until.ts';

let folder: string;
let kubeconfig: string;
let records: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubegc-take-back-'));
  kubeconfig = join(folder, 'kubeconfig');
  records = join(folder, 'records');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cascade(...args: string[]): Promise<Said> {
  const said = { out: '', err: '' };
  const terminal = {
    stdout: (text: string) => void (said.out += text),
    stderr: (text: string) => void (said.err += text),
    columns: 120,
  };
  const code = await run(['cascade', ...args], terminal);
  return { code, ...said };
}

const onCluster = (...args: string[]): Promise<Said> => cascade(...args, '--kubeconfig', kubeconfig);
const withRecords = (...args: string[]): Promise<Said> => onCluster(...args, '--record-dir', records);

const configMap = (name: string, owner?: KubeObject): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'default',
    ownerReferences:
      owner === undefined
        ? []
        : [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata!.name!, uid: owner.metadata!.uid! }],
  },
});

/** Deletes web and its dependents, with a record, as `delete` does. */
async function deleteWeb(cluster: TestCluster, clusterUid: string): Promise<string> {
  const { client } = cluster;
  const web = await client.create(configMap('web'));
  const child = await client.create(configMap('web-config', web));
  const store = new RecordStore({ folder: records, clock: systemClock, random: systemRandom });
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespace: 'default', name: 'web' };
  const id = await store.write(
    {
      requester: 'ada',
      context: { name: 'test', server: cluster.url, clusterUid },
      roots: [{ ...ref, uid: web.metadata!.uid! }],
      policy: 'Background',
    },
    [web, child],
  );
  await client.delete(web);
  await cluster.settled();
  await store.finish(id, { outcome: 'asPlanned' });
  return id;
}

async function start(options: Parameters<typeof startCluster>[0] = {}): Promise<{ cluster: TestCluster; uid: string }> {
  const cluster = await startCluster({ clock: 'real', listen: true, ...options });
  await cluster.writeKubeconfig(kubeconfig);
  const system = await cluster.client.get({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  return { cluster, uid: system.metadata!.uid! };
}

describe('the commands that take a deletion back', () => {
  it('CAS-062 and CAS-063 log, undo and undelete what was recorded', async () => {
    const { cluster: started, uid } = await start();
    await using cluster = started;
    const empty = await cascade('log', '--record-dir', records);
    expect(empty).toMatchObject({ code: 0, err: '' });
    const elsewhere =
      /^Records of kubegc up --record are in the folder cascades .* name that folder with --record-dir\.$/m;
    expect(empty.out).toContain(`No deletion is recorded in ${records}.\n`);
    expect(empty.out).toMatch(elsewhere);
    const unknown = await withRecords('undo', '20260101');
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining(`error: no record "20260101" in ${records}\n`) as string,
    });
    expect(unknown.err).toMatch(elsewhere);
    const id = await deleteWeb(cluster, uid);

    const list = await cascade('log', '--record-dir', records);
    expect(list.out).toMatch(/^ID +AGE +WHO +ROOT +OBJECTS +OUTCOME\n/);
    expect(list.out).toMatch(new RegExp(`^${id} +\\d+s +ada +configmap/web -n default +2 +as planned$`, 'm'));
    const json = JSON.parse((await cascade('log', id, '-o', 'json', '--record-dir', records)).out) as object;
    expect(json).toMatchObject({ apiVersion: 'kubegc.io/v1alpha1', kind: 'CascadeRecord', id, objects: 2 });

    const preview = await withRecords('undo', id, '--dry-run');
    expect(preview.out).toMatch(
      /^Undoing the deletion of configmap\/web -n default \(\d+s ago by ada\) creates 2 objects\.\n/,
    );
    expect(await cluster.client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' })).toHaveLength(1);

    // No terminal, no --yes: nobody can answer, and nothing is created.
    expect(await withRecords('undo', id)).toMatchObject({ code: 1, err: expect.stringContaining('Give --yes') });
    const undone = await withRecords('undo', id.slice(0, 15), '--yes');
    expect(undone).toMatchObject({ code: 0, err: '' });
    expect(undone.out).toContain('Restored 2 objects; 0 were there, 0 left out, 0 skipped, 0 failed.');
    expect(undone.out).toContain('Owner references: 1 of 1 are valid.');
    const again = await withRecords('undo', id, '--yes');
    expect(again.out).toContain('Restored 0 objects; 2 were there');
    expect((await cascade('log', '--record-dir', records)).out).toContain('as planned, undone');

    await cluster.client.delete(configMap('web-config'));
    const undeleted = await withRecords('undelete', 'cm/web-config', '--yes');
    expect(undeleted.out).toContain('Restored 1 object; 0 were there');
    // The id of a record is no object: the message names the command for it.
    expect(await withRecords('undelete', id)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`kubectl cascade undo ${id} --record-dir ${records} takes it back as a whole.`),
    });
    expect(await withRecords('undelete', 'cm/nobody')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`no record in ${records} has cm/nobody`),
    });
  });

  it('CAS-066 records what anybody deletes beside a cluster, and undelete brings it back', async () => {
    const { cluster: started } = await start();
    await using cluster = started;
    const { client } = cluster;
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const said = { out: '', err: '' };
    const terminal = {
      stdout: (text: string) => void (said.out += text),
      stderr: (text: string) => void (said.err += text),
      columns: 120,
    };
    const flags = { kubeconfig, recordDir: records, requestTimeout: '60s', namespace: 'default' };
    const recording = recordUntil(flags, terminal, stop.signal);
    await until('the recorder watches', () => said.out.includes('records deletions'));
    const web = await client.create(configMap('web'));
    const child = await client.create(configMap('web-config', web));
    await client.create({ ...configMap('pw', web), kind: 'Secret', data: { pw: 'cHc=' } });
    await client.delete(web);
    await cluster.settled();
    expect(await client.find(child)).toBeUndefined();
    await until('the deletion is recorded', () => said.out.includes('recorded '));
    stop.abort();
    expect(await recording).toBe(0);
    expect(said.out).toMatch(/recorded \S+: 3 objects; kubectl cascade undo \S+ --record-dir \S+ brings them back/);
    const list = await cascade('log', '--record-dir', records);
    expect(list.out).toMatch(/ \(not known\) +configmap\/web -n default +3 +deleted$/m);
    const [, id = ''] = /recorded (\S+):/.exec(said.out) ?? [];
    const shown = (await cascade('log', id, '--record-dir', records)).out;
    expect(shown).toContain('Not in the record: objects that a controller makes again');
    expect(shown).toContain(`Bring it back:   kubectl cascade undo ${id} --record-dir ${records}\n`);
    const undone = await withRecords('undelete', 'cm/web', '--yes');
    expect(undone).toMatchObject({ code: 0, out: expect.stringContaining('Owner references: 2 of 2 are valid.') });
    const secret = await client.get({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pw', namespace: 'default' },
    });
    expect(secret['data']).toEqual({ pw: 'cHc=' });
  });

  it('CAS-063 refuses a taken name and another cluster, and says what to do', async () => {
    const { cluster: started } = await start();
    await using cluster = started;
    const id = await deleteWeb(cluster, 'uid-of-another-cluster');
    expect(await withRecords('undo', id, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is from another cluster: test .*\n.*--another-cluster/),
    });
    await cluster.client.create(configMap('web'));
    const refused = await withRecords('undo', id, '--another-cluster', '--yes');
    expect(refused.code).toBe(3);
    expect(refused.err).toBe(
      'error: 1 name cannot be restored; nothing was created\n' +
        'DETAIL: configmap/web -n default: another object has its name now\n' +
        'HINT: --on-conflict=skip keeps what is there and restores the rest below it\n',
    );
    const skipped = await withRecords('undo', id, '--another-cluster', '--yes', '--on-conflict=skip');
    expect(skipped).toMatchObject({ code: 0, out: expect.stringContaining('Owner references: 1 of 1 are valid.') });
  });

  it('CAS-061 refuses a damaged record with a clear error', async () => {
    await mkdir(join(records, '20261126t155500-0000abcd'), { recursive: true });
    await writeFile(join(records, '20261126t155500-0000abcd', 'record.json'), '{');
    const { code, err } = await cascade('log', '2026', '--record-dir', records);
    expect(code).toBe(1);
    expect(err).toContain('record.json is damaged: it is not JSON\nNothing of it is restored.');
    const list = await cascade('log', '--record-dir', records);
    expect(list).toMatchObject({ code: 0, err: expect.stringContaining('Warning: ') });
  });

  it('CAS-034 and CAS-040 end with code 2 when something is stuck or wrong, and print documents', async () => {
    const { cluster: started } = await start({ controllers: [] });
    await using cluster = started;
    const { client } = cluster;
    expect(await onCluster('lint')).toMatchObject({
      code: 0,
      out: 'Nothing is wrong with ownership in namespace default.\n',
    });
    const held = configMap('held');
    await client.create({ ...held, metadata: { ...held.metadata!, finalizers: ['acme.test/x'] } });
    expect(await onCluster('explain', 'cm/held')).toMatchObject({
      code: 0,
      out: expect.stringContaining('It has no owner: only a request deletes it.'),
    });
    await client.delete(held);
    const stuck = await onCluster('explain', 'configmap', 'held');
    expect(stuck.code).toBe(2);
    expect(stuck.out).toContain('FOUND   finalizerWithoutController: configmap/held waits for finalizer acme.test/x');
    expect(stuck.out).toContain('NEXT    Start its controller');
    const document = JSON.parse((await onCluster('explain', 'cm/held', '-o', 'json')).out) as object;
    expect(document).toMatchObject({
      kind: 'Explanation',
      state: 'terminating',
      findings: [{ code: 'finalizerWithoutController' }],
    });
    expect(await onCluster('explain', 'cm/nobody')).toMatchObject({
      code: 1,
      out: 'configmap/nobody -n default does not exist.\n',
    });
    const rule = {
      match: { verb: 'list', resource: 'configmaps' },
      answer: { status: 403, reason: 'Forbidden' },
    } as const;
    const allowAgain = cluster.faults.add(rule);
    const unknown = await onCluster('explain', 'cm/nobody');
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toContain('cannot find out whether configmaps "nobody" exists: ');
    allowAgain();
    await client.create(configMap('child', { ...held, metadata: { name: 'nobody', uid: 'u' } }));
    const found = await onCluster('lint', '-o', 'json');
    expect(found.code).toBe(2);
    expect(JSON.parse(found.out)).toMatchObject({
      kind: 'LintReport',
      findings: [{ code: 'danglingOwner' }, { code: 'deletedNow' }],
    });
  });

  it('CAS-041 lints manifests without a cluster', async () => {
    const file = join(folder, 'a.yaml');
    await writeFile(
      file,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  ownerReferences:\n' +
        '  - {apiVersion: apps/v1, kind: Deployment, name: web, uid: u, blockOwnerDeletion: true}\n',
    );
    const { code, out } = await cascade('lint', '-f', file);
    expect(code).toBe(2);
    expect(out).toContain('resources: ["deployments/finalizers"]');
  });

  it('CAS-067 repairs stale owners after it has shown the difference', async () => {
    const { cluster: started } = await start({ controllers: [] });
    await using cluster = started;
    const { client } = cluster;
    const web = await client.create(configMap('web'));
    const child = await client.create(
      configMap('child', { ...web, metadata: { name: 'web', uid: 'uid-of-the-backup' } }),
    );
    const shown = await onCluster('relink', '--live', '--dry-run');
    expect(shown).toMatchObject({
      code: 0,
      out:
        'Repairs the owner references of 1 object; 0 are valid.\n\nconfigmap/child -n default\n' +
        `  - ConfigMap/web uid-of-the-backup\n  + ConfigMap/web ${web.metadata!.uid}\n`,
    });
    expect(await onCluster('relink', '--live', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Patched 1 object.'),
    });
    expect((await client.get(child)).metadata!.ownerReferences![0]!.uid).toBe(web.metadata!.uid);
    expect(await onCluster('relink')).toMatchObject({
      code: 1,
      err: expect.stringContaining('needs --live or -f FILE'),
    });
  });
});
