import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { objectKey } from '../../apiserver/storage/storage-keys.ts';
import { encodeStored } from '../../apiserver/storage/stored-object.ts';
import { openMemoryStore } from '../../apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../apiserver/storage/interface.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { systemRandom } from '../../base/random/random.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { systemClock } from '../../base/time/clock.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import { controllerNames } from '../../assembly/controller-names.ts';
import { connect } from '../../client/http/connect.ts';
import { loadClientConfig } from '../../client/kubeconfig/client-config.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { systemKubeconfigIo } from '../process/system-kubeconfig-io.ts';
import { run } from '../program.ts';
import { Cluster } from './cluster.ts';
import { DataDirectory } from './data-directory.ts';
import { RecordStore } from '../../cascade/record/record-store.ts';
import { until } from '../../../test/program/until.ts';
import { DeletionRecording } from './deletion-recording.ts';

let folder: string;
let store: Store;
let clock: FakeClock;
let logger: MemoryLogger;
let records: RecordStore;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'kubegc-recording-')), 'cascades');
  clock = new FakeClock();
  store = openMemoryStore({ clock });
  logger = new MemoryLogger();
  records = new RecordStore({ folder, clock, random: systemRandom });
});
afterEach(async () => {
  await store.close();
  await rm(join(folder, '..'), { recursive: true });
});

const start = (clusterUid = 'this cluster'): Promise<DeletionRecording> =>
  DeletionRecording.start({
    store,
    folder,
    secrets: 'encrypted',
    context: { name: 'kubegc', server: 'https://127.0.0.1:6443', clusterUid },
    requestOf: () => undefined,
    clock,
    random: systemRandom,
    logger,
  });

const keyOf = (name: string, resource = 'configmaps', group = ''): string =>
  objectKey({ group, resource, namespaced: true }, 'shop', name);

async function create(name: string, { kind = 'ConfigMap', resource = 'configmaps', group = '' } = {}): Promise<void> {
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  const object = { apiVersion, kind, metadata: { namespace: 'shop', name, uid: `uid-${name}` }, data: { big: '1' } };
  await store.create(keyOf(name, resource, group), encodeStored(object));
}

async function remove(name: string, resource = 'configmaps', group = ''): Promise<void> {
  const { kv } = await store.get(keyOf(name, resource, group));
  expect(await store.delete(kv!.key, kv!.modRevision)).toMatchObject({ succeeded: true });
}

const recorded = async (): Promise<(string | undefined)[]> => {
  const { records: all } = await records.list();
  const objects = await Promise.all(all.map(({ id }) => records.objects(id)));
  return objects.flat().map(({ body }) => body.metadata?.name);
};
const seen = (): Promise<void> =>
  until('the watch is idle', () => new Promise<true>((next) => setImmediate(next, true))).then(() => undefined);

