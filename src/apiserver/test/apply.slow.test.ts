import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '../../api/meta/object-meta.ts';
import {
  type Answer,
  configMap as emptyConfigMap,
  configMaps,
  startTestServer,
  type TestServer,
} from './test-server.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

const web = (spec: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx:1' }] },
    },
    ...spec,
  },
});

/** A ConfigMap with a field that a manager can own. */
const configMap = (name: string, extra: Partial<KubeObject> = {}): KubeObject =>
  emptyConfigMap(name, { data: { k: 'v' }, ...extra });

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

function apply(target: string, body: unknown, query = 'fieldManager=one'): Promise<Answer> {
  return server.request('PATCH', `${target}?${query}`, {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: APPLY,
  });
}

const entries = ({ json }: Answer): readonly ManagedFieldsEntry[] => json.metadata?.managedFields ?? [];
const who = (answer: Answer): unknown[] =>
  entries(answer).map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].filter((part) => part !== undefined).join(' '),
  );

describe('apply', () => {
  it('API-210 creates what is missing with 201, changes what is there with 200, leaves alone what is the same', async () => {
    const created = await apply(`${deployments}/web`, web({ replicas: 2 }));
    expect([created.status, created.json['spec']]).toMatchObject([201, { replicas: 2, revisionHistoryLimit: 10 }]);
    expect(created.json.metadata).toMatchObject({ name: 'web', namespace: 'default', generation: 1 });
    expect(entries(created)[0]).toMatchObject({ manager: 'one', operation: 'Apply', apiVersion: 'apps/v1' });
    const same = await apply(`${deployments}/web`, web({ replicas: 2 }));
    expect([same.status, same.json.metadata?.resourceVersion]).toEqual([200, created.json.metadata?.resourceVersion]);
    const changed = await apply(`${deployments}/web`, web({ replicas: 3 }));
    expect([changed.status, changed.json['spec']]).toMatchObject([200, { replicas: 3 }]);
    expect(changed.json.metadata?.generation).toBe(2);
  });

  it('API-210 reads YAML', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  yes: "1"\n  when: 2026-11-21\n';
    const { status, json } = await apply(`${configMaps}/a`, body.replace('when: 2026-11-21', 'when: "2026"'));
    expect([status, json['data']]).toEqual([201, { true: '1', when: '2026' }]);
    expect((await apply(`${configMaps}/a`, '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}')).status).toBe(200);
    expect((await apply(`${configMaps}/a`, 'a: [')).json.message).toMatch(
      /^error decoding YAML: error converting YAML/,
    );
    expect((await apply(`${configMaps}/a`, '[]')).status).toBe(400);
  });

  it.each([
    [
      'API-210 without a manager',
      'a',
      configMap('a'),
      '',
      422,
      /fieldManager: Required value: is required for apply patch$/,
    ],
    [
      'API-078 a manager that is too long',
      'a',
      configMap('a'),
      `fieldManager=${'x'.repeat(129)}`,
      422,
      /^PatchOptions\.meta\.k8s\.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes$/,
    ],
    [
      'API-211 with managedFields',
      'a',
      configMap('a', { metadata: { managedFields: [] } }),
      'fieldManager=m',
      400,
      /^metadata\.managedFields must be nil$/,
    ],
    [
      'API-212 of another kind',
      'a',
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } },
      'fieldManager=m',
      400,
      /^invalid object type: apps\/v1, Kind=Deployment$/,
    ],
    [
      'API-212 without a type',
      'a',
      { metadata: { name: 'a' } },
      'fieldManager=m',
      400,
      /^invalid object type: \/, Kind=$/,
    ],
    [
      'API-212 of a version that nobody serves',
      'a',
      { apiVersion: 'v7', kind: 'ConfigMap' },
      'fieldManager=m',
      400,
      /^invalid object type: \/v7, Kind=ConfigMap$/,
    ],
    [
      'API-223 with an unknown field',
      'a',
      configMap('a', { dta: {} }),
      'fieldManager=m&fieldValidation=Ignore',
      500,
      /^failed to create typed patch object \(\/a; \/v1, Kind=ConfigMap\): \.dta: field not declared in schema$/,
    ],
    [
      'API-223 with an unknown field and a namespace',
      'a',
      configMap('a', { dta: {}, metadata: { namespace: 'default' } }),
      'fieldManager=m',
      500,
      /^failed to create typed patch object \(default\/a; /,
    ],
    [
      'API-170 of another name',
      'b',
      configMap('a'),
      'fieldManager=m',
      400,
      /does not match the name on the URL \(b\)$/,
    ],
    [
      'API-064 of another namespace',
      'a',
      configMap('a', { metadata: { namespace: 'other' } }),
      'fieldManager=m',
      400,
      /namespace of the provided object does not match/,
    ],
    [
      'API-210 with the uid of an object that is gone',
      'a',
      configMap('a', { metadata: { uid: 'u' } }),
      'fieldManager=m',
      409,
      /uid mismatch: the provided object specified uid u, and no existing object was found$/,
    ],
    [
      'API-066 an invalid object',
      'a',
      configMap('a', { metadata: { labels: { 'a/b/c': 'x' } } }),
      'fieldManager=m',
      422,
      /labels/,
    ],
  ])('%s is refused', async (_, name, body, query, status, message) => {
    const answer = await apply(`${configMaps}/${name}`, body, query);
    expect([answer.status, answer.json.message]).toEqual([status, expect.stringMatching(message)]);
    expect((await server.get(`${configMaps}/${name}`)).status).toBe(404);
  });

  it('API-212 the core group is written without a name', async () => {
    const { json } = await apply(`${configMaps}/a`, { apiVersion: 'v1', kind: 'Secret' });
    expect(json.message).toBe('invalid object type: /v1, Kind=Secret');
  });

  it('API-213 a conflict says who has what, and force ends it', async () => {
    await server.post(`${configMaps}?fieldManager=creator`, configMap('a', { data: { k: 'v' } }));
    const refused = await apply(`${configMaps}/a`, configMap('a', { data: { k: 'w' } }));
    expect([refused.status, refused.json.reason, refused.json.message]).toEqual([
      409,
      'Conflict',
      'Apply failed with 1 conflict: conflict with "creator" using v1: .data.k',
    ]);
    expect(refused.json.details).toEqual({
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "creator" using v1', field: '.data.k' }],
    });
    for (const force of ['false', '0']) {
      expect(
        (await apply(`${configMaps}/a`, configMap('a', { data: { k: 'w' } }), `fieldManager=x&force=${force}`)).status,
      ).toBe(409);
    }
    const forced = await apply(`${configMaps}/a`, configMap('a', { data: { k: 'w' } }), 'fieldManager=one&force=true');
    expect([forced.status, forced.json['data']]).toEqual([200, { k: 'w' }]);
  });

  it('API-214 what is applied no more goes', async () => {
    await apply(`${configMaps}/a`, configMap('a', { data: { k: 'v', l: 'v' } }));
    const { json } = await apply(`${configMaps}/a`, configMap('a', { data: { l: 'v' } }));
    expect(json['data']).toEqual({ l: 'v' });
  });

  it('API-217 an object that nobody has tracked belongs to before-first-apply', async () => {
    await server.post(configMaps, configMap('a'));
    await server.patch(`${configMaps}/a`, { metadata: { managedFields: [{}] } });
    expect(entries(await server.get(`${configMaps}/a`))).toEqual([]);
    const answer = await apply(`${configMaps}/a`, configMap('a', { data: { l: 'v' } }));
    expect(who(answer)).toEqual(['one Apply', 'before-first-apply Update']);
  });

  it.each([
    [
      'JSON',
      '{\n"apiVersion":"v1","kind":"ConfigMap",\n"metadata":{"name":"a"},\n"data":{"j":"1"},\n"data":{"k":"1",\n\t"k":"2"}}',
      ['line 6: key "k" already set in map', 'line 5: key "data" already set in map'],
    ],
    [
      'YAML',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {j: "1"}\ndata:\n  k: "1"\n  k: "2"\n',
      ['line 7: key "k" already set in map', 'line 6: key "data" already set in map'],
    ],
  ])('API-235 a key that is there twice in %s: refused, warned of, or passed over', async (_what, body, lines) => {
    const strict = await apply(`${configMaps}/a`, body, 'fieldManager=m&fieldValidation=Strict');
    expect([strict.status, strict.json.message]).toEqual([
      400,
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${lines.join('\n  ')}`,
    ]);
    expect((await server.get(`${configMaps}/a`)).status).toBe(404);
    const warned = await apply(`${configMaps}/a`, body);
    expect([warned.status, warned.json['data'], warned.headers['warning']]).toEqual([
      201,
      { k: '2' },
      lines.map((line) => `299 - "${line.replaceAll('"', String.raw`\"`)}"`),
    ]);
    expect(
      (await apply(`${configMaps}/a`, body, 'fieldManager=one&fieldValidation=Ignore')).headers['warning'],
    ).toBeUndefined();
  });

  it('API-236 a dry run does everything but store', async () => {
    const created = await apply(`${configMaps}/a`, configMap('a'), 'fieldManager=m&dryRun=All');
    expect([created.status, created.json.metadata?.resourceVersion, who(created)]).toEqual([
      201,
      undefined,
      ['m Apply'],
    ]);
    expect((await server.get(`${configMaps}/a`)).status).toBe(404);
    await apply(`${configMaps}/a`, configMap('a', { data: { k: '1' } }));
    const changed = await apply(`${configMaps}/a`, configMap('a', { data: { k: '2' } }), 'fieldManager=one&dryRun=All');
    expect([changed.status, changed.json['data']]).toEqual([200, { k: '2' }]);
    expect((await server.get(`${configMaps}/a`)).json['data']).toEqual({ k: '1' });
  });

  it('API-218 API-330 to /status: only the status, only of what exists', async () => {
    const status = { ...web(), status: { replicas: 3 } };
    expect((await apply(`${deployments}/web/status`, status)).status).toBe(404);
    await apply(`${deployments}/web`, web());
    const answer = await apply(`${deployments}/web/status`, { ...status, spec: { replicas: 9 } }, 'fieldManager=ctrl');
    expect(answer.json).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 3 } });
    expect(entries(answer).find(({ manager }) => manager === 'ctrl')).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
    });
  });

  it('API-191 of many at once each comes through, the first one creates', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        apply(`${configMaps}/a`, configMap('a', { data: { [`k${i}`]: '1' } }), `fieldManager=m${i}`),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
    const { json } = await server.get(`${configMaps}/a`);
    expect(Object.keys(json['data'] as object)).toHaveLength(20);
    expect(json.metadata?.managedFields).toHaveLength(20);
  });

  it('API-191 a resourceVersion in the configuration is a precondition', async () => {
    const { json } = await apply(`${configMaps}/a`, configMap('a', { data: { k: '1' } }));
    const { resourceVersion } = json.metadata ?? {};
    const next = (k: string): KubeObject =>
      configMap('a', { metadata: { resourceVersion: resourceVersion ?? '' }, data: { k } });
    expect((await apply(`${configMaps}/a`, next('2'))).status).toBe(200);
    expect((await apply(`${configMaps}/a`, next('3'))).status).toBe(409);
  });

  it('API-251 an apply that takes back the last finalizer of a dying object lets it go', async () => {
    const finalizers = (...names: string[]): KubeObject => configMap('a', { metadata: { finalizers: names } });
    await apply(`${configMaps}/a`, finalizers('example.com/x'));
    await server.delete(`${configMaps}/a`);
    const { json, status } = await apply(`${configMaps}/a`, finalizers());
    expect([status, json.message]).toEqual([200, undefined]);
    expect(json.metadata?.deletionTimestamp).toBeDefined();
    expect((await server.get(`${configMaps}/a`)).status).toBe(404);
  });

  it('API-223 what is stored without its key cannot be applied to; the answer is that of upstream, not our failure', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } };
    const secrets = [{ name: 'x' }, { namespace: 'y' }, { name: 'x' }];
    const problem =
      '.secrets: element 1: associative list with keys has an element that omits all key fields ["name"] ' +
      "(and doesn't have default values for any key fields)";
    await server.post(accounts, account);
    await apply(`${accounts}/a`, { ...account, automountServiceAccountToken: false }, 'fieldManager=first');
    expect((await server.patch(`${accounts}/a`, { secrets, automountServiceAccountToken: true })).status).toBe(200);
    const tracked = await apply(`${accounts}/a`, { ...account, secrets: [{ name: 'z' }] });
    expect([tracked.status, tracked.json.reason, tracked.json.message]).toEqual([
      500,
      undefined,
      `failed to create typed live object (default/a; /v1, Kind=ServiceAccount): ${problem}`,
    ]);
    await server.patch(`${accounts}/a`, { metadata: { managedFields: [{}] } });
    const untracked = await apply(`${accounts}/a`, account);
    expect([untracked.status, untracked.json.reason, untracked.json.message]).toEqual([
      500,
      undefined,
      'failed to create manager for existing fields: failed to convert new object ' +
        `(default/a; /v1, Kind=ServiceAccount) to smd typed: ${problem}`,
    ]);
  });
});

