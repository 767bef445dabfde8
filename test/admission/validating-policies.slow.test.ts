import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../src/apiserver/test/test-server.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
afterEach(async () => {
  await server.delete(bindings);
  await server.delete(policies);
  await server.delete(configMaps);
});

const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

function policy(spec: object, name = 'p'): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: rules }, ...spec },
  };
}

function binding(spec: object = {}, name = 'b'): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
  };
}

async function bind(spec: object, bound: object = {}): Promise<void> {
  for (const [collection, object] of [
    [policies, policy(spec)],
    [bindings, binding(bound)],
  ] as const) {
    const { status, json } = await server.post(collection, object);
    expect([status, json.message]).toEqual([201, undefined]);
  }
}

async function create(name: string, data: object = {}, extra: object = {}): Promise<string> {
  const { status, json } = await server.post(configMaps, { ...configMap(name, { data }), ...extra });
  return status === 201 ? 'created' : `${status} ${json.reason} ${json.message}`;
}

async function annotationsOf(auditId: unknown): Promise<unknown> {
  const lines = (await server.get('/debug/audit')).text.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Json).find((event) => event['auditID'] === auditId)?.['annotations'];
}

const denied = (text: string): string =>
  `422 Invalid configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${text}`;

describe('API-360 a policy', () => {
  it('denies what does not fulfil it, in the words of the expression, the message or the message expression', async () => {
    await bind({
      validations: [
        { expression: "object.data.x != '1'" },
        { expression: "object.data.x != '2'", message: ' two is bad ' },
        { expression: "object.data.x != '3'", message: 'own', messageExpression: "'not ' + object.data.x" },
        { expression: "object.data.x != '4'", message: 'own', messageExpression: "'' + object.data.none" },
      ],
    });
    expect(await create('a', { x: '1' })).toBe(denied("failed expression: object.data.x != '1'"));
    expect(await create('a', { x: '2' })).toBe(denied('two is bad'));
    expect(await create('a', { x: '3' })).toBe(denied('not 3'));
    expect(await create('a', { x: '4' })).toBe(denied('own'));
    expect(await create('a', { x: '5' })).toBe('created');
  });

  it('has no effect without a binding, or when it does not match', async () => {
    await server.post(policies, policy({ validations: [{ expression: 'false' }] }));
    expect(await create('a')).toBe('created');
    await server.post(bindings, binding());
    expect(await create('b')).toContain('422');
    const secrets = '/api/v1/namespaces/default/secrets';
    expect((await server.post(secrets, { metadata: { name: 's' } })).status).toBe(201);
    await server.delete(`${secrets}/s`);
    // Deletions as well: the rule names every operation.
    expect((await server.delete(`${configMaps}/a`)).status).toBe(422);
  });

  it.each([
    ['Forbidden', 403],
    ['Invalid', 422],
    ['RequestEntityTooLarge', 413],
  ])('answers with reason %s and its code', async (reason, code) => {
    await bind({ validations: [{ expression: 'false', reason }] });
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect([status, json.reason, json.code]).toEqual([code, reason, code]);
    expect(json.details?.causes).toEqual([
      { message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false" },
    ]);
  });

  it('sees objects, request, namespace and what the user may do', async () => {
    await server.patch('/api/v1/namespaces/default', { metadata: { labels: { team: 'red' } } });
    await bind({
      validations: [
        { expression: "request.operation != 'UPDATE' || object.data.x == oldObject.data.x", message: 'x is fixed' },
        { expression: "namespaceObject.metadata.labels.team == 'red'" },
        { expression: "authorizer.requestResource.check('delete').allowed()" },
        { expression: "request.userInfo.username == 'system:anonymous'" },
        { expression: "request.operation == 'DELETE' ? object == null : oldObject == null || oldObject != null" },
      ],
    });
    expect(await create('a', { x: '1' })).toBe('created');
    const { status, json } = await server.patch(`${configMaps}/a`, { data: { x: '2' } });
    expect([status, json.message]).toEqual([422, expect.stringContaining('denied request: x is fixed')]);
    expect((await server.patch(`${configMaps}/a`, { data: { y: '2' } })).status).toBe(200);
    expect((await server.delete(`${configMaps}/a`)).status).toBe(200);
  });

  it.each(['__proto__', 'constructor'])('may have a variable that is called %s', async (name) => {
    await bind({
      variables: [{ name, expression: 'object.data.size()' }],
      validations: [{ expression: `variables.${name} == 1` }],
    });
    expect(await create('a', { x: '1', y: '2' })).toBe(denied(`failed expression: variables.${name} == 1`));
    expect(await create('a', { x: '1' })).toBe('created');
  });

  it('has variables, each made of those before it, evaluated when they are needed', async () => {
    await bind({
      variables: [
        { name: 'size', expression: 'has(object.data.size) ? int(object.data.size) : 1' },
        { name: 'double', expression: 'variables.size * 2' },
        { name: 'broken', expression: 'object.data.missing' },
      ],
      validations: [
        { expression: 'variables.double <= 10', messageExpression: "'size ' + string(variables.double)" },
        { expression: "!has(object.data.use) || variables.broken == 'x'" },
      ],
    });
    expect(await create('a', { size: '5' })).toBe('created');
    expect(await create('a', { size: '6' })).toBe(denied('size 12'));
    expect(await create('a', { use: 'it' })).toBe(
      denied(
        `expression '!has(object.data.use) || variables.broken == 'x'' resulted in error: composited variable "broken" fails to evaluate: no such key: missing`,
      ),
    );
  });

  it('is asked under its conditions only', async () => {
    await bind({
      matchConditions: [{ name: 'named', expression: "request.name.startsWith('a')" }],
      validations: [{ expression: 'false' }],
    });
    expect(await create('b')).toBe('created');
    expect(await create('a')).toBe(denied('failed expression: false'));
  });

  it('denies when an expression fails, or admits with failurePolicy Ignore', async () => {
    const spec = { validations: [{ expression: 'object.spec.x == 1' }] };
    await bind(spec);
    expect(await create('a')).toBe(denied("expression 'object.spec.x == 1' resulted in error: no such key: spec"));
    await server.patch(`${policies}/p`, { spec: { failurePolicy: 'Ignore' } });
    expect(await create('a')).toBe('created');
  });

  it('that costs too much fails', async () => {
    const all = (name: string, inner: string): string => `object.data.all(${name}, ${inner})`;
    const expression = all('a', all('b', all('c', "a + b + c != ''")));
    await bind({ validations: [{ expression }] });
    const data = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, 'x']));
    expect(await create('a', data)).toBe(
      denied(`expression '${expression}' resulted in error: operation cancelled: actual cost limit exceeded`),
    );
  });

  it('is exempt from itself, and reviews are', async () => {
    const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    await bind({ matchConstraints: { resourceRules: everything }, validations: [{ expression: 'false' }] });
    expect(await create('a')).toContain('422');
    const review = { spec: { token: 'x' } };
    expect((await server.post('/apis/authentication.k8s.io/v1/tokenreviews', review)).status).toBe(201);
    expect((await server.delete(`${bindings}/b`)).status).toBe(200);
    expect(await create('a')).toBe('created');
  });
});

