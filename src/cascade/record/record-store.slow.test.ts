import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { seededRandom } from '../../base/random/random.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import type { RecordHeader } from './recorded-object.ts';
import { RecordError } from './record-error.ts';
import { diskFiles } from './record-files.ts';
import { recordFolder } from './record-folder.ts';
import { RecordStore, type RecordStoreOptions } from './record-store.ts';

const NOW = Date.UTC(2026, 10, 26, 15, 55, 0);
const header: RecordHeader = {
  requester: 'ada',
  context: { name: 'kind', server: 'https://127.0.0.1:6443', clusterUid: 'c1' },
  roots: [
    { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments', namespace: 'shop', name: 'web', uid: 'u1' },
  ],
  policy: 'Background',
};
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { text: 'a line\u2028that JSON keeps' },
};
const PASSWORD = Buffer.from('correct horse').toString('base64');
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'pw',
    namespace: 'shop',
    uid: 'u2',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"pw":"${PASSWORD}"}}`, keep: 'me' },
  },
  data: { pw: PASSWORD },
  type: 'Opaque',
};

let folder: string;
let clock: FakeClock;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'kubegc-record-')), 'cascades');
  clock = new FakeClock(NOW);
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

function store(options: Partial<RecordStoreOptions> = {}): RecordStore {
  return new RecordStore({ folder, clock, random: seededRandom(clock.now()), ...options });
}

async function refusal(promise: Promise<unknown>): Promise<RecordError> {
  const error = await promise.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RecordError);
  return error as RecordError;
}

describe('a record', () => {
  it('CAS-060 returns who deleted what, when, where, and the body of every object', async () => {
    const id = await store().write(header, [deployment, secret]);
    expect(id).toMatch(/^20261126t155500-[0-9a-f]{8}$/);
    expect(await store().read(id)).toEqual({
      apiVersion: 'kubegc.io/v1alpha1',
      kind: 'CascadeRecord',
      id,
      time: '2026-11-26T15:55:00Z',
      ...header,
      outcome: 'recorded',
      objects: 2,
      secrets: 'encrypted',
    });
    expect(await store().objects(id)).toEqual([{ body: deployment }, { body: secret }]);
  });

  it('CAS-060 notes the outcome and its differences afterwards', async () => {
    const id = await store().write(header, [deployment]);
    await store().finish(id, { outcome: 'different', differences: ['pod/a is still there'] });
    expect(await store().read(id)).toMatchObject({ outcome: 'different', differences: ['pod/a is still there'] });
    expect(await store().objects(id)).toHaveLength(1);
  });

  it('CAS-061 is a folder of its own, with files that only its owner reads', async () => {
    const id = await store().write(header, [deployment, secret]);
    expect((await readdir(folder)).toSorted()).toEqual([id, 'key']);
    const paths = [join(folder, 'key'), join(folder, id, 'record.json'), join(folder, id, 'objects.jsonl')];
    for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const path of [folder, join(folder, id)]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('CAS-061 has no data of a Secret in clear, in its annotations neither', async () => {
    const id = await store().write(header, [secret]);
    const text = await readFile(join(folder, id, 'objects.jsonl'), 'utf8');
    expect(text).toContain('"name":"pw"');
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain('last-applied');
  });

  it('CAS-061 keeps no data of Secrets at all when asked to, and says so', async () => {
    const id = await store({ secrets: 'omitted' }).write(header, [deployment, secret]);
    expect(await store().read(id)).toMatchObject({ secrets: 'omitted' });
    const [, omitted] = await store().objects(id);
    expect(omitted).toMatchObject({
      dataOmitted: true,
      body: { metadata: { name: 'pw', annotations: { keep: 'me' } } },
    });
    expect(omitted!.body).not.toHaveProperty('data');
    expect(await readdir(folder)).toEqual([id]);
  });

  it('CAS-061 refuses to open Secrets with another key, or without one', async () => {
    const id = await store().write(header, [secret]);
    await writeFile(join(folder, 'key'), 'ab'.repeat(32));
    expect((await refusal(store().objects(id))).message).toContain('secret shop/pw cannot be decrypted with this key');
    await rm(join(folder, 'key'));
    expect(await refusal(store().objects(id))).toMatchObject({ code: 'key' });
  });

  it('CAS-061 expires by age and by size, but the newest record stays', async () => {
    const expiry = { maxAgeMs: 60_000, maxBytes: 10 };
    const old = await store({ expiry }).write(header, [deployment]);
    clock.advance(61_000);
    const recent = await store({ expiry }).write(header, [deployment]);
    clock.advance(1000);
    const newest = await store({ expiry }).write(header, [deployment]);
    expect((await store({ expiry }).expire()).toSorted()).toEqual([old, recent].toSorted());
    expect((await store().list()).records.map(({ id }) => id)).toEqual([newest]);
  });

  it('CAS-061 is under the XDG state folder unless another is given', () => {
    expect(recordFolder(undefined, { XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/kubegc/cascades');
    expect(recordFolder(undefined, { XDG_STATE_HOME: 'relative', HOME: '/h' })).toBe('/h/.local/state/kubegc/cascades');
    expect(recordFolder('/mine', { HOME: '/h' })).toBe('/mine');
    expect(recordFolder(undefined, {})).toBeUndefined();
  });

  it('CAS-062 is listed newest first, and one that cannot be read is named beside the others', async () => {
    const first = await store().write(header, [deployment]);
    clock.advance(1000);
    const second = await store().write(header, [deployment]);
    clock.advance(1000);
    const broken = await store().write(header, [deployment]);
    await truncate(join(folder, broken, 'record.json'), 20);
    const { records, unreadable } = await store().list();
    expect(records.map(({ id }) => id)).toEqual([second, first]);
    expect(unreadable.map(({ code }) => code)).toEqual(['damaged']);
  });

  it('CAS-062 is found by the beginning of its id, unless others begin the same', async () => {
    const first = await store().write(header, [deployment]);
    clock.advance(1000);
    await store().write(header, [deployment]);
    expect((await store().read(first.slice(0, 15))).id).toBe(first);
    expect(await refusal(store().read('2026'))).toMatchObject({ code: 'ambiguous' });
    expect(await refusal(store().read('nonsense'))).toMatchObject({ code: 'notFound' });
    expect(await refusal(store().read(''))).toBeInstanceOf(RecordError);
  });
});

describe('a record of a long plan', () => {
  const planOf = (count: number): CascadePlan => ({
    apiVersion: 'kubegc.io/v1alpha1',
    kind: 'CascadePlan',
    digest: 'd'.repeat(64),
    policy: 'Background',
    roots: [{ ref: header.roots[0]!, policy: 'Background', policyFrom: 'request' }],
    readAt: '2026-11-26T15:55:00Z',
    source: 'list',
    assumeFinalizers: 'removed',
    objects: Array.from({ length: count }, (_, n) => ({
      ref: { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'shop', name: `p${n}`, uid: `u${n}` },
      outcome: 'deleted',
      reason: 'ownersAbsent',
      message: 'a line\u2028that JSON keeps',
      sequence: n + 1,
      via: 'ownerReference',
    })),
    summary: { byOutcome: { deleted: count }, byKind: {}, byNamespace: {}, dataBearing: [] },
  });
  const versionOf = async (id: string): Promise<unknown> =>
    (JSON.parse(await readFile(join(folder, id, 'record.json'), 'utf8')) as { schemaVersion: unknown }).schemaVersion;

  it.each([
    { count: 10_000, version: 1, files: ['objects.jsonl', 'record.json'] },
    { count: 10_001, version: 2, files: ['objects.jsonl', 'plan-objects.jsonl', 'record.json'] },
  ])('CAS-060 has all $count objects of it before and after it is finished', async ({ count, version, files }) => {
    const plan = planOf(count);
    const id = await store().write({ ...header, plan }, [deployment]);
    expect((await store().read(id)).plan).toEqual(plan);
    await store().finish(id, { outcome: 'asPlanned' });
    const [record] = (await store().list()).records;
    expect(record).toMatchObject({ outcome: 'asPlanned' });
    expect(record?.plan).toEqual(plan);
    expect(await store().objects(id)).toEqual([{ body: deployment }]);
    expect(await versionOf(id)).toBe(version);
    expect((await readdir(join(folder, id))).toSorted()).toEqual(files);
  });

  it('CAS-061 is refused when an object of the plan changed or is missing', async () => {
    const id = await store().write({ ...header, plan: planOf(10_001) }, [deployment]);
    const path = join(folder, id, 'plan-objects.jsonl');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const intact = await readFile(path, 'utf8');
    for (const text of [intact.replace('"p77"', '"p78"'), intact.slice(intact.indexOf('\n') + 1), '']) {
      await writeFile(path, text);
      expect(await refusal(store().read(id))).toMatchObject({ code: 'damaged' });
      expect((await store().list()).unreadable).toHaveLength(1);
    }
    await rm(path);
    expect(await refusal(store().read(id))).toMatchObject({ code: 'damaged' });
  });
});

describe('a record that is not whole', () => {
  it('CAS-061 is refused at every byte that changed, and returns nothing', async () => {
    const id = await store().write(header, [deployment, secret]);
    for (const name of ['record.json', 'objects.jsonl']) {
      const path = join(folder, id, name);
      const intact = await readFile(path);
      for (let at = 0; at < intact.length - 1; at += 13) {
        const bytes = Buffer.from(intact);
        bytes[at] = bytes[at]! ^ 0x01;
        await writeFile(path, bytes);
        const read = store().objects(id);
        // Only whitespace between members may change, because that does not change the content.
        const outcome = await read.then(
          (objects) => JSON.stringify(objects),
          (error: unknown) => error,
        );
        if (typeof outcome === 'string') expect(JSON.parse(outcome)).toEqual([{ body: deployment }, { body: secret }]);
        else expect(outcome).toBeInstanceOf(RecordError);
      }
      await writeFile(path, intact);
    }
  });

  it('CAS-061 is refused when its objects end early', async () => {
    const id = await store().write(header, [deployment, secret]);
    const path = join(folder, id, 'objects.jsonl');
    const intact = await readFile(path);
    for (let length = 0; length < intact.length - 1; length += 29) {
      await writeFile(path, intact.subarray(0, length));
      const error = await refusal(store().objects(id));
      expect(error.code).toBe('damaged');
      expect(error.advice).toContain('Nothing of it is restored');
    }
  });

  it('CAS-061 of a later version is refused with the version that wrote it', async () => {
    const id = await store().write(header, [deployment]);
    const path = join(folder, id, 'record.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"schemaVersion": 1', '"schemaVersion": 3'));
    const error = await refusal(store().objects(id));
    expect(error.code).toBe('laterVersion');
    expect(error.message).toContain('has schemaVersion 3; this kubegc reads version 2');
  });

  it('CAS-061 never appears when the source of the bodies fails', async () => {
    async function* failing(): AsyncGenerator<KubeObject> {
      yield deployment;
      await Promise.reject(new Error('the server went away'));
    }
    await expect(store().write(header, failing())).rejects.toThrow('the server went away');
    expect((await store().list()).records).toEqual([]);
    expect(await readdir(folder)).toEqual(['key']);
  });
});

describe('a disk that is full', () => {
  // /dev/full answers ENOSPC to every write.
  const full = (name: string) => ({
    ...diskFiles,
    create: (path: string) => (path.endsWith(name) ? open('/dev/full', 'w') : diskFiles.create(path)),
  });

  for (const name of ['key', 'objects.jsonl', 'record.json']) {
    it.skipIf(process.platform !== 'linux')(
      `CAS-061 is a clear error before anything is deleted (${name})`,
      async () => {
        const files = name === 'key' ? { ...full(''), create: () => open('/dev/full', 'w') } : full(name);
        const error = await refusal(store({ files }).write(header, [deployment]));
        expect(error.code).toBe('unwritable');
        expect(error.message).toBe(`cannot write a record in ${folder}: no space left on the device`);
        expect(error.advice).toContain('Nothing was deleted.');
        expect((await store().list()).records).toEqual([]);
      },
    );
  }
});