describe('apply to other subresources', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (extra: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, ...extra });

  it.each([
    ['status', { status: { phase: 'Running' } }, { 'f:status': { 'f:phase': {} } }],
    [
      'ephemeralcontainers',
      { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } },
      { 'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"e"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } },
    ],
    [
      'resize',
      { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] } },
      {
        'f:spec': {
          'f:containers': {
            'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': { 'f:limits': { 'f:cpu': {} } } },
          },
        },
      },
    ],
  ])('API-210 API-215 /%s has an entry of its own', async (subresource, config, fields) => {
    await server.post(`${pods}?fieldManager=maker`, pod({ spec: { containers: [{ name: 'c', image: 'i' }] } }));
    const answer = await apply(`${pods}/p/${subresource}`, pod(config));
    expect([answer.status, answer.json.message]).toEqual([200, undefined]);
    expect(who(answer)).toEqual([`one Apply ${subresource}`, 'maker Update']);
    expect(entries(answer)[0]?.fieldsV1).toEqual(fields);
    const gone = await apply(`${pods}/none/${subresource}`, { ...pod(config), metadata: { name: 'none' } });
    expect(gone.status).toBe(404);
  });

  it.each(['eviction', 'binding', 'log'])('API-005 /%s is nothing that can be applied to', async (subresource) => {
    await server.post(pods, pod({ spec: { containers: [{ name: 'c', image: 'i' }] } }));
    expect((await apply(`${pods}/p/${subresource}`, pod({}))).status).toBe(405);
  });
});

