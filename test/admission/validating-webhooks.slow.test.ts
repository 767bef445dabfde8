import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { type Clock, systemClock } from '../../src/base/time/clock.ts';
import { encodeStored } from '../../src/apiserver/storage/stored-object.ts';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../src/apiserver/test/test-server.ts';
import {
  allow,
  answer,
  type Behaviour,
  configuration,
  deny,
  mutating,
  validating,
  WebhookServer,
  webhookTest,
} from './webhook-server.ts';

let hook: WebhookServer;
let server: TestServer;
webhookTest([validating, configMaps], (test) => {
  ({ hook, server } = test);
});

async function configure(...hooks: object[]): Promise<void> {
  const { status, json } = await server.post(validating, configuration('Validating', 'test', ...hooks));
  expect([status, json.message]).toEqual([201, undefined]);
}

it.each(['Validating', 'Mutating'] as const)(
  'API-350 a %sWebhookConfiguration has to say what its webhooks take and do',
  async (type) => {
    const silent = { clientConfig: hook.at(), admissionReviewVersions: undefined, sideEffects: undefined };
    const configurations = type === 'Validating' ? validating : mutating;
    const { status, json } = await server.post(configurations, configuration(type, 'test', silent));
    expect([status, json.message]).toEqual([
      422,
      `${type}WebhookConfiguration.admissionregistration.k8s.io "test" is invalid: [webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun, webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1]`,
    ]);
  },
);

