import { describe, expect, it } from 'vitest';
import { configMap, configMaps, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { alwaysDenyAuthorizer } from '../../src/apiserver/authorization/authorization-mode.ts';
import { configuration, validating, type WebhookServer, webhookTest } from './webhook-server.ts';

let hook: WebhookServer;
let server: TestServer;
webhookTest([validating, configMaps], (test) => {
  ({ hook, server } = test);
});

const conditions = (...expressions: string[]): object => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
});

async function asked(object: object, ...expressions: string[]): Promise<boolean> {
  const { status, json } = await server.post(
    validating,
    configuration('Validating', 'test', { clientConfig: hook.at(), ...conditions(...expressions) }),
  );
  expect([status, json.message]).toEqual([201, undefined]);
  expect((await server.post(configMaps, object)).status).toBe(201);
  return hook.calls.length > 0;
}

describe('API-356 matchConditions', () => {
  it.each<[string[], boolean]>([
    [["object.metadata.name == 'a'"], true],
    [["object.metadata.name == 'b'"], false],
    [["request.operation == 'CREATE'", "request.userInfo.username == 'system:anonymous'"], true],
    [["request.resource.resource == 'configmaps' && request.kind.version == 'v1'"], true],
    [["request.userInfo.groups.exists(g, g == 'system:nodes')"], false],
    [['oldObject == null'], true],
    [["has(object.data) && object.data.x == '1'"], true],
    [["!has(request.subResource) && request.namespace == 'default' && request.name == 'a'"], true],
    [["authorizer.group('').resource('pods').namespace('default').check('get').allowed()"], true],
    [["authorizer.requestResource.check('delete').allowed()"], true],
    [["object.data.x == '2'", 'object.nothing.here == 1'], false],
    [["object.metadata.labels['x'] == 'y' || true"], true],
  ])('%j', async (expressions, expected) => {
    expect(await asked(configMap('a', { data: { x: '1' } }), ...expressions)).toBe(expected);
  });

  it('one that has no value fails the request, or with policy Ignore passes the webhook over', async () => {
    const failing = { clientConfig: hook.at(), ...conditions('true', 'object.spec.nothing == 1') };
    await server.post(validating, configuration('Validating', 'test', failing));
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect([status, json.reason, json.message]).toEqual([
      403,
      'Forbidden',
      `configmaps "a" is forbidden: expression 'object.spec.nothing == 1' resulted in error: no such key: spec`,
    ]);
    await server.delete(validating);
    await server.post(validating, configuration('Validating', 'test', { ...failing, failurePolicy: 'Ignore' }));
    expect((await server.post(configMaps, configMap('a'))).status).toBe(201);
    expect(hook.calls).toEqual([]);
  });

  it('asks the authorizer of the server', async () => {
    const strict = await startTestServer({
      authorizer: {
        authorize: (attributes) =>
          attributes.resource === 'secrets'
            ? alwaysDenyAuthorizer.authorize(attributes)
            : { allowed: true, reason: '' },
      },
    });
    const check = "authorizer.group('').resource('secrets').check('get').allowed()";
    await strict.post(
      validating,
      configuration('Validating', 'test', { clientConfig: hook.at(), ...conditions(check) }),
    );
    expect((await strict.post(configMaps, configMap('a'))).status).toBe(201);
    expect(hook.calls).toEqual([]);
    await strict.server.stop();
  });

  it.each<[object[], string[]]>([
    [
      [{ name: 'c', expression: 'object.x ==' }],
      [
        'webhooks[0].matchConditions[0].expression: Invalid value: "object.x ==": compilation failed: ERROR: <input>:1:12:',
      ],
    ],
    [
      [{ name: 'c', expression: '1 + 1' }],
      ['webhooks[0].matchConditions[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int'],
    ],
    [
      [{ name: 'c', expression: 'params.x == 1' }],
      ["compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'"],
    ],
    [[{ name: 'c', expression: ' ' }], ['webhooks[0].matchConditions[0].expression: Required value']],
    [[{ name: '', expression: 'true' }], ['webhooks[0].matchConditions[0].name: Required value']],
    [
      [
        { name: 'c', expression: 'true' },
        { name: 'c', expression: 'false' },
      ],
      ['webhooks[0].matchConditions[1].name: Duplicate value: "c"'],
    ],
    [
      Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })),
      ['webhooks[0].matchConditions: Too many: 65: must have at most 64 items'],
    ],
  ])('a configuration with %j is refused', async (matchConditions, texts) => {
    const { status, json } = await server.post(
      validating,
      configuration('Validating', 'test', { clientConfig: hook.at(), matchConditions }),
    );
    expect(status).toBe(422);
    for (const text of texts) expect(json.message).toContain(text);
  });
});