describe('API-360 a binding', () => {
  it('warns instead of denying, or only notes', async () => {
    await bind({ validations: [{ expression: 'false', message: 'no' }] }, { validationActions: ['Warn', 'Audit'] });
    const { status, headers } = await server.post(configMaps, configMap('a'));
    expect([status, headers['warning']]).toEqual([
      201,
      [`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"`],
    ]);
    await server.patch(`${bindings}/b`, { spec: { validationActions: ['Audit'] } });
    const silent = await server.post(configMaps, configMap('b'));
    expect([silent.status, silent.headers['warning']]).toEqual([201, undefined]);
    expect(await annotationsOf(silent.headers['audit-id'])).toEqual({
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"no","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Audit"]}]',
    });
  });

  it('notes what the policy says about a request', async () => {
    await bind({
      auditAnnotations: [
        { key: 'who', valueExpression: "'by ' + request.userInfo.username" },
        { key: 'nothing', valueExpression: "request.name == 'b' ? 'x' : ''" },
      ],
    });
    const { status, headers } = await server.post(configMaps, configMap('a'));
    expect([status, await annotationsOf(headers['audit-id'])]).toEqual([201, { 'p/who': 'by system:anonymous' }]);
  });

  it('restricts the policy further', async () => {
    const matchResources = { objectSelector: { matchLabels: { strict: 'yes' } } };
    await bind({ validations: [{ expression: 'false' }] }, { matchResources });
    expect(await create('a')).toBe('created');
    expect(await create('b', {}, { metadata: { name: 'b', labels: { strict: 'yes' } } })).toContain('422');
  });

  it('excludes by name', async () => {
    const excludeResourceRules = [{ ...rules[0], resourceNames: ['free'] }];
    await bind({
      matchConstraints: { resourceRules: rules, excludeResourceRules },
      validations: [{ expression: 'false' }],
    });
    expect(await create('free')).toBe('created');
    expect(await create('a')).toContain('422');
  });
});