describe('apply to /scale', () => {
  const scale = (replicas?: number, metadata: object = {}): KubeObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web', ...metadata },
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  });
  const target = `${deployments}/web/scale`;
  const replicasOf = async (): Promise<unknown> =>
    ((await server.get(`${deployments}/web`)).json as { spec?: { replicas?: number } }).spec?.replicas;
  const replicaManagers = async (): Promise<string[]> =>
    ((await server.get(`${deployments}/web`)).json.metadata?.managedFields ?? [])
      .filter(({ fieldsV1 }) => 'f:replicas' in ((fieldsV1 as Record<string, object>)['f:spec'] ?? {}))
      .map(
        ({ manager, operation, apiVersion, subresource = '' }) =>
          `${manager} ${operation} ${apiVersion} ${subresource}`,
      );

  it("API-210 API-331 conflicts with whoever set the number, by the Scale's own words; force takes it", async () => {
    await server.post(`${deployments}?fieldManager=maker`, web({ replicas: 1 }));
    const refused = await apply(target, scale(4), 'fieldManager=scaler');
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
    ]);
    const forced = await apply(target, scale(4), 'fieldManager=scaler&force=true');
    expect([forced.status, forced.json.kind, (forced.json as { spec?: unknown }).spec]).toEqual([
      200,
      'Scale',
      { replicas: 4 },
    ]);
    expect(await replicasOf()).toBe(4);
    expect(await replicaManagers()).toEqual(['scaler Apply apps/v1 scale']);
    const { managedFields = [] } = (await server.get(`${deployments}/web`)).json.metadata ?? {};
    expect(managedFields.find(({ subresource }) => subresource === 'scale')?.fieldsV1).toEqual({
      'f:spec': { 'f:replicas': {} },
    });
    expect(managedFields.find(({ manager }) => manager === 'maker')?.fieldsV1).toMatchObject({
      'f:spec': { 'f:template': {} },
    });
  });

  it('API-213 the same number is shared, and the object goes on as one entry', async () => {
    await server.post(`${deployments}?fieldManager=maker`, web({ replicas: 3 }));
    expect((await apply(target, scale(3), 'fieldManager=scaler')).status).toBe(200);
    expect(await replicaManagers()).toEqual(['scaler Apply apps/v1 scale', 'maker Update apps/v1 ']);
    const again = await apply(target, scale(3), 'fieldManager=scaler');
    expect(again.status).toBe(200);
    expect(await replicaManagers()).toHaveLength(2);
    // A client that applies to the object itself is another manager, though the name is the same.
    expect((await apply(`${deployments}/web`, web({ replicas: 5 }), 'fieldManager=scaler')).status).toBe(409);
  });

  it("API-217 a number that nobody manages belongs to before-first-apply, and an update leaves it nobody's", async () => {
    await apply(`${deployments}/web`, web());
    expect((await server.patch(`${target}?fieldManager=scaler`, { spec: { replicas: 2 } })).status).toBe(200);
    expect([await replicasOf(), await replicaManagers()]).toEqual([2, []]);
    const refused = await apply(target, scale(4), 'fieldManager=scaler');
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "before-first-apply" with subresource "scale" using autoscaling/v1: .spec.replicas',
    ]);
    expect((await apply(target, scale(4), 'fieldManager=scaler&force=true')).status).toBe(200);
    expect(await replicaManagers()).toEqual(['scaler Apply apps/v1 scale']);
  });

  it('API-215 API-331 the manager that has the number through the Scale is named without a time', async () => {
    await server.post(`${deployments}?fieldManager=maker`, web({ replicas: 1 }));
    const timed = async (): Promise<unknown[]> =>
      entries(await server.get(`${deployments}/web`)).map(({ manager, operation, subresource, time }) => [
        manager,
        operation,
        subresource,
        time !== undefined,
      ]);
    await server.patch(`${target}?fieldManager=scaler`, { spec: { replicas: 2 } });
    expect(await timed()).toEqual([
      ['scaler', 'Update', 'scale', false],
      ['maker', 'Update', undefined, true],
    ]);
    const before = (await server.get(`${deployments}/web`)).json.metadata?.resourceVersion;
    await server.patch(`${target}?fieldManager=other`, { spec: { replicas: 2 } });
    expect((await server.get(`${deployments}/web`)).json.metadata?.resourceVersion).toBe(before);
    await apply(target, scale(3), 'fieldManager=applier&force=true');
    expect(await timed()).toEqual([
      ['applier', 'Apply', 'scale', false],
      ['maker', 'Update', undefined, true],
    ]);
  });

  it('API-214 a number that is no longer applied goes, which of a Scale leaves zero', async () => {
    await apply(`${deployments}/web`, web());
    await apply(target, scale(2), 'fieldManager=scaler&force=true');
    expect((await apply(target, scale(), 'fieldManager=scaler')).status).toBe(200);
    expect([await replicasOf(), await replicaManagers()]).toEqual([0, []]);
  });

  it.each([
    ['a missing object', '/apis/apps/v1/namespaces/default/deployments/none/scale', { name: 'none' }, 404],
    ['another version', target, { resourceVersion: '1' }, 409],
    ['another uid', target, { uid: '00000000-0000-0000-0000-000000000000' }, 422],
    ['managers in the body', target, { managedFields: [{}] }, 400],
    ['another name', target, { name: 'other' }, 400],
  ])('API-331 is refused with %s', async (_what, path, metadata, status) => {
    await apply(`${deployments}/web`, web());
    const { json, status: answered } = await apply(path, scale(2, metadata), 'fieldManager=scaler&force=true');
    expect([json.message, answered]).toEqual([expect.any(String), status]);
    expect(await replicasOf()).toBe(1);
  });

  it('API-223 API-210 has to say who applies, and a Scale', async () => {
    await apply(`${deployments}/web`, web());
    expect((await apply(target, scale(2), '')).status).toBe(422);
    expect((await apply(target, web())).status).toBe(400);
    expect((await apply(target, { ...scale(2), spec: { replicas: 2, extra: 1 } } as KubeObject)).status).toBe(500);
    expect((await apply(target, scale(-1), 'fieldManager=scaler&force=true')).status).toBe(422);
  });
});

