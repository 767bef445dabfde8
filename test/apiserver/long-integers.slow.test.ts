import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringifyExactJson } from '../../src/base/json/exact-json.ts';
import { decodeProtobuf, encodeProtobuf } from '../../src/api/codec/protobuf/protobuf.ts';
import { type Answer, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { openFileStore } from '../../src/apiserver/storage/file/file-store.ts';
import type { Store } from '../../src/apiserver/storage/interface.ts';
import { establish } from '../apiextensions/definition-fixture.ts';
import { until } from '../program/until.ts';
import { systemClock } from '../../src/base/time/clock.ts';

const MAX = 9223372036854775807n;
const LONG = [9007199254740993n, MAX, -9223372036854775808n] as const;
const TOO_LONG = '9223372036854775808';

const YAML = { 'content-type': 'application/yaml', accept: 'application/yaml' };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const things = '/apis/example.com/v1/namespaces/default/things';
const runs = '/apis/batch/v1/namespaces/default/cronjobs';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', kind: 'Thing' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  n: { type: 'integer', format: 'int64' },
                  short: { type: 'integer', format: 'int32' },
                  low: { type: 'integer', maximum: 9007199254740992 },
                  even: { type: 'integer', multipleOf: 2 },
                  one: { type: 'integer', enum: [MAX] },
                  fixed: { type: 'integer', default: MAX },
                  ruled: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == 9223372036854775807' }] },
                  set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
                  map: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id'],
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: { id: { type: 'integer' }, text: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const thing = (name: string, spec: object): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});

const cronJob = (name: string, startingDeadlineSeconds: unknown): object => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: {
    schedule: '@daily',
    startingDeadlineSeconds,
    jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } },
  },
});

const specOf = ({ json }: Answer): Record<string, unknown> => json['spec'] as Record<string, unknown>;

let directory: string;
let store: Store;
let server: TestServer;

async function start(): Promise<void> {
  store = await openFileStore({ path: join(directory, 'data'), clock: systemClock });
  server = await startTestServer({ store });
}

async function stop(): Promise<void> {
  await server.server.stop();
  await store.close();
}

const apply = (name: string, manager: string, spec: object, force = false): Promise<Answer> =>
  server.request('PATCH', `${things}/${name}?fieldManager=${manager}&force=${force}`, {
    body: stringifyExactJson(thing(name, spec)),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'long-integers-'));
  await start();
  await establish(server, definition);
});

afterAll(async () => {
  await stop();
  rmSync(directory, { recursive: true });
});