describe('API-360 parameters', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const limited = {
    paramKind,
    matchConstraints: {
      resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
    },
    validations: [{ expression: 'object.metadata.name.size() <= int(params.data.max)', message: 'too long' }],
  };
  const secrets = '/api/v1/namespaces/default/secrets';
  const create = async (name: string): Promise<string> => {
    const { status, json } = await server.post(secrets, { metadata: { name } });
    return status === 201 ? 'created' : (json.message ?? '');
  };
  afterEach(() => server.delete(secrets));

  it('come by name, and count as they are now', async () => {
    await server.post(configMaps, configMap('limits', { data: { max: '3' } }));
    await bind(limited, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } });
    expect(await create('abc')).toBe('created');
    expect(await create('abcd')).toContain('too long');
    await server.patch(`${configMaps}/limits`, { data: { max: '4' } });
    expect(await create('abcd')).toBe('created');
  });

  it('come by selector: all have to be content', async () => {
    for (const max of ['3', '5']) {
      await server.post(
        configMaps,
        configMap(`limit-${max}`, { data: { max }, metadata: { labels: { limit: 'yes' } } }),
      );
    }
    const selector = { matchLabels: { limit: 'yes' } };
    await bind(limited, { paramRef: { selector, parameterNotFoundAction: 'Deny' } });
    expect(await create('abcd')).toContain('too long');
    await server.delete(`${configMaps}/limit-3`);
    expect(await create('abcd')).toBe('created');
  });

  it('that are missing deny or allow', async () => {
    await bind(limited, { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } });
    expect(await create('abc')).toBe(
      `secrets "abc" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    );
    await server.patch(`${bindings}/b`, { spec: { paramRef: { parameterNotFoundAction: 'Allow' } } });
    expect(await create('abcdefghij')).toBe('created');
  });

  it('deny everything that the policy matches if their kind is not served', async () => {
    await bind(
      { ...limited, paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Limit' } },
      { paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } },
    );
    expect(await create('abc')).toBe(
      `secrets "abc" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'`,
    );
  });
});

