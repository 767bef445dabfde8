import { describe, expect, it } from 'vitest';
import { configMap, configMaps, type Json, type TestServer } from '../../src/apiserver/test/test-server.ts';
import {
  answer,
  type Behaviour,
  configuration,
  mutating,
  patchWith,
  validating,
  type WebhookServer,
  webhookTest,
} from './webhook-server.ts';

let hook: WebhookServer;
let server: TestServer;
webhookTest([mutating, validating, configMaps], (test) => {
  ({ hook, server } = test);
});

async function configure(...hooks: object[]): Promise<void> {
  const { status, json } = await server.post(mutating, configuration('Mutating', 'test', ...hooks));
  expect([status, json.message]).toEqual([201, undefined]);
}

const add = (path: string, value: unknown): object => ({ op: 'add', path, value });
const setData = (data: object): Behaviour => patchWith(add('/data', data));

describe('a patch', () => {
  it("API-351 is in the stored object, in the answer and in what validating webhooks see; it is nobody's", async () => {
    await configure({ clientConfig: hook.at('/mutate') });
    await server.post(validating, configuration('Validating', 'test', { clientConfig: hook.at('/validate') }));
    hook.behaviour = (review, call) =>
      call.path === '/mutate'
        ? setData({ by: 'webhook' })(review, call)
        : answer(review, { allowed: review.request.object?.['data'] !== undefined });
    const { status, json } = await server.post(configMaps, configMap('a', { metadata: { labels: { x: 'y' } } }));
    expect([status, json['data']]).toEqual([201, { by: 'webhook' }]);
    expect((await server.get(`${configMaps}/a`)).json['data']).toEqual({ by: 'webhook' });
    const [entry] = json.metadata?.managedFields ?? [];
    expect(JSON.stringify(entry?.fieldsV1)).not.toContain('f:data');
  });

  it('API-351 of an update, a patch and an apply', async () => {
    await configure({ clientConfig: hook.at() });
    await server.post(configMaps, configMap('a'));
    hook.behaviour = patchWith(add('/metadata/annotations', { seen: 'yes' }));
    expect((await server.put(`${configMaps}/a`, configMap('a'))).json.metadata?.annotations).toEqual({ seen: 'yes' });
    hook.behaviour = setData({ x: '1' });
    expect((await server.patch(`${configMaps}/a`, { data: { y: '2' } })).json['data']).toEqual({ x: '1' });
    const applied = await server.request('PATCH', `${configMaps}/b?fieldManager=me`, {
      body: JSON.stringify(configMap('b', { data: { z: '3' } })),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect([applied.status, applied.json['data']]).toEqual([201, { x: '1' }]);
  });

  it.each([
    [{ operation: 'Delete' }, 'operation must be `Apply` or `Update`'],
    [{ apiVersion: '' }, 'apiVersion must not be empty'],
    [{ fieldsType: '' }, 'missing fieldsType in managed fields entry 0'],
    [{ fieldsType: 'FieldsV2' }, String.raw`invalid fieldsType \"FieldsV2\" in managed fields entry 0`],
    [{ fieldsV1: { x: {} } }, 'error decoding versioned set from entry 0'],
  ])('API-215 managers that cannot be understood are those of before: %j', async (wrong, why) => {
    await configure({ clientConfig: hook.at() });
    const entry = {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: {},
      ...wrong,
    };
    hook.behaviour = patchWith(add('/metadata/managedFields', [entry]));
    const { status, json, headers } = await server.post(
      `${configMaps}?fieldManager=me`,
      configMap('a', { data: { a: '1' } }),
    );
    expect([status, json.metadata?.managedFields?.map(({ manager }) => manager)]).toEqual([201, ['me']]);
    expect(String(headers['warning'])).toBe(
      `299 - ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${why}"`,
    );
  });

  it('API-500 the patched object is defaulted and validated again', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
    await configure({ clientConfig: hook.at(), rules });
    hook.behaviour = patchWith(add('/spec/containers/-', { name: 'sidecar', image: 'proxy:1' }));
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { json } = await server.post(pods, pod);
    expect((json['spec'] as { containers: object[] }).containers[1]).toEqual({
      name: 'sidecar',
      image: 'proxy:1',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
    hook.behaviour = patchWith(add('/spec/containers/-', { name: 'Bad_Name', image: 'proxy:1' }));
    const bad = await server.post(pods, { ...pod, metadata: { name: 'q' } });
    expect([bad.status, bad.json.reason]).toEqual([422, 'Invalid']);
    await server.delete(`${pods}/p?gracePeriodSeconds=0`);
  });

  it.each([
    [
      'does not apply',
      patchWith({ op: 'replace', path: '/spec/no/where', value: 1 }),
      'Fail',
      'replace operation does not apply: doc is missing path: /spec/no/where: missing value',
    ],
    [
      'does not apply, and the webhook may fail',
      patchWith({ op: 'remove', path: '/metadata/labels/none' }),
      'Ignore',
      'remove operation does not apply: doc is missing path: "/metadata/labels/none": missing value',
    ],
    [
      'holds a test that fails',
      patchWith({ op: 'test', path: '/metadata/name', value: 'b' }),
      'Ignore',
      'testing value /metadata/name failed: test failed',
    ],
    ['knows an operation of its own', patchWith({ op: 'merge', path: '/data' }), 'Fail', 'Unexpected kind: merge'],
    [
      'leaves no object',
      patchWith({ op: 'replace', path: '', value: [] }),
      'Fail',
      'the patch leaves no object of its kind',
    ],
    [
      'makes another kind',
      patchWith({ op: 'replace', path: '/kind', value: 'Secret' }),
      'Fail',
      'the patch leaves no object of its kind',
    ],
    [
      'leaves the wrong types',
      patchWith(add('/data', 'text')),
      'Fail',
      expect.stringContaining('cannot unmarshal string into Go struct field ConfigMap.data'),
    ],
  ] as const)('API-353 that %s is a 500', async (_name, behaviour, failurePolicy, why) => {
    await configure({ clientConfig: hook.at(), failurePolicy });
    hook.behaviour = behaviour;
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect([status, json.reason]).toEqual([500, 'InternalError']);
    expect(json['details']).toEqual({ causes: [{ message: why }] });
    expect((await server.get(configMaps)).json.items).toEqual([]);
  });

  it.each([
    ['bm9uc2Vuc2U=', ''],
    ['e30=', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['WzFd', 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  ])('API-353 that is no patch (%s) is a failed call', async (patch, why) => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = (review) => answer(review, { allowed: true, patchType: 'JSONPatch', patch });
    const { status, json } = await server.post(configMaps, configMap('a'));
    const failed = 'failed calling webhook "hook-0.example.com": received undecodable patch in webhook response: ';
    expect([status, json.message]).toEqual([500, expect.stringContaining(`${failed}${why}`)]);
    const ignore = [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }];
    await server.patch(`${mutating}/test`, ignore, 'json');
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
  });

  const unchecked = 'received invalid webhook response: ';
  it.each([
    [{ patch: 'W3t9XQ==' }, `${unchecked}webhook returned response.patch but not response.patchType`],
    [{ patchType: 'JSONPatch' }, `${unchecked}webhook returned response.patchType but not response.patch`],
    [{ patch: 'W3t9XQ==', patchType: '' }, `${unchecked}webhook returned invalid response.patchType of ""`],
    [{ patch: 'W3t9XQ==', patchType: 'Merge' }, 'unsupported patch type "Merge"'],
  ])('API-351 %j', async (extra, why) => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = (review) => answer(review, { allowed: true, ...extra });
    const { json } = await server.post(configMaps, configMap('a'));
    expect(json.message).toBe(`Internal error occurred: failed calling webhook "hook-0.example.com": ${why}`);
  });

  it('API-215 managers that it makes unreadable stay as they were, with a warning', async () => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = patchWith(add('/metadata/managedFields', [{ manager: 'x', operation: 'Nonsense' }]));
    const { json, headers } = await server.post(configMaps, configMap('a', { data: { x: '1' } }));
    expect(json.metadata?.managedFields?.map(({ operation }) => operation)).toEqual(['Update']);
    expect(headers['warning']).toEqual([expect.stringContaining('.metadata.managedFields was in an invalid state')]);
    hook.behaviour = patchWith({ op: 'remove', path: '/metadata/managedFields' });
    const stripped = await server.patch(`${configMaps}/a`, { data: { x: '2' } });
    expect([stripped.status, stripped.json.metadata?.managedFields]).toEqual([200, undefined]);
  });

  it('API-351 is noted in the audit event, as is a failure that was passed over', async () => {
    await configure(
      { clientConfig: hook.at('/a') },
      { clientConfig: hook.at('/b') },
      { clientConfig: hook.at('/c'), failurePolicy: 'Ignore' },
    );
    hook.behaviour = (review, call) =>
      call.path === '/c'
        ? 'reset'
        : call.path === '/b'
          ? setData({ x: '1' })(review, call)
          : answer(review, { allowed: true });
    const { status, headers } = await server.post(configMaps, configMap('a'));
    expect(status).toBe(201);
    const events = (await server.get('/debug/audit')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    const prefix = 'mutation.webhook.admission.k8s.io/round_0_index_';
    const mutation = (index: number, mutated: boolean): string =>
      JSON.stringify({ configuration: 'test', webhook: `hook-${index}.example.com`, mutated });
    expect(events.find((event) => event['auditID'] === headers['audit-id'])?.['annotations']).toEqual({
      [`${prefix}0`]: mutation(0, false),
      [`${prefix}1`]: mutation(1, true),
      [`${prefix}2`]: mutation(2, false),
      'failed-open.mutation.webhook.admission.k8s.io/round_0_index_2': 'hook-2.example.com',
    });
  });

  it('API-064 API-060 of a create leads into no other namespace, sets no version and begins no deletion', async () => {
    await server.post('/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
    await configure({ clientConfig: hook.at() });
    hook.behaviour = patchWith(add('/metadata/namespace', 'elsewhere'));
    const moved = await server.post(configMaps, configMap('a'));
    expect([moved.status, moved.json.message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ]);
    hook.behaviour = patchWith(add('/metadata/resourceVersion', '1'));
    expect((await server.post(configMaps, configMap('a'))).json.message).toBe(
      'resourceVersion should not be set on objects to be created',
    );
    expect((await server.get('/api/v1/configmaps')).json.items).toEqual([]);
    hook.behaviour = patchWith(
      add('/metadata/deletionTimestamp', '2001-01-01T00:00:00Z'),
      add('/metadata/deletionGracePeriodSeconds', 0),
      add('/metadata/uid', 'mine'),
    );
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect(status).toBe(201);
    expect(json.metadata).not.toHaveProperty('deletionTimestamp');
    expect(json.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    expect(json.metadata?.uid).not.toBe('mine');
  });

  it('API-171 of an update to another version is a conflict', async () => {
    await server.post(configMaps, configMap('a'));
    await configure({ clientConfig: hook.at() });
    hook.behaviour = patchWith(add('/metadata/resourceVersion', '1'));
    const { status, json } = await server.patch(`${configMaps}/a`, { data: { a: 'b' } });
    expect([status, json.reason]).toEqual([409, 'Conflict']);
  });

  it('API-073 of an update moves neither creation nor deletion', async () => {
    const finalizers = ['example.com/wait'];
    const made = await server.post(configMaps, configMap('a', { metadata: { finalizers } }));
    await server.delete(`${configMaps}/a`);
    const { metadata } = (await server.get(`${configMaps}/a`)).json;
    await configure({ clientConfig: hook.at() });
    hook.behaviour = patchWith(
      add('/metadata/deletionTimestamp', null),
      add('/metadata/deletionGracePeriodSeconds', null),
      add('/metadata/creationTimestamp', '2001-01-01T00:00:00Z'),
    );
    const { status, json } = await server.put(`${configMaps}/a`, configMap('a', { metadata: { finalizers } }));
    expect(status).toBe(200);
    const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
    expect(json.metadata).toMatchObject({ uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds });
    expect(made.json.metadata?.uid).toBe(uid);
    hook.behaviour = patchWith(add('/metadata/uid', 'other'));
    const other = await server.put(`${configMaps}/a`, configMap('a', { metadata: { finalizers } }));
    expect(other.json.message).toContain('metadata.uid: Invalid value: "other": field is immutable');
    hook.reset();
    await server.put(`${configMaps}/a`, configMap('a'));
  });

  it('API-351 of a deletion is refused', async () => {
    await server.post(configMaps, configMap('a'));
    await configure({ clientConfig: hook.at() });
    hook.behaviour = setData({});
    const { status, json } = await server.delete(`${configMaps}/a`);
    expect([status, json.message]).toEqual([
      500,
      'Internal error occurred: admission webhook "hook-0.example.com" attempted to modify the object, which is not supported for this operation',
    ]);
    hook.reset();
  });

  it('API-355 of an equivalent version is converted back', async () => {
    const scalers = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
    const rules = [
      { operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['horizontalpodautoscalers'] },
    ];
    await configure({ clientConfig: hook.at(), rules });
    hook.behaviour = patchWith({ op: 'replace', path: '/spec/maxReplicas', value: 9 });
    const { status, json } = await server.post(scalers, {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    });
    expect([status, json.apiVersion, json['spec']]).toMatchObject([201, 'autoscaling/v1', { maxReplicas: 9 }]);
    await server.delete(`${scalers}/a`);
  });

  it('API-331 of a Scale changes the replicas', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await server.post(deployments, {
      metadata: { name: 'd' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const rules = [
      { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] },
    ];
    await configure({ clientConfig: hook.at(), rules });
    hook.behaviour = patchWith(add('/spec/replicas', 3));
    const { json } = await server.patch(`${deployments}/d/scale`, { spec: { replicas: 50 } });
    expect(json['spec']).toEqual({ replicas: 3 });
    expect((await server.get(`${deployments}/d`)).json['spec']).toMatchObject({ replicas: 3 });
    await server.delete(`${deployments}/d`);
  });
});

describe('several webhooks', () => {
  const append =
    (text: string): Behaviour =>
    (review, call) => {
      const data = (review.request.object?.['data'] ?? {}) as { log?: string };
      return patchWith(add('/data', { log: `${data.log ?? ''}${text}` }))(review, call);
    };
  const byPath: Behaviour = (review, call) => append(call.path.slice(1))(review, call);
  const log = async (): Promise<unknown> =>
    ((await server.post(configMaps, configMap('a'))).json['data'] as { log: string }).log;

  it('API-355 one after the other, by the name of the configuration, then as listed', async () => {
    hook.behaviour = byPath;
    await server.post(mutating, configuration('Mutating', 'b', { clientConfig: hook.at('/3') }));
    await server.post(
      mutating,
      configuration('Mutating', 'a', { clientConfig: hook.at('/1') }, { clientConfig: hook.at('/2') }),
    );
    expect(await log()).toBe('123');
  });

  it('API-355 IfNeeded: called once more when a later one has changed the object, Never: not', async () => {
    hook.behaviour = byPath;
    await configure(
      { clientConfig: hook.at('/a'), reinvocationPolicy: 'IfNeeded' },
      { clientConfig: hook.at('/b') },
      { clientConfig: hook.at('/c'), reinvocationPolicy: 'IfNeeded' },
    );
    // `a` is asked again for what `b` and `c` did; that in turn concerns `c`, which nobody has changed anything after in the first round.
    expect(await log()).toBe('abcac');
  });

  it('API-355 IfNeeded: no webhook is called again when nothing changes after its call', async () => {
    hook.behaviour = (review, call) => (call.path === '/a' ? byPath(review, call) : answer(review, { allowed: true }));
    await configure(
      { clientConfig: hook.at('/a'), reinvocationPolicy: 'IfNeeded' },
      { clientConfig: hook.at('/b'), reinvocationPolicy: 'IfNeeded' },
    );
    expect(await log()).toBe('a');
    expect(hook.calls).toHaveLength(2);
  });

  it('API-355 a webhook whose selector only matches the mutated object is called, but not in the second round first', async () => {
    hook.behaviour = (review, call) => {
      if (call.path === '/label') return patchWith(add('/metadata/labels', { late: 'yes' }))(review, call);
      return answer(review, { allowed: true });
    };
    const objectSelector = { matchLabels: { late: 'yes' } };
    await configure(
      { clientConfig: hook.at('/early'), objectSelector, reinvocationPolicy: 'IfNeeded' },
      { clientConfig: hook.at('/label') },
      { clientConfig: hook.at('/late'), objectSelector },
    );
    await server.post(configMaps, configMap('a'));
    expect(hook.calls.map(({ target }) => target.split('?')[0])).toEqual(['/label', '/late']);
  });

  it('API-355 a denial ends the round, and nothing is validated', async () => {
    hook.behaviour = (review) => answer(review, { allowed: false });
    await configure({ clientConfig: hook.at('/a') }, { clientConfig: hook.at('/b') });
    await server.post(validating, configuration('Validating', 'test', { clientConfig: hook.at('/c') }));
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect([status, json.message]).toEqual([
      400,
      'admission webhook "hook-0.example.com" denied the request without explanation',
    ]);
    expect(hook.calls).toHaveLength(1);
  });
});

describe('while others write', () => {
  it('API-191 a patch that loses a race is admitted anew with what it is applied to', async () => {
    await server.post(configMaps, configMap('a', { data: { n: '0' } }));
    await configure({ clientConfig: hook.at() });
    let raced = false;
    hook.behaviour = async (review) => {
      if (!raced && review.request.operation === 'UPDATE') {
        raced = true;
        await server.patch(`${configMaps}/a`, { data: { other: 'here' } });
      }
      return answer(review, { allowed: true });
    };
    const { status, json } = await server.patch(`${configMaps}/a`, { data: { n: '1' } });
    expect([status, json['data']]).toEqual([200, { n: '1', other: 'here' }]);
    expect(hook.requests.at(-1)?.oldObject?.['data']).toEqual({ n: '0', other: 'here' });
  });
});

describe('API-353 an answer of unusual size', () => {
  const headers =
    (bytes: number): Behaviour =>
    (review) => ({ ...answer(review, { allowed: true }), headers: { 'x-long': 'a'.repeat(bytes) } });

  it.each<[string, Behaviour]>([
    ['60 KB of headers', headers(60_000)],
    ['20,000 informational answers', (review) => ({ ...answer(review, { allowed: true }), informational: 20_000 })],
    [
      '20,000 operations',
      patchWith(...Array.from({ length: 20_000 }, (_, at) => add('/metadata/labels', { at: String(at) }))),
    ],
  ])('%s: is taken', async (_what, behaviour) => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = behaviour;
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect([status, json.message]).toEqual([201, undefined]);
  });

  it('2 MB of headers: the refusal says why', async () => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = headers(2_000_000);
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect(status).toBe(500);
    expect(json.message).toMatch(
      /^Internal error occurred: failed calling webhook "hook-0\.example\.com": failed to call webhook: Post ".*": Headers Overflow Error$/,
    );
  });

  it('others are answered while 20,000 operations are applied', async () => {
    await configure({ clientConfig: hook.at() });
    const finalizers = Array.from({ length: 10_000 }, (_, at) => `example.com/f${at}`);
    const operations = Array.from({ length: 20_000 }, (_, at) =>
      at % 2 === 0 ? add('/metadata/finalizers/0', 'example.com/x') : { op: 'remove', path: '/metadata/finalizers/0' },
    );
    hook.behaviour = patchWith(...operations);
    const progress = { done: false };
    const write = server
      .post(`${configMaps}?dryRun=All`, configMap('a', { metadata: { finalizers } }))
      .finally(() => (progress.done = true));
    let answered = 0;
    while (!progress.done) {
      if (hook.calls.length > 0) answered++;
      expect((await server.get('/livez')).status).toBe(200);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect((await write).status).toBe(201);
    expect(answered).toBeGreaterThan(100);
  });
});

it.each(['https://xn--a/hook', 'https://256.256.256.256:99999/hook'])(
  'API-353 a call to %s, which is no host, fails with words',
  async (url) => {
    await configure({ clientConfig: { url } });
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect(status).toBe(500);
    expect(json.message).toMatch(
      /^Internal error occurred: failed calling webhook ".*": failed to call webhook: Post ".*": .+/,
    );
  },
);