describe('managedFields of other writes', () => {
  const agent = (userAgent: string) => ({ headers: { 'user-agent': userAgent, 'content-type': 'application/json' } });

  it("API-216 a write is its manager's: as named, else by the program", async () => {
    await server.post(`${configMaps}?fieldManager=named`, configMap('a'), { 'user-agent': 'kubectl/v1.36 (linux)' });
    expect(who(await server.get(`${configMaps}/a`))).toEqual(['named Update']);
    for (const [userAgent, manager] of [
      ['kubectl/v1.36.0 (linux/amd64)', 'kubectl'],
      ['my program', 'my program'],
      [`${'x'.repeat(200)}/1`, 'x'.repeat(128)],
      ['\u0001tab\u0009/2', 'tab'],
      ['/nothing', 'unknown'],
    ] as const) {
      const body = JSON.stringify(configMap('b'));
      const answer = await server.request('POST', `${configMaps}?dryRun=All`, { body, ...agent(userAgent) });
      expect(who(answer)).toEqual([`${manager} Update`]);
    }
  });

  it('API-216 every kind of patch, PUT, /status and /scale are recorded', async () => {
    await server.post(`${deployments}?fieldManager=creator`, web());
    const target = `${deployments}/web`;
    await server.patch(`${target}?fieldManager=merge`, { metadata: { labels: { a: '1' } } });
    await server.patch(`${target}?fieldManager=strategic`, { metadata: { labels: { b: '1' } } }, 'strategic');
    await server.patch(`${target}?fieldManager=json`, [{ op: 'add', path: '/metadata/labels/c', value: '1' }], 'json');
    const { json } = await server.get(target);
    await server.put(`${target}?fieldManager=put`, {
      ...json,
      metadata: { ...json.metadata, labels: { ...json.metadata?.labels, d: '1' } },
    });
    await server.patch(`${target}/status?fieldManager=status`, { status: { replicas: 1 }, spec: { replicas: 7 } });
    const answer = await server.patch(`${target}/scale?fieldManager=scaler`, { spec: { replicas: 4 } });
    expect(answer.json['spec']).toEqual({ replicas: 4 });
    const after = await server.get(target);
    expect(who(after).sort()).toEqual([
      'creator Update',
      'json Update',
      'merge Update',
      'put Update',
      'scaler Update scale',
      'status Update status',
      'strategic Update',
    ]);
    const fields = (manager: string): unknown => entries(after).find((entry) => entry.manager === manager)?.fieldsV1;
    expect(fields('json')).toEqual({ 'f:metadata': { 'f:labels': { 'f:c': {} } } });
    expect(fields('merge')).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } });
    expect(fields('put')).toEqual({ 'f:metadata': { 'f:labels': { 'f:d': {} } } });
    expect(fields('scaler')).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(fields('status')).toEqual({ 'f:status': { 'f:replicas': {} } });
  });

  it("API-218 what the server adds is nobody's: addresses, generation, times", async () => {
    const services = '/api/v1/namespaces/default/services';
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    const answer = await server.post(`${services}?fieldManager=m`, service);
    expect(answer.json['spec']).toHaveProperty('clusterIP');
    expect(Object.keys((entries(answer)[0]?.fieldsV1?.['f:spec'] ?? {}) as object)).toEqual([
      'f:internalTrafficPolicy',
      'f:ports',
      'f:sessionAffinity',
      'f:type',
    ]);
  });

  it('API-215 an entry keeps the version it was written in, and loses what is written in another', async () => {
    const autoscalers = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    await server.post(`${autoscalers('v2')}?fieldManager=two`, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        minReplicas: 2,
        maxReplicas: 5,
      },
    });
    const patched = await server.patch(`${autoscalers('v1')}/a?fieldManager=one`, { spec: { maxReplicas: 9 } });
    const summary = entries(patched).map(({ manager, apiVersion, fieldsV1 }) => [
      manager,
      apiVersion,
      Object.keys((fieldsV1?.['f:spec'] ?? {}) as object),
    ]);
    expect(summary.sort()).toEqual([
      ['one', 'autoscaling/v1', ['f:maxReplicas']],
      ['two', 'autoscaling/v2', ['f:metrics', 'f:minReplicas', 'f:scaleTargetRef']],
    ]);
  });

  it('API-213 API-215 a conflict across versions of a built-in kind is described in the words of the manager', async () => {
    const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const autoscaler = (version: string, spec: object): KubeObject => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 5, ...spec },
    });
    const metric = (averageUtilization: number): object => ({
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
    });
    await apply(`${at('v1')}/a`, autoscaler('v1', { targetCPUUtilizationPercentage: 50 }), 'fieldManager=one');
    expect((await apply(`${at('v2')}/a`, autoscaler('v2', metric(50)), 'fieldManager=two')).status).toBe(200);
    const refused = await apply(`${at('v2')}/a`, autoscaler('v2', metric(60)), 'fieldManager=two');
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "one": .spec.targetCPUUtilizationPercentage',
    ]);
    // The manager that applied in v1 removes the field that v2 calls a metric; `two` still has it.
    const kept = await apply(`${at('v1')}/a`, autoscaler('v1', {}), 'fieldManager=one');
    expect([kept.status, (kept.json as { spec?: object }).spec]).toMatchObject([
      200,
      { targetCPUUtilizationPercentage: 50 },
    ]);
  });

  it('API-215 who wrote in a version that is no more is forgotten with the next write', async () => {
    const created = await server.post(`${configMaps}?fieldManager=m`, configMap('a'));
    const [entry] = entries(created) as ManagedFieldsEntry[];
    const managedFields = [entry, { ...entry, apiVersion: 'v0', manager: 'old' }];
    const patched = await server.patch(`${configMaps}/a?fieldManager=m`, { metadata: { managedFields } });
    expect([patched.status, who(patched)]).toEqual([200, ['m Update']]);
    await server.store.update(
      '/registry/core/configmaps/default/a',
      Buffer.from(JSON.stringify({ ...patched.json, metadata: { ...patched.json.metadata, managedFields } })),
      Number(patched.json.metadata?.resourceVersion),
    );
    expect(who(await server.get(`${configMaps}/a`))).toEqual(['m Update', 'old Update']);
    expect(who(await apply(`${configMaps}/a`, configMap('a')))).toEqual(['one Apply', 'm Update']);
    // A text that is not a version cannot be read, so the earlier entries stay.
    const odd = { metadata: { managedFields: [{ ...entry, apiVersion: 'a/b/c', manager: 'odd' }] }, data: { k: 'w' } };
    expect(who(await server.patch(`${configMaps}/a?fieldManager=n`, odd))).toEqual(['one Apply', 'm Update']);
  });

  it('API-215 managers brought along to a create keep what is not in it, in the version of the create', async () => {
    const entry = (manager: string, apiVersion: string): ManagedFieldsEntry => ({
      manager,
      operation: 'Update',
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:k': {}, 'f:gone': {} } },
    });
    const managedFields = [entry('same', 'v1'), entry('other', 'v0')];
    const created = await server.post(
      `${configMaps}?fieldManager=maker`,
      configMap('a', { metadata: { managedFields } }),
    );
    expect(entries(created).map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['same', { 'f:data': { 'f:gone': {} } }],
      ['maker', { 'f:data': { '.': {}, 'f:k': {} } }],
    ]);
  });

  it('API-077 API-220 a write that changes nothing is none, whatever the time', async () => {
    const created = await server.post(`${configMaps}?fieldManager=m`, configMap('a'));
    const version = created.json.metadata?.resourceVersion;
    for (const managedFields of [undefined, created.json.metadata?.managedFields]) {
      const body = { ...created.json, metadata: { ...created.json.metadata, managedFields } };
      expect((await server.put(`${configMaps}/a?fieldManager=other`, body)).json.metadata?.resourceVersion).toBe(
        version,
      );
    }
    const later = (entries(created) as ManagedFieldsEntry[]).map((entry) => ({
      ...entry,
      time: '2030-01-01T00:00:00Z',
    }));
    const touched = await server.patch(`${configMaps}/a`, { metadata: { managedFields: later } });
    expect([touched.json.metadata?.resourceVersion, entries(touched)]).toEqual([version, entries(created)]);
  });

  it('API-221 kubectl hands fields over with a JSON patch on managedFields', async () => {
    const { json } = await server.post(`${configMaps}?fieldManager=kubectl-client-side-apply`, configMap('a'));
    const [entry] = json.metadata?.managedFields ?? [];
    const handed = await server.patch(
      `${configMaps}/a?fieldManager=kubectl`,
      [
        {
          op: 'replace',
          path: '/metadata/managedFields',
          value: [{ ...entry, manager: 'kubectl', operation: 'Apply' }],
        },
        { op: 'replace', path: '/metadata/resourceVersion', value: json.metadata?.resourceVersion },
      ],
      'json',
    );
    expect([handed.status, who(handed)]).toEqual([200, ['kubectl Apply']]);
    const { json: applied } = await apply(`${configMaps}/a`, { ...configMap('a'), data: {} }, 'fieldManager=kubectl');
    expect(applied['data']).toBeUndefined();
  });

  it('a deletion that waits changes no manager', async () => {
    await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/x'] } }));
    const before = entries(await server.get(`${configMaps}/a`));
    await server.delete(`${configMaps}/a`);
    expect(entries(await server.get(`${configMaps}/a`))).toEqual(before);
  });

  it('API-566 lists of metadata show managedFields, in JSON and in protobuf', async () => {
    await server.post(`${configMaps}?fieldManager=m`, configMap('a'));
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const { json } = await server.get(`${configMaps}/a`, { accept });
    expect(json.metadata?.managedFields).toHaveLength(1);
    const protobuf = await server.get(`${configMaps}/a`, {
      accept: 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    });
    expect(protobuf.text).toContain('"f:data"');
  });
});
