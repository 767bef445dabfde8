import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const policies = `${group}/mutatingadmissionpolicies`;
const bindings = `${group}/mutatingadmissionpolicybindings`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
afterEach(async () => {
  for (const collection of [bindings, policies, configMaps, deployments]) await server.delete(collection);
});

const rulesFor = (apiGroup: string, resource: string): object => ({
  resourceRules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: [apiGroup], apiVersions: ['v1'], resources: [resource] },
  ],
});
const jsonPatch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const apply = (expression: string): object => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: rulesFor('', 'configmaps'), reinvocationPolicy: 'Never', ...spec },
});

async function bind(name: string, spec: object, extra: object = {}): Promise<void> {
  const binding = { metadata: { name }, spec: { policyName: name, ...extra } };
  for (const [collection, object] of [
    [policies, policy(name, spec)],
    [bindings, binding],
  ] as const) {
    const { status, json, headers } = await server.post(collection, object);
    expect([status, json.message, headers['warning']]).toEqual([201, undefined, undefined]);
  }
}

async function created(object: KubeObject = configMap('a', { data: { x: '1' } })): Promise<unknown> {
  const { status, json } = await server.post(configMaps, object);
  return status === 201 ? json['data'] : `${status} ${json.reason} ${json.message}`;
}

describe('API-360 a mutating policy', () => {
  it('patches with JSON patches', async () => {
    await bind('p', {
      mutations: [
        jsonPatch(
          `[JSONPatch{op: "test", path: "/data/x", value: "1"},
            JSONPatch{op: "replace", path: "/data/x", value: object.data.x + "!"},
            JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b~c"), value: request.operation}]`,
        ),
      ],
    });
    // Keys of ConfigMaps have no slashes: what comes out is judged.
    expect(await created()).toContain('422 Invalid ConfigMap "a" is invalid: data');
    // A test that fails is no failure.
    expect(await created(configMap('b', { data: { x: '2' } }))).toEqual({ x: '2' });
    await server.patch(`${policies}/p`, {
      spec: { mutations: [jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"by": "policy"}}]')] },
    });
    const { json } = await server.post(configMaps, configMap('c'));
    expect(json.metadata?.labels).toEqual({ by: 'policy' });
  });

  it('merges apply configurations, lists by their keys, and the result has its defaults', async () => {
    const sidecar = `Object.spec.template.spec.containers{name: "sidecar", image: "proxy:1"}`;
    await bind('p', {
      matchConstraints: rulesFor('apps', 'deployments'),
      mutations: [
        apply(
          `Object{spec: Object.spec{replicas: object.spec.replicas + 1, template: Object.spec.template{spec: Object.spec.template.spec{containers: [${sidecar}]}}}}`,
        ),
      ],
    });
    const labels = { app: 'a' };
    const { json } = await server.post(deployments, {
      metadata: { name: 'd' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'own', image: 'i' }] } },
      },
    });
    expect(json['spec']).toMatchObject({
      replicas: 3,
      template: {
        spec: {
          containers: [{ name: 'own' }, { name: 'sidecar', image: 'proxy:1', imagePullPolicy: 'IfNotPresent' }],
        },
      },
    });
  });

  it('is asked under its conditions, with variables and parameters', async () => {
    await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'param' }, stringData: { k: 'v' } });
    await bind(
      'p',
      {
        paramKind: { apiVersion: 'v1', kind: 'Secret' },
        matchConditions: [{ name: 'named', expression: "object.metadata.name != 'free'" }],
        variables: [{ name: 'prefix', expression: "params.metadata.name + '/'" }],
        mutations: [jsonPatch('[JSONPatch{op: "add", path: "/data/y", value: variables.prefix + object.data.x}]')],
      },
      { paramRef: { name: 'param', parameterNotFoundAction: 'Deny' } },
    );
    expect(await created()).toEqual({ x: '1', y: 'param/1' });
    expect(await created(configMap('free', { data: { x: '1' } }))).toEqual({ x: '1' });
    await server.delete('/api/v1/namespaces/default/secrets/param');
    expect(await created(configMap('b', { data: { x: '1' } }))).toBe(
      '403 Invalid policy "p" denied request: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
  });

  it('denies when an expression fails, or admits with failurePolicy Ignore', async () => {
    await bind('p', { mutations: [apply('Object{data: Object.data{y: object.nothing.there}}')] });
    expect(await created()).toContain(`403 Invalid policy 'p' with binding 'p' denied request: expression`);
    await server.patch(`${policies}/p`, { spec: { failurePolicy: 'Ignore' } });
    expect(await created()).toEqual({ x: '1' });
    await server.patch(`${policies}/p`, {
      spec: { failurePolicy: 'Fail', mutations: [apply('Object{dta: Object.dta{y: "1"}}')] },
    });
    expect(await created(configMap('b'))).toContain(
      'error applying patch: failed to convert patch object to typed object: .dta: field not declared in schema',
    );
    await server.patch(`${policies}/p`, {
      spec: { mutations: [jsonPatch('[JSONPatch{op: "remove", path: "/nope"}]')] },
    });
    expect(await created(configMap('b'))).toContain(
      "denied request: JSON Patch: error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
    );
  });

  it('policies go by name; one that wants to is asked once more for what came after it', async () => {
    const append = (text: string): object => ({
      mutations: [
        jsonPatch(
          `[JSONPatch{op: "add", path: "/data", value: {"log": (has(object.data) ? object.data.log : "") + "${text}"}}]`,
        ),
      ],
    });
    await bind('b', append('b'));
    await bind('a', { ...append('a'), reinvocationPolicy: 'IfNeeded' });
    expect(await created(configMap('m'))).toEqual({ log: 'aba' });
  });

  it('leaves deletions alone, and itself', async () => {
    await bind('p', {
      matchConstraints: {
        resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
      },
      mutations: [jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"by": "policy"}}]')],
    });
    await server.post(configMaps, configMap('a'));
    expect((await server.delete(`${configMaps}/a`)).status).toBe(200);
    expect((await server.get(`${bindings}/p`)).json.metadata?.labels).toBeUndefined();
  });
});