describe('the recorder in kubegc up', () => {
  it('CAS-066 records the last state of what goes, of every kind but those whose writers create them again', async () => {
    const recording = await start();
    await create('web');
    await create('late', { kind: 'Widget', resource: 'widgets', group: 'example.com' });
    await create('noise', { kind: 'Event', resource: 'events' });
    await store.create('/registry/core/ranges', Buffer.from('{"kind":"Range","metadata":{}}'));
    await remove('web');
    await remove('late', 'widgets', 'example.com');
    await remove('noise', 'events');
    await seen();
    await recording.stop();
    expect((await recorded()).toSorted()).toEqual(['late', 'web']);
    const { records: all } = await records.list();
    expect(all[0]!.roots.map(({ resource, name }) => `${resource}/${name}`).toSorted()).toEqual([
      'configmaps/web',
      'widgets/late',
    ]);
    expect(logger.lines.filter(({ message }) => message === 'recorded a deletion')).toHaveLength(1);
  });

  it('CAS-066 records after a crash what was deleted before it, and nothing twice after a clean stop', async () => {
    const crashed = await start();
    await create('a');
    await create('b');
    await remove('a');
    await seen();
    // The process dies before the record is written: nobody stops the recorder.
    expect(await recorded()).toEqual([]);
    const second = await start();
    await remove('b');
    await seen();
    await second.stop();
    expect((await recorded()).toSorted()).toEqual(['a', 'b']);
    const third = await start();
    await seen();
    await third.stop();
    expect((await records.list()).records).toHaveLength(1);
    void crashed;
  });

  it('CAS-066 moves its mark while nothing is deleted, so that a short history is enough, and never past a waiting deletion', async () => {
    const recording = await start();
    await create('a');
    await seen();
    clock.advance(60_000);
    const markOf = async (): Promise<number> =>
      (JSON.parse(await readFile(join(folder, 'recorded-until'), 'utf8')) as { revision: number }).revision;
    const first = await store.currentRevision();
    await until('the mark moves', async () => (await markOf()) === first);
    clock.advance(58_000);
    await remove('a');
    await create('b');
    await seen();
    clock.advance(2000);
    await seen();
    expect(await markOf()).toBe(first);
    await recording.stop();
    expect(await markOf()).toBe(await store.currentRevision());
  });

  it('CAS-066 says which revisions are not recorded when history does not reach back, and ignores the mark of another cluster', async () => {
    const first = await start();
    await create('a');
    await seen();
    await first.stop();
    await remove('a');
    await create('b');
    await store.compact(await store.currentRevision());
    const second = await start();
    await second.stop();
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'history is too short: deletions between these revisions are not recorded' },
    ]);
    expect(await recorded()).toEqual([]);
    const other = await start('another cluster');
    await other.stop();
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

const core = (resource: string) => ({ group: '', version: 'v1', resource });

describe('a server that records', () => {
  it('CAS-066 CAS-061 brings back a Service, a Secret and what an owner took along, after a restart', async () => {
    const home = await mkdtemp(join(tmpdir(), 'kubegc-recording-up-'));
    const kubeconfig = join(home, 'kubeconfig');
    const listening = async (): Promise<{ cluster: Cluster; client: RestClient }> => {
      const cluster = await Cluster.start({
        store: 'file',
        directory: await DataDirectory.open(home),
        listen: { host: '127.0.0.1', port: 0 },
        controllers: new Set(controllerNames),
        selfCheckPeriodMs: undefined,
        authorizationMode: 'AlwaysAllow',
        admissionPlugins: { enable: [], disable: [] },
        recording: { secrets: 'encrypted' },
        clock: systemClock,
        random: systemRandom,
        logger: new MemoryLogger(),
      });
      cluster.startControllers();
      await writeFileAtomically(kubeconfig, cluster.kubeconfig, 0o600);
      const config = await loadClientConfig({ io: systemKubeconfigIo, clock: systemClock, path: kubeconfig });
      const transport = connect({ ...config, clock: systemClock });
      return { cluster, client: new RestClient({ transport, clock: systemClock, userAgent: 'test' }) };
    };
    try {
      const { cluster, client } = await listening();
      const namespace = 'default';
      const owner = await client.create({ gvr: core('configmaps'), namespace }, { metadata: { name: 'web' } });
      const { uid } = owner.metadata!;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid }];
      const service = await client.create(
        { gvr: core('services'), namespace },
        { metadata: { name: 'web', ownerReferences }, spec: { ports: [{ port: 80 }] } },
      );
      await client.create(
        { gvr: core('secrets'), namespace },
        { metadata: { name: 'pw', ownerReferences }, data: { pw: 'aHVudGVyMg==' } },
      );
      // A user deletes with kubectl, which knows nothing of records.
      const ada = client.through((request, next) =>
        next({ ...request, headers: { ...request.headers, 'impersonate-user': 'ada' } }),
      );
      await ada.delete({ gvr: core('configmaps'), namespace, name: 'web' }, { propagationPolicy: 'Background' });
      for (const resource of ['services', 'secrets'])
        await until(`the ${resource} are gone`, async () =>
          (await client.list({ gvr: core(resource), namespace })).items.every(
            ({ metadata }) => metadata?.name === 'kubernetes',
          ),
        );
      await client.close();
      await cluster.stop();

      const again = await listening();
      const said = { out: '', err: '' };
      const terminal = {
        stdout: (text: string) => void (said.out += text),
        stderr: (text: string) => void (said.err += text),
        columns: 120,
      };
      const flags = ['--record-dir', join(home, 'cascades'), '--kubeconfig', kubeconfig];
      expect(await run(['cascade', 'undelete', 'configmap/web', '--yes', ...flags], terminal)).toBe(0);
      expect(said).toMatchObject({
        err: '',
        out: expect.stringMatching(/\(\d+s ago by ada\) creates 3 objects[\s\S]*Owner references: 2 of 2 are valid/),
      });
      const back = await again.client.get({ gvr: core('services'), namespace, name: 'web' });
      expect(back['spec']).toMatchObject({ clusterIP: (service['spec'] as { clusterIP: string }).clusterIP });
      const secret = await again.client.get({ gvr: core('secrets'), namespace, name: 'pw' });
      expect(secret['data']).toEqual({ pw: 'aHVudGVyMg==' });
      // The server's own endpoint has the record, too.
      const { body } = await again.client.request({ method: 'GET', path: '/kubegc/v1/log' });
      expect(JSON.parse(Buffer.from(body).toString()) as object).toMatchObject({
        items: expect.arrayContaining([
          expect.objectContaining({
            outcome: 'recorded',
            requester: 'ada',
            policy: 'Background',
            context: { name: 'kubegc', server: cluster.url, clusterUid: expect.any(String) as string },
            undone: [expect.anything()],
          }) as object,
        ]) as object,
      });
      await again.client.close();
      await again.cluster.stop();
    } finally {
      await rm(home, { recursive: true });
    }
  });
});