describe.each(LONG)('the integer %s of a custom resource', (n) => {
  const name = `n${n}`.replace('-', 'm');

  it('is created, read, listed, watched, updated and patched exactly', async () => {
    expect((await server.post(things, thing(name, { n }))).text).toContain(`"n":${n}`);
    expect(specOf(await server.get(`${things}/${name}`))['n']).toBe(n);
    expect((await server.get(things)).text).toContain(`"n":${n}`);
    const watch = await server.watch(`${things}?watch=1&fieldSelector=metadata.name%3D${name}`);
    expect((await watch.next())?.object['spec']).toMatchObject({ n });
    watch.close();
    const { json } = await server.get(`${things}/${name}`);
    const updated = await server.put(`${things}/${name}`, {
      ...json,
      spec: { ...specOf({ json } as Answer), set: [n] },
    });
    expect(specOf(updated)).toMatchObject({ n, set: [n] });
    // A write that changes nothing keeps the version.
    expect((await server.put(`${things}/${name}`, updated.json)).json.metadata?.resourceVersion).toBe(
      updated.json.metadata?.resourceVersion,
    );
    const test = (value: bigint): object[] => [
      { op: 'test', path: '/spec/n', value },
      { op: 'copy', from: '/spec/set', path: '/spec/set' },
    ];
    expect((await server.patch(`${things}/${name}`, test(n), 'json')).status).toBe(200);
    expect((await server.patch(`${things}/${name}`, test(n < 0n ? n + 1n : n - 1n), 'json')).status).toBe(422);
    expect(specOf(await server.patch(`${things}/${name}`, { spec: { n: n < 0n ? n + 1n : n - 1n } }))['n']).toBe(
      n < 0n ? n + 1n : n - 1n,
    );
    expect(specOf(await server.patch(`${things}/${name}`, { spec: { n } }))['n']).toBe(n);
  });

  it('is the same in YAML, indented JSON and a table', async () => {
    const created = await server.request('POST', things, {
      body: `apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: y${name}\nspec:\n  "n": ${n}\n`,
      headers: YAML,
    });
    expect(created.text).toContain(`\n  "n": ${n}\n`);
    expect((await server.get(`${things}/y${name}?pretty=true`)).text).toContain(`"n": ${n}`);
    const table = await server.get(`${things}/y${name}`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.text).toMatch(new RegExp(`"cells":\\["y${name}",${n}\\]`));
  });

  it('is applied, owned, and the value of a conflict', async () => {
    const applied = `a${name}`;
    expect((await apply(applied, 'one', { n, set: [n, 1], map: [{ id: n, text: 'a' }] })).status).toBe(201);
    const conflict = await apply(applied, 'two', { n: 5, map: [{ id: n, text: 'b' }] });
    expect(conflict.status).toBe(409);
    expect(conflict.json.message).toContain(`.spec.map[id=${n}].text`);
    expect((await apply(applied, 'two', { n, map: [{ id: n, text: 'a' }] })).status).toBe(200);
    const fields = stringifyExactJson((await server.get(`${things}/${applied}`)).json.metadata?.managedFields);
    expect(fields).toContain(String.raw`k:{\"id\":${n}}`);
    expect(fields).toContain(`v:${n}`);
    // The manager gives up the element of the set, and nobody else owns it.
    expect(specOf(await apply(applied, 'one', { n, set: [1], map: [{ id: n, text: 'a' }] }))['set']).toEqual([1]);
  });

  it('is the same after a restart', async () => {
    await server.post(things, thing(`r${name}`, { n }));
    await stop();
    await start();
    await until('the resource is served', async () => (await server.get(`${things}/r${name}`)).status === 200);
    expect(specOf(await server.get(`${things}/r${name}`))['n']).toBe(n);
  });
});