describe('API-360 what is written is judged', () => {
  const mutations = [apply('Object{}')];
  it.each<[object, string]>([
    [{ mutations: [] }, 'spec.mutations: Required value: mutations must contain at least one item'],
    [
      { mutations: [{ patchType: 'Merge' }] },
      'spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"',
    ],
    [
      { mutations: [{ patchType: 'JSONPatch' }] },
      'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
    ],
    [
      { mutations: [jsonPatch(' ')] },
      'spec.mutations[0].jsonPatch.expression: Required value: expression is not specified',
    ],
    [{ mutations: [apply('{"a": 1}')] }, 'must evaluate to Object but got map(string, int)'],
    [{ mutations: [jsonPatch('Object{}')] }, 'must evaluate to list(JSONPatch) but got Object'],
    [{ mutations: [apply('Object{a: nothing}')] }, "undeclared reference to 'nothing'"],
    [
      { mutations: [apply('Other{a: 1}')] },
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "Other{a: 1}": compilation failed',
    ],
    [{ mutations, reinvocationPolicy: 'Always' }, 'spec.reinvocationPolicy: Unsupported value: "Always"'],
    [{ mutations, matchConstraints: {} }, 'spec.matchConstraints.resourceRules: Required value'],
  ])('a policy with %j', async (spec, text) => {
    const { status, json } = await server.post(policies, policy('p', spec));
    expect(status).toBe(422);
    expect(json.message).toContain(text);
  });

  it('a binding without a policy', async () => {
    const { status, json } = await server.post(bindings, { metadata: { name: 'b' }, spec: {} });
    expect([status, json.message]).toEqual([422, expect.stringContaining('spec.policyName: Required value')]);
  });
});