describe('API-360 who writes what reads parameters', () => {
  it('must be able to read them', async () => {
    const reads: string[] = [];
    const strict = await startTestServer({
      authorizer: {
        authorize: ({ verb, resource, namespace, name }) => {
          if (resource !== 'secrets') return { allowed: true, reason: '' };
          reads.push(`${verb} ${resource} ${namespace} ${name}`);
          return { allowed: false, reason: '' };
        },
      },
    });
    const spec = { paramKind: { apiVersion: 'v1', kind: 'Secret' }, validations: [{ expression: 'true' }] };
    const refused = await strict.post(policies, policy(spec));
    expect([refused.status, refused.json.message]).toEqual([
      422,
      `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user system:anonymous must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`,
    ]);
    const harmless = { ...spec, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
    expect((await strict.post(policies, policy(harmless))).status).toBe(201);
    expect((await strict.patch(`${policies}/p`, { spec: { paramKind: { kind: 'Secret' } } })).status).toBe(422);
    expect((await strict.patch(`${policies}/p`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    const paramRef = { name: 'x', namespace: 'n', parameterNotFoundAction: 'Deny' };
    expect((await strict.post(bindings, binding({ paramRef }))).status).toBe(201);
    expect(reads).toEqual(['get secrets * *', 'get secrets * *']);
    await strict.server.stop();
  });
});

describe('API-360 what is written is judged', () => {
  const good = { validations: [{ expression: 'true' }] };
  it.each<[object, string]>([
    [
      { validations: [] },
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    ],
    [
      { validations: [{ expression: 'object.x ==' }] },
      'spec.validations[0].expression: Invalid value: "object.x ==": compilation failed: ERROR: <input>:1:12:',
    ],
    [
      { validations: [{ expression: "'text'" }] },
      `spec.validations[0].expression: Invalid value: "'text'": must evaluate to bool but got string`,
    ],
    [
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
    ],
    [
      {
        validations: [
          { expression: 'true', messageExpression: "string(authorizer.path('/x').check('get').allowed())" },
        ],
      },
      "undeclared reference to 'authorizer'",
    ],
    [{ validations: [{ expression: 'params.x == 1' }] }, "undeclared reference to 'params'"],
    [{ validations: [{ expression: 'true', message: 'a\nb' }] }, 'message must not contain line breaks'],
    [
      { validations: [{ expression: 'true', reason: 'Because' }] },
      'spec.validations[0].reason: Unsupported value: "Because": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
    [
      { ...good, variables: [{ name: 'for', expression: '1' }] },
      'spec.variables[0].name: Invalid value: "for": name is not a valid CEL identifier',
    ],
    [
      { ...good, variables: [{ name: 'a', expression: 'variables.b' }] },
      'spec.variables[0].expression: Invalid value: "variables.b": compilation failed',
    ],
    [{ ...good, matchConstraints: {} }, 'spec.matchConstraints.resourceRules: Required value'],
    [{ ...good, failurePolicy: 'Maybe' }, 'spec.failurePolicy: Unsupported value: "Maybe"'],
    [{ ...good, paramKind: { kind: 'X' } }, 'spec.paramKind.apiVersion: Required value'],
    [
      { auditAnnotations: [{ key: 'a b', valueExpression: "'x'" }] },
      'spec.auditAnnotations[0].key: Invalid value: "p/a b"',
    ],
    [
      { auditAnnotations: [{ key: 'a', valueExpression: '1' }] },
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
  ])('a policy with %j', async (spec, text) => {
    const { status, json } = await server.post(policies, policy(spec));
    expect(status).toBe(422);
    expect(json.message).toContain(text);
  });

  it.each<[object, string]>([
    [{ policyName: '' }, 'spec.policyName: Required value'],
    [{ validationActions: [] }, 'spec.validationActions: Required value: at least one validation action is required'],
    [{ validationActions: ['Deny', 'Warn'] }, 'must not contain both Deny and Warn'],
    [{ validationActions: ['Shout'] }, 'spec.validationActions[0]: Unsupported value: "Shout"'],
    [{ paramRef: {} }, 'spec.paramRef: Required value: one of name or selector must be specified'],
    [
      { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    ],
    [{ paramRef: { name: 'a' } }, 'spec.paramRef.parameterNotFoundAction: Required value'],
  ])('a binding with %j', async (spec, text) => {
    const { status, json } = await server.post(bindings, binding(spec));
    expect(status).toBe(422);
    expect(json.message).toContain(text);
  });
});