describe('what a webhook is sent', () => {
  it('API-350 a create: kind, resource, name, user, object, options', async () => {
    await configure({ clientConfig: hook.at('/validate') });
    await server.post(`${configMaps}?fieldManager=me&fieldValidation=Strict`, configMap('a', { data: { x: '1' } }));
    const [call] = hook.calls;
    expect(call?.target).toBe('/validate?timeout=10s');
    expect(call?.review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
    expect(call?.review.request).toMatchObject({
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
      object: { apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' }, metadata: { name: 'a', namespace: 'default' } },
      oldObject: null,
      dryRun: false,
      options: {
        kind: 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'me',
        fieldValidation: 'Strict',
      },
    });
    expect(call?.review.request).not.toHaveProperty('subResource');
  });

  it('API-350 an update and a patch have both objects and UpdateOptions; an apply that creates has CreateOptions', async () => {
    await server.post(configMaps, configMap('a', { data: { x: '1' } }));
    await configure({ clientConfig: hook.at() });
    await server.put(`${configMaps}/a`, configMap('a', { data: { x: '2' } }));
    await server.patch(`${configMaps}/a`, { data: { x: '3' } });
    await server.request('PATCH', `${configMaps}/b?fieldManager=me`, {
      body: JSON.stringify(configMap('b', { data: { x: '4' } })),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect(
      hook.requests.map(({ operation, object, oldObject, options }) => [
        operation,
        object?.['data'],
        oldObject?.['data'],
        options?.kind,
      ]),
    ).toEqual([
      ['UPDATE', { x: '2' }, { x: '1' }, 'UpdateOptions'],
      ['UPDATE', { x: '3' }, { x: '2' }, 'UpdateOptions'],
      ['CREATE', { x: '4' }, undefined, 'CreateOptions'],
    ]);
  });

  it('API-350 a deletion has the old object alone, a collection no name', async () => {
    for (const name of ['a', 'b', 'c']) await server.post(configMaps, configMap(name));
    await configure({ clientConfig: hook.at() });
    await server.delete(`${configMaps}/a`, { propagationPolicy: 'Background' });
    await server.delete(configMaps);
    const seen = hook.requests.map(({ operation, object, oldObject, name, options }) => ({
      operation,
      object,
      name,
      old: oldObject?.metadata?.name,
      options,
    }));
    const options = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
    expect(seen[0]).toEqual({
      operation: 'DELETE',
      object: null,
      name: 'a',
      old: 'a',
      options: { ...options, propagationPolicy: 'Background' },
    });
    expect(seen.slice(1).toSorted((a, b) => ((a.old ?? '') < (b.old ?? '') ? -1 : 1))).toEqual(
      ['b', 'c'].map((old) => ({ operation: 'DELETE', object: null, name: undefined, old, options })),
    );
  });

  it('API-350 a generated name is there when the object is validated', async () => {
    await configure({ clientConfig: hook.at() });
    const { json } = await server.post(configMaps, { metadata: { generateName: 'some-' } });
    expect(hook.requests.map(({ name }) => name)).toEqual([json.metadata?.name]);
  });

  it('API-355 v1beta1 is spoken where it is listed first', async () => {
    await configure({ clientConfig: hook.at(), admissionReviewVersions: ['v0', 'v1beta1', 'v1'] });
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
    expect(hook.calls[0]?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
  });
});

describe('subresources and connections', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const everythingOfPods = [
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods/*', 'deployments/scale'] },
  ];

  afterEach(async () => {
    await server.delete(validating);
    await server.delete(`${pods}/p?gracePeriodSeconds=0`);
  });

  it('API-350 a binding, a connection, an eviction are asked about as what they are, and not as what follows', async () => {
    await server.post(pods, pod);
    await configure({ clientConfig: hook.at(), rules: everythingOfPods });
    await server.post(`${pods}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } });
    await server.post(`${pods}/p/exec?container=c&command=ls&command=-l&stdout=true`, undefined);
    await server.post(`${pods}/p/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p', namespace: 'default' },
    });
    expect(
      hook.requests.map(({ operation, subResource, kind, name, object }) => [
        operation,
        subResource,
        kind.kind,
        name,
        object?.kind,
      ]),
    ).toEqual([
      ['CREATE', 'binding', 'Binding', 'p', 'Binding'],
      ['CONNECT', 'exec', 'PodExecOptions', 'p', 'PodExecOptions'],
      ['CREATE', 'eviction', 'Eviction', 'p', 'Eviction'],
    ]);
  });

  it('API-350 CONNECT has the options of the connection as its object', async () => {
    await server.post(pods, pod);
    await configure({ clientConfig: hook.at(), rules: everythingOfPods });
    hook.behaviour = deny({ message: 'no shells' });
    const { status, json } = await server.get(`${pods}/p/exec?container=c&command=ls&command=-l&stdout=true`);
    expect([status, json.message]).toEqual([
      400,
      'admission webhook "hook-0.example.com" denied the request: no shells',
    ]);
    expect(hook.requests[0]).toMatchObject({
      operation: 'CONNECT',
      subResource: 'exec',
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      object: { kind: 'PodExecOptions', apiVersion: 'v1', container: 'c', command: ['ls', '-l'], stdout: true },
      oldObject: null,
      options: null,
    });
  });

  it('API-356 an objectSelector never selects options without metadata, even one for what has no label', async () => {
    await server.post(pods, pod);
    const objectSelector = { matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] };
    await configure({ clientConfig: hook.at(), rules: everythingOfPods, objectSelector });
    await server.get(`${pods}/p/exec?container=c&command=ls&stdout=true`);
    expect(hook.requests).toEqual([]);
    await server.patch(`${pods}/p`, { metadata: { labels: { a: 'b' } } });
    expect(hook.requests.map(({ operation }) => operation)).toEqual(['UPDATE']);
  });

  it('API-350 scale: the Scale before and after', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'a' };
    await server.post(deployments, {
      metadata: { name: 'd' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod.spec } },
    });
    await configure({ clientConfig: hook.at(), rules: everythingOfPods });
    await server.patch(`${deployments}/d/scale`, { spec: { replicas: 5 } });
    expect(hook.requests).toMatchObject([
      {
        operation: 'UPDATE',
        subResource: 'scale',
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: 'apps', version: 'v1', resource: 'deployments' },
        object: { kind: 'Scale', spec: { replicas: 5 } },
        oldObject: { kind: 'Scale', spec: { replicas: 2 } },
      },
    ]);
    hook.behaviour = deny({ message: 'enough' });
    const { status, json } = await server.patch(`${deployments}/d/scale`, { spec: { replicas: 6 } });
    expect([status, json.message]).toEqual([400, 'admission webhook "hook-0.example.com" denied the request: enough']);
    await server.delete(validating);
    await server.delete(`${deployments}/d`);
  });
});

describe('denied', () => {
  it.each([
    [{ message: 'no', code: 403, reason: 'Forbidden' }, 403, ': no'],
    [{ message: 'no' }, 400, ': no'],
    [{ reason: 'BadDay' }, 400, ': BadDay'],
    [{}, 400, ' without explanation'],
    [{ message: 'no', code: 200, status: 'Success' }, 400, ': no'],
  ])('API-352 %j', async (status, code, text) => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = deny(status);
    const { status: got, json } = await server.post(configMaps, configMap('a'));
    expect([got, json.status, json.code, json.message]).toEqual([
      code,
      'Failure',
      code,
      `admission webhook "hook-0.example.com" denied the request${text}`,
    ]);
    expect((await server.get(configMaps)).json.items).toEqual([]);
  });

  it('API-355 all are called, the first in the order of the configurations is the answer', async () => {
    await server.post(validating, configuration('Validating', 'b', { clientConfig: hook.at('/b') }));
    await server.post(validating, configuration('Validating', 'a', { clientConfig: hook.at('/a') }));
    hook.behaviour = (review, { path }) => answer(review, { allowed: false, status: { message: path } });
    const { json } = await server.post(configMaps, configMap('a'));
    expect(json.message).toBe('admission webhook "hook-0.example.com" denied the request: /a');
    expect(hook.calls.map(({ target }) => target.split('?')[0]).toSorted()).toEqual(['/a', '/b']);
  });

  it('API-351 warnings reach the client, audit annotations the audit event', async () => {
    await configure({ clientConfig: hook.at() });
    hook.behaviour = (review) =>
      answer(review, { allowed: true, warnings: ['beware "x"'], auditAnnotations: { 'my/key': 'v' } });
    const { status, headers } = await server.post(configMaps, configMap('a'));
    expect([status, headers['warning']]).toEqual([201, ['299 - "beware \\"x\\""']]);
    const auditID = headers['audit-id'];
    const events = (await server.get('/debug/audit')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    expect(events.find((event) => event['auditID'] === auditID)).toMatchObject({
      annotations: { 'hook-0.example.com/my/key': 'v' },
    });
  });

  it('API-350 a deletion that is denied leaves the object', async () => {
    await server.post(configMaps, configMap('a'));
    await configure({ clientConfig: hook.at() });
    hook.behaviour = deny({ message: 'keep it' });
    expect((await server.delete(`${configMaps}/a`)).status).toBe(400);
    hook.behaviour = allow;
    expect((await server.delete(`${configMaps}/a`)).status).toBe(200);
  });
});

describe('a call that fails', () => {
  const failed = 'Internal error occurred: failed calling webhook "hook-0.example.com": ';
  const cases: [string, Behaviour, string][] = [
    ['resets the connection', () => 'reset', 'failed to call webhook: Post "<url>?timeout=10s": EOF'],
    ['hangs', () => 'hang', 'failed to call webhook: Post "<url>?timeout=1s": context deadline exceeded'],
    [
      'answers 500',
      () => ({ status: 500, text: 'boom' }),
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'answers 404',
      () => ({ status: 404, text: 'page not found' }),
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'answers with a Status',
      () => ({
        status: 503,
        body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'later', code: 503 },
      }),
      'failed to call webhook: later',
    ],
    [
      'answers nothing',
      () => ({ text: '' }),
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    ['answers no response', () => ({ body: {} }), 'received invalid webhook response: webhook response was absent'],
    [
      'answers another uid',
      ({ apiVersion }) => ({ body: { kind: 'AdmissionReview', apiVersion, response: { uid: 'x', allowed: true } } }),
      'received invalid webhook response: expected response.uid="<uid>", got "x"',
    ],
    [
      'answers another kind',
      ({ request }) => ({ body: { kind: 'Review', apiVersion: 'v2', response: { uid: request.uid, allowed: true } } }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /v2, Kind=Review',
    ],
    [
      'answers without a kind',
      ({ request }) => ({ body: { response: { uid: request.uid, allowed: true } } }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'patches although it only validates',
      (review) => answer(review, { allowed: true, patch: 'W10=', patchType: 'JSONPatch' }),
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
    [
      'answers too much',
      (review) => answer(review, { allowed: true, warnings: ['x'.repeat(9 * 1024 * 1024)] }),
      'failed to call webhook: the answer is larger than 8388608 bytes',
    ],
  ];

  it.each(cases)('API-353 it %s', async (name, behaviour, cause) => {
    // Only what never answers is cut short: a busy machine must not turn another failure into this one.
    const timeoutSeconds = name === 'hangs' ? 1 : 10;
    await configure({ clientConfig: hook.at(), timeoutSeconds });
    hook.behaviour = behaviour;
    const { status, json } = await server.post(configMaps, configMap('a'));
    const uid = hook.requests[0]?.uid ?? '';
    expect([status, json.reason, json.message]).toEqual([
      500,
      'InternalError',
      failed + cause.replace('<url>', hook.url()).replace('<uid>', uid),
    ]);
    await server.delete(validating);
    hook.reset();
    await configure({ clientConfig: hook.at(), timeoutSeconds, failurePolicy: 'Ignore' });
    hook.behaviour = behaviour;
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
    expect(hook.calls.length).toBeGreaterThan(0);
  });

  it('API-353 nobody listens, or nobody trusts the certificate', async () => {
    const gone = await WebhookServer.start();
    await gone.close();
    await configure({ clientConfig: gone.at() });
    const refused = await server.post(configMaps, configMap('a'));
    expect(refused.json.message).toBe(
      `${failed}failed to call webhook: Post "${gone.url()}?timeout=10s": dial tcp 127.0.0.1:${gone.port}: connect: connection refused`,
    );
    await server.delete(validating);
    await configure({ clientConfig: { url: hook.url() } });
    const untrusted = await server.post(configMaps, configMap('a'));
    expect(untrusted.json.message).toBe(
      `${failed}failed to call webhook: Post "${hook.url()}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
  });

  it('API-353 a connection that the webhook had closed is no failure: another one is made', async () => {
    await configure({ clientConfig: hook.at() });
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
    hook.cutConnections();
    expect((await server.post(configMaps, configMap('b'))).status).toBe(201);
  });

  it('API-006 API-353 the time of the request bounds the call, whatever the webhook may have', async () => {
    await configure({ clientConfig: hook.at(), timeoutSeconds: 30, failurePolicy: 'Ignore' });
    hook.behaviour = () => 'hang';
    const { status, json } = await server.post(`${configMaps}?timeout=1s`, configMap('a'));
    expect([status, json.reason]).toEqual([504, 'Timeout']);
    expect(hook.calls[0]?.target).toBe('/hook?timeout=1s');
  });

  it('API-006 API-353 also when the timer of the call is early', async () => {
    // Node cuts off what is less than a millisecond; here it is more, so that it is seen.
    const setTimer: Clock['setTimer'] = (ms, fn) => systemClock.setTimer(Number.isInteger(ms) ? ms : ms - 100, fn);
    const early = await startTestServer({ clock: { ...systemClock, setTimer } });
    const ignored = { clientConfig: hook.at(), timeoutSeconds: 30, failurePolicy: 'Ignore' };
    await early.post(validating, configuration('Validating', 'test', ignored));
    hook.behaviour = () => 'hang';
    const { status, json } = await early.post(`${configMaps}?timeout=300ms`, configMap('a'));
    expect([status, json.reason]).toEqual([504, 'Timeout']);
    await early.server.stop();
  });
});

describe('which requests', () => {
  async function asked(target: string, object: object, method: 'POST' | 'PUT' | 'DELETE' = 'POST'): Promise<boolean> {
    hook.calls.length = 0;
    const { status } = await server.request(method, target, { body: object });
    expect(status).toBeLessThan(300);
    return hook.calls.length > 0;
  }

  it('API-356 objectSelector: old or new', async () => {
    await server.post(configMaps, configMap('a', { metadata: { labels: { watch: 'me' } } }));
    await configure({ clientConfig: hook.at(), objectSelector: { matchLabels: { watch: 'me' } } });
    expect(await asked(configMaps, configMap('b'))).toBe(false);
    expect(await asked(configMaps, configMap('c', { metadata: { labels: { watch: 'me' } } }))).toBe(true);
    expect(await asked(`${configMaps}/a`, configMap('a'), 'PUT')).toBe(true);
    expect(await asked(`${configMaps}/a`, configMap('a', { data: { x: '1' } }), 'PUT')).toBe(false);
    expect(await asked(`${configMaps}/c`, {}, 'DELETE')).toBe(true);
  });

  it('API-356 namespaceSelector: labels of the namespace now; a Namespace has its own; cluster-scoped ones always', async () => {
    const namespaces = '/api/v1/namespaces';
    await server.post(namespaces, { metadata: { name: 'red', labels: { team: 'red' } } });
    await server.post(namespaces, { metadata: { name: 'blue' } });
    const rules = [
      {
        operations: ['CREATE', 'UPDATE'],
        apiGroups: ['*'],
        apiVersions: ['*'],
        resources: ['configmaps', 'namespaces', 'clusterroles'],
      },
    ];
    await configure({ clientConfig: hook.at(), rules, namespaceSelector: { matchLabels: { team: 'red' } } });
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    expect(await asked(`${namespaces}/red/configmaps`, configMap('a'))).toBe(true);
    expect(await asked(`${namespaces}/blue/configmaps`, configMap('a'))).toBe(false);
    expect(await asked(namespaces, { metadata: { name: 'green' } })).toBe(false);
    expect(await asked(namespaces, { metadata: { name: 'rose', labels: { team: 'red' } } })).toBe(true);
    expect(hook.requests[0]?.namespace).toBe('rose');
    expect(await asked(roles, { metadata: { name: 'r' }, rules: [] })).toBe(true);
    await server.patch(`${namespaces}/blue`, { metadata: { labels: { team: 'red' } } });
    expect(await asked(`${namespaces}/blue/configmaps`, configMap('b'))).toBe(true);
    await server.delete(`${roles}/r`);
  });

  it('API-355 matchPolicy: Equivalent converts to the version of the rule, Exact does not', async () => {
    const scalers = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const rule = { operations: ['*'], apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] };
    const scaler = (version: string, name: string, spec: object): KubeObject => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, ...spec },
    });
    await configure(
      { clientConfig: hook.at('/equivalent'), rules: [{ ...rule, apiVersions: ['v2'] }] },
      { clientConfig: hook.at('/exact'), rules: [{ ...rule, apiVersions: ['v2'] }], matchPolicy: 'Exact' },
    );
    await server.post(scalers('v1'), scaler('v1', 'a', { targetCPUUtilizationPercentage: 70 }));
    expect(hook.calls.map(({ target }) => target)).toEqual(['/equivalent?timeout=10s']);
    expect(hook.requests[0]).toMatchObject({
      kind: { version: 'v2' },
      resource: { version: 'v2' },
      requestKind: { version: 'v1' },
      requestResource: { version: 'v1' },
      object: {
        apiVersion: 'autoscaling/v2',
        spec: { metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 70 } } }] },
      },
    });
    hook.calls.length = 0;
    await server.post(scalers('v2'), scaler('v2', 'b', {}));
    expect(hook.calls).toHaveLength(2);
    await server.delete(scalers('v2'));
  });

  it('API-355 configurations and policies are never asked about, reviews are', async () => {
    const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    await configure({ clientConfig: hook.at(), rules: everything });
    hook.behaviour = deny({ message: 'nothing goes' });
    expect((await server.post(configMaps, configMap('a'))).status).toBe(400);
    const review = { spec: { token: 'x' } };
    expect((await server.post('/apis/authentication.k8s.io/v1/tokenreviews', review)).status).toBe(400);
    expect((await server.delete(`${validating}/test`)).status).toBe(200);
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
  });
});

describe('dry run', () => {
  it('API-357 only what has no side effects is called; the policy for failures does not help', async () => {
    const dryRun = `${configMaps}?dryRun=All`;
    await configure({ clientConfig: hook.at(), sideEffects: 'NoneOnDryRun' });
    expect((await server.post(dryRun, configMap('a'))).status).toBe(201);
    expect(hook.requests).toMatchObject([{ dryRun: true, options: { dryRun: ['All'] } }]);
    hook.reset();
    // An expression that an older server admitted cannot be written any more, but it still applies.
    const old = configuration('Validating', 'old', {
      clientConfig: hook.at(),
      sideEffects: 'Some',
      failurePolicy: 'Ignore',
    });
    await server.store.create(
      '/registry/admissionregistration.k8s.io/validatingwebhookconfigurations/old',
      encodeStored(old),
    );
    const { status, json } = await server.post(dryRun, configMap('a'));
    expect([status, json.message]).toEqual([400, 'admission webhook "hook-0.example.com" does not support dry run']);
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
  });
});

describe('services', () => {
  const services = '/api/v1/namespaces/default/services';
  const endpointSlices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const failed = 'Internal error occurred: failed calling webhook "hook-0.example.com": failed to call webhook: ';
  const ofService = (extra: object = {}): object => ({
    clientConfig: {
      service: { namespace: 'default', name: 'hook', path: '/in/cluster', ...extra },
      caBundle: hook.caBundle,
    },
  });

  afterEach(async () => {
    await server.delete(validating);
    await server.delete(`${services}/hook`);
    await server.delete(endpointSlices);
  });

  it('API-358 reached through the EndpointSlices of the service, under the name of the service', async () => {
    await server.post(services, { metadata: { name: 'hook' }, spec: { ports: [{ name: 'https', port: 443 }] } });
    await server.post(endpointSlices, {
      metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: hook.port }],
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    });
    await configure(ofService());
    expect((await server.post(configMaps, configMap('a'))).json.message).toBeUndefined();
    expect(hook.calls).toMatchObject([{ target: '/in/cluster?timeout=10s', host: 'hook.default.svc:443' }]);
  });

  it('API-358 no service, no such port, no endpoints', async () => {
    const url = 'Post "https://hook.default.svc:443/in/cluster?timeout=10s": ';
    await configure(ofService());
    const create = async (): Promise<string | undefined> =>
      (await server.post(configMaps, configMap('a'))).json.message;
    expect(await create()).toBe(`${failed}${url}service "hook" not found`);
    await server.post(services, { metadata: { name: 'hook' }, spec: { ports: [{ port: 80 }] } });
    expect(await create()).toBe(`${failed}${url}no service port 443 found for service "hook"`);
    await server.patch(`${services}/hook`, { spec: { ports: [{ port: 443 }] } });
    expect(await create()).toBe(`${failed}${url}no endpoints available for service "hook"`);
  });

  it('API-353 a certificate of another name has an error of its own', async () => {
    const other = { service: { namespace: 'default', name: 'other' }, caBundle: hook.caBundle };
    const mapped = await startTestServer({
      serviceHosts: new Map([['default/other', { host: '127.0.0.1', port: hook.port }]]),
    });
    await mapped.post(validating, configuration('Validating', 'test', { clientConfig: other }));
    const { json } = await mapped.post(configMaps, configMap('a'));
    expect(json.message).toMatch(
      /: tls: failed to verify certificate: x509: certificate is valid for localhost, .*hook\.default\.svc.*, not other\.default\.svc$/,
    );
    await mapped.server.stop();
  });

  it('API-358 a host map comes before everything', async () => {
    const mapped = await startTestServer({
      serviceHosts: new Map([['default/hook', { host: '127.0.0.1', port: hook.port }]]),
    });
    await mapped.post(validating, configuration('Validating', 'test', ofService()));
    expect((await mapped.post(configMaps, configMap('a'))).status).toBe(201);
    expect(hook.calls).toHaveLength(1);
    await mapped.server.stop();
  });
});