describe('the schema of a custom resource', () => {
  it.each<[string, string, string]>([
    ['a double instead of an integer', `"n":${TOO_LONG}`, 'spec.n in body must be of type int64: "float64"'],
    ['a double without a format', `"low":${TOO_LONG}`, 'spec.low in body must be of type integer: "number"'],
    ['int32', `"short":${MAX}`, 'Checked value must be of type integer with format int32 in spec.short'],
    ['a maximum', '"low":9007199254740993', 'spec.low in body should be less than or equal to 9007199254740992'],
    ['a factor', '"even":9007199254740993', 'spec.even in body should be a multiple of 2'],
    ['an enum', '"one":9223372036854775806', 'supported values: "9223372036854775807"'],
    ['a rule', '"ruled":9223372036854775806', 'failed rule: self == 9223372036854775807'],
    ['a set', `"set":[${MAX},1,${MAX}]`, `spec.set[2]: Duplicate value: ${MAX}`],
  ])('refuses by %s', async (_what, member, problem) => {
    const body = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"bad"},"spec":{${member}}}`;
    const refused = await server.request('POST', things, { body, headers: { 'content-type': 'application/json' } });
    expect(refused.status).toBe(422);
    expect(refused.json.message).toContain(problem);
  });

  it('accepts exact values, and has an exact default', async () => {
    const created = await server.post(
      things,
      thing('good', { one: MAX, ruled: MAX, even: 9007199254740994n, set: [MAX, MAX - 1n] }),
    );
    expect(created.status).toBe(201);
    expect(specOf(created)['fixed']).toBe(MAX);
    expect((await server.get('/openapi/v3/apis/example.com/v1')).text).toContain(`"default":${MAX}`);
    expect(
      (await server.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com')).text,
    ).toContain(`"enum":[${MAX}]`);
  });
});

describe('an int64 field of a built-in resource', () => {
  it('is exact in JSON, YAML and protobuf, and in strategic merge patches', async () => {
    const created = await server.post(runs, cronJob('long', MAX));
    expect(specOf(created)['startingDeadlineSeconds']).toBe(MAX);
    const binary = await server.get(`${runs}/long`, { accept: PROTOBUF });
    const decoded = decodeProtobuf(binary.bytes, { kind: 'CronJob' }) as Record<string, Record<string, unknown>>;
    expect(decoded['spec']?.['startingDeadlineSeconds']).toBe(MAX);
    const posted = await server.request('POST', runs, {
      body: encodeProtobuf(cronJob('binary', 9007199254740993n) as Record<string, unknown>),
      headers: { 'content-type': PROTOBUF },
    });
    expect(specOf(posted)['startingDeadlineSeconds']).toBe(9007199254740993n);
    expect((await server.get(`${runs}/long`, { accept: 'application/yaml' })).text).toContain(
      `startingDeadlineSeconds: ${MAX}`,
    );
    const patched = await server.patch(`${runs}/long`, { spec: { startingDeadlineSeconds: MAX - 1n } }, 'strategic');
    expect(specOf(patched)['startingDeadlineSeconds']).toBe(MAX - 1n);
  });

  it.each<[string, string, number, string]>([
    [
      'too long',
      TOO_LONG,
      400,
      `cannot unmarshal number ${TOO_LONG} into Go struct field CronJob.spec.startingDeadlineSeconds of type int64`,
    ],
    [
      'negative',
      '-9223372036854775808',
      422,
      'Invalid value: -9223372036854775808: must be greater than or equal to 0',
    ],
  ])('is refused when it is %s', async (_what, digits, status, problem) => {
    const body = stringifyExactJson(cronJob('bad', 0)).replace('Seconds":0', `Seconds":${digits}`);
    const refused = await server.request('POST', runs, { body, headers: { 'content-type': 'application/json' } });
    expect(refused.status).toBe(status);
    expect(refused.json.message).toContain(problem);
  });

  it('is checked by its range', async () => {
    const pod = (securityContext: object): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'ranged' },
      spec: { containers: [{ name: 'c', image: 'i' }], securityContext },
    });
    const pods = '/api/v1/namespaces/default/pods';
    for (const [field, value, shown] of [
      ['runAsUser', MAX, 'runAsUser'],
      ['supplementalGroups', [MAX], 'supplementalGroups[0]'],
    ] as const) {
      const refused = await server.post(pods, pod({ [field]: value }));
      expect(refused.status).toBe(422);
      expect(refused.json.message).toContain(
        `spec.securityContext.${shown}: Invalid value: ${MAX}: must be between 0 and 2147483647, inclusive`,
      );
    }
  });

  it('is refused in a field of 32 bits, with its digits', async () => {
    const refused = await server.patch(`${runs}/long`, { spec: { successfulJobsHistoryLimit: MAX } });
    expect(refused.json.message).toContain(`number ${MAX} into Go struct field`);
  });

  it('may be the grace period of a pod that is deleted', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await server.post(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'patient' },
      spec: { nodeName: 'n', terminationGracePeriodSeconds: MAX, containers: [{ name: 'c', image: 'i' }] },
    });
    const deleted = await server.delete(`${pods}/patient`);
    expect(deleted.status).toBe(200);
    expect(specOf(deleted)['terminationGracePeriodSeconds']).toBe(MAX);
    expect((await server.delete(`${pods}/patient`, { gracePeriodSeconds: 0 })).status).toBe(200);
  });

  it('is limited as the generation of an object, which rises when it is deleted', async () => {
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const metadata = { name: 'counted', generation: MAX, finalizers: ['example.com/hold'] };
    const created = await server.post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    expect([created.status, created.json.metadata?.generation]).toEqual([201, 2 ** 52]);
    const deleted = await server.delete(`${configMaps}/counted`);
    expect([deleted.status, deleted.json.metadata?.generation]).toEqual([200, 2 ** 52 + 1]);
  });
});
