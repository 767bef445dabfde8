import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { definition, definitions, establish, version, warningsOf, widget, widgets } from './definition-fixture.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Widgets with this schema of `spec`, and rules on it. */
function ruled(properties: object, rules: readonly Rule[], extra: object = {}): KubeObject {
  const spec = { type: 'object', properties, 'x-kubernetes-validations': rules };
  const status = { type: 'object', properties: { ready: { type: 'integer' } } };
  return definition({ versions: [version({ schema: { type: 'object', properties: { spec, status } }, extra })] });
}

const number = { type: 'integer' };
const text = { type: 'string', maxLength: 20 };

/** Returns the message with which a write is refused; `created` and the like when it succeeds. */
async function answer(
  write: Promise<{ readonly status: number; readonly json: { readonly message?: string } }>,
): Promise<string> {
  const { status, json } = await write;
  return status === 422 ? (json.message ?? '').replace(/^\S+ "[^"]*" is invalid: /, '') : String(status);
}

const create = (spec: unknown, name = 'w'): Promise<string> => answer(server.post(widgets, widget(name, { spec })));

describe('rules of custom resources', () => {
  it('API-471 a broken rule is 422 with its message, without the value of objects', async () => {
    await establish(
      server,
      ruled({ a: number, b: number }, [{ rule: 'self.a < self.b', message: 'a must be below b' }]),
    );
    expect(await create({ a: 1, b: 2 })).toBe('201');
    expect(await create({ a: 2, b: 1 }, 'x')).toBe('spec: Invalid value: a must be below b');
    expect(await create({ a: 2 }, 'x')).toBe(
      'spec: Invalid value: "object": no such key: b evaluating rule: a must be below b',
    );
    const { json } = await server.post(widgets, widget('x', { spec: { a: 2, b: 1 } }));
    expect(json).toMatchObject({
      reason: 'Invalid',
      details: {
        causes: [{ reason: 'FieldValueInvalid', field: 'spec', message: 'Invalid value: a must be below b' }],
      },
    });
  });

  it('API-471 transition rules compare with what was there, through every way of writing', async () => {
    await establish(
      server,
      ruled({ size: number }, [{ rule: 'self.size >= oldSelf.size', message: 'may not shrink' }]),
    );
    expect(await create({ size: 3 })).toBe('201');
    const { json } = await server.get(`${widgets}/w`);
    const refused = 'spec: Invalid value: may not shrink';
    expect(await answer(server.put(`${widgets}/w`, { ...json, spec: { size: 2 } }))).toBe(refused);
    expect(await answer(server.patch(`${widgets}/w`, { spec: { size: 2 } }, 'merge'))).toBe(refused);
    expect(await answer(server.put(`${widgets}/w`, { ...json, spec: { size: 4 } }))).toBe('200');
  });

  it('API-470 a rule that was broken before is only warned of while the value stays', async () => {
    const loose = ruled({ a: number, b: number }, []);
    await establish(server, loose);
    expect(await create({ a: 2, b: 1 })).toBe('201');
    const { json: current } = await server.get(`${definitions}/widgets.example.com`);
    const strict = ruled({ a: number, b: number }, [{ rule: 'self.a < self.b', message: 'a must be below b' }]);
    expect(
      (await server.put(`${definitions}/widgets.example.com`, { ...strict, metadata: current.metadata })).status,
    ).toBe(200);
    const { json } = await server.get(`${widgets}/w`);
    const labelled = { ...json, metadata: { ...json.metadata, labels: { x: 'y' } } };
    const kept = await server.put(`${widgets}/w`, labelled);
    expect(kept.status).toBe(200);
    expect(warningsOf(kept.headers)).toEqual(['spec: Invalid value: a must be below b']);
    expect(await answer(server.put(`${widgets}/w`, { ...kept.json, spec: { a: 3, b: 1 } }))).toBe(
      'spec: Invalid value: a must be below b',
    );
  });

  it('API-471 rules of the root see the name of the object, and point nowhere', async () => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { name: text } } },
      'x-kubernetes-validations': [{ rule: 'self.metadata.name == self.spec.name', message: 'names must match' }],
    };
    await establish(server, definition({ versions: [version({ schema })] }));
    expect(await create({ name: 'w' })).toBe('201');
    expect(await create({ name: 'w' }, 'x')).toBe('<nil>: Invalid value: names must match');
  });

  it('API-471 rules are not evaluated over what the schema finds wrong', async () => {
    await establish(server, ruled({ a: number, b: { type: 'string', enum: ['x'] } }, [{ rule: 'self.a > 3' }]));
    expect(await create({ a: 'text', b: 'x' })).toBe(
      '[spec.a: Invalid value: "string": spec.a in body must be of type integer: "string", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    );
    expect(await create({ a: 1, b: 'x' })).toBe('spec: Invalid value: failed rule: self.a > 3');
  });

  it('API-471 a write through /status is judged by the rules as well', async () => {
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { replicas: number } },
        status: { type: 'object', properties: { ready: number } },
      },
      'x-kubernetes-validations': [
        {
          rule: '!has(self.status) || self.status.ready <= self.spec.replicas',
          message: 'too many',
          fieldPath: '.status',
        },
      ],
    };
    await establish(server, definition({ versions: [version({ schema, extra: { subresources: { status: {} } } })] }));
    expect(await create({ replicas: 2 })).toBe('201');
    const { json } = await server.get(`${widgets}/w`);
    const status = (ready: number): Promise<string> =>
      answer(server.put(`${widgets}/w/status`, { ...json, status: { ready } }));
    expect(await status(3)).toBe('status: Invalid value: too many');
    expect(await status(2)).toBe('200');
  });

  it('API-471 what takes too long is stopped', async () => {
    const items = { type: 'array', items: number, maxItems: 2000 };
    const heavy = 'self.list.all(a, self.list.all(b, a + b > 0))';
    const cheap = ruled({ list: { ...items, maxItems: 10 } }, [{ rule: heavy, message: 'all positive' }]);
    await establish(server, cheap);
    const refused = await answer(server.post(definitions, ruled({ list: items }, [{ rule: heavy }])));
    expect(refused).toMatch(
      /^spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\[spec\]\.x-kubernetes-validations\[0\]\.rule: Forbidden: estimated rule cost exceeds budget by factor of \d+\.\dx \(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared\)$/,
    );
  });
});

describe('rules of definitions', () => {
  const rulePath = 'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]';
  const shown = (rule: string): string =>
    `{"Rule":${JSON.stringify(rule)},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;

  it.each<[string, Rule, string]>([
    [
      'does not compile',
      { rule: 'self.nope == 1' },
      `${rulePath}.rule: Invalid value: ${shown('self.nope == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^`,
    ],
    [
      'is no condition',
      { rule: 'self.a' },
      `${rulePath}.rule: Invalid value: ${shown('self.a')}: cel expression must evaluate to a bool`,
    ],
    [
      'compares with a past it does not look at',
      { rule: 'self.a > 1', optionalOldSelf: true },
      `${rulePath}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
    ],
    [
      'points to no field',
      { rule: 'self.a > 1', fieldPath: '.nope' },
      `${rulePath}.fieldPath: Invalid value: ".nope": must be a valid path`,
    ],
    [
      'gives an odd reason',
      { rule: 'self.a > 1', reason: 'Why' },
      `${rulePath}.reason: Unsupported value: "Why": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
    ['says nothing', { rule: ' ' }, `${rulePath}.rule: Required value: rule is not specified`],
  ])('API-471 a rule that %s is refused', async (_, rule, expected) => {
    expect(await answer(server.post(definitions, ruled({ a: number, t: text }, [rule])))).toBe(expected);
  });

  it('API-471 a message that is no text is refused', async () => {
    const refused = await answer(
      server.post(definitions, ruled({ a: number }, [{ rule: 'self.a > 1', messageExpression: 'self.a' }])),
    );
    expect(refused).toMatch(/messageExpression: Invalid value: \{.*\}: messageExpression must evaluate to a string$/);
  });

  it('API-471 a transition rule below a list that is no map is refused', async () => {
    const items = {
      type: 'object',
      properties: { n: number },
      'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n' }],
    };
    const list = { type: 'array', maxItems: 3, items };
    const at = 'spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[list]';
    expect(await answer(server.post(definitions, ruled({ list }, [])))).toBe(
      `${at}.items.x-kubernetes-validations[0].rule: Invalid value: "self.n >= oldSelf.n": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`,
    );
    const keyed = {
      ...list,
      items: { ...items, properties: { n: number, k: text }, required: ['k'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    };
    expect(await answer(server.post(definitions, ruled({ list: keyed }, [])))).toBe('201');
  });

  it('API-451 a pattern that RE2 refuses is refused in its words', async () => {
    const spec = { type: 'object', properties: { a: { type: 'string', pattern: '(a' } } };
    const schema = { type: 'object', properties: { spec } };
    expect(await answer(server.post(definitions, definition({ versions: [version({ schema })] })))).toContain(
      'pattern: Invalid value: "(a": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(a`',
    );
  });
});

describe('whatever the rule, the schema and the object', () => {
  const part = fc.constantFrom(
    'self',
    'oldSelf',
    'self.a',
    'self.t',
    'self.l',
    'self.m',
    '1',
    '"x"',
    'null',
    'true',
    'x',
  );
  const operator = fc.constantFrom(
    '==',
    '<',
    '+',
    '&&',
    'in',
    '.',
    '?',
    '.all(x, x == ',
    '.map(x, ',
    '(',
    ')',
    '[',
    ']',
    '!',
    '"',
  );
  const rule = fc.oneof(
    fc.tuple(part, operator, part).map((parts) => parts.join(' ')),
    fc.array(fc.oneof(part, operator, fc.string({ maxLength: 3 })), { maxLength: 6 }).map((parts) => parts.join(' ')),
    fc.constantFrom(
      'self.t > timestamp(0)',
      'self.m.all(k, self.m[k] > 0)',
      'self.l.exists(x, x.matches(self.a))',
      'size(self.l) > size(oldSelf.l)',
    ),
  );
  const value = fc.record(
    {
      a: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      t: fc.constantFrom('2026-01-01T00:00:00Z', 'never', 3),
      l: fc.oneof(fc.array(fc.string()), fc.string()),
      m: fc.oneof(fc.dictionary(fc.string(), fc.integer()), fc.constant(null)),
    },
    { requiredKeys: [] },
  );

  it('the server answers with success or says what is wrong', async () => {
    const schema = {
      a: { type: 'string', nullable: true },
      t: { type: 'string', format: 'date-time' },
      l: { type: 'array', items: { type: 'string' } },
      m: { type: 'object', additionalProperties: number },
    };
    await establish(server, ruled(schema, []));
    const optional = fc.option(fc.boolean(), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(rule, fc.option(rule, { nil: undefined }), optional, value, async (text, message, old, spec) => {
        const { json } = await server.get(`${definitions}/widgets.example.com`);
        const each = {
          rule: text,
          ...(message === undefined ? {} : { messageExpression: message }),
          ...(old === undefined ? {} : { optionalOldSelf: old }),
        };
        const next = { ...ruled(schema, [each]), metadata: json.metadata };
        expect([200, 422]).toContain((await server.put(`${definitions}/widgets.example.com`, next)).status);
        expect([201, 409, 422]).toContain((await server.post(widgets, widget('w', { spec }))).status);
        const merged = await server.patch(`${widgets}/w`, { spec }, 'merge');
        expect([200, 404, 422]).toContain(merged.status);
      }),
      { numRuns: 80 },
    );
  });

  it.each<[string, object]>([
    ['a rule without a rule', {}],
    ['a rule that is null', { rule: null }],
    ['an empty rule', { rule: '' }],
  ])('%s is refused', async (_, each) => {
    expect((await server.post(definitions, ruled({ a: number }, [each as Rule]))).status).toBe(422);
  });
});

/** Other people's, and no part of this project: tried where they lie beside it. */
const manifests = join(import.meta.dirname, '../../../shared/manifests');

describe.skipIf(!existsSync(manifests))('definitions of others', () => {
  const read = (name: string): KubeObject => parse(readFileSync(join(manifests, `${name}.yaml`), 'utf8')) as KubeObject;

  it('API-471 the rules of the Gateway API are accepted and hold', async () => {
    await establish(server, read('gateway-api-httproutes'));
    const routes = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes';
    const route = (rule: object, parentRefs: readonly object[] = [{ name: 'gw' }]): Promise<string> =>
      answer(
        server.post(routes, {
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'HTTPRoute',
          metadata: { generateName: 'r-' },
          spec: { parentRefs, rules: [rule] },
        }),
      );
    const backendRefs = [{ name: 'svc', port: 80 }];
    expect(await route({ backendRefs })).toBe('201');
    expect(await route({ backendRefs: [{ name: 'svc' }] })).toBe(
      'spec.rules[0].backendRefs[0]: Invalid value: Must have port for Service reference',
    );
    expect(await route({ matches: [{ path: { type: 'PathPrefix', value: '/a//b' } }], backendRefs })).toBe(
      "spec.rules[0].matches[0].path: Invalid value: must not contain '//' when type one of ['Exact', 'PathPrefix']",
    );
    expect(await route({ backendRefs }, [{ name: 'gw' }, { name: 'gw' }])).toMatch(
      /^spec\.parentRefs: Invalid value: sectionName (?:or port )?must be unique when parentRefs/,
    );
    const redirect = { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } };
    expect(await route({ filters: [redirect], backendRefs })).toBe(
      'spec.rules[0]: Invalid value: RequestRedirect filter must not be used together with backendRefs',
    );
    expect(await route({ filters: [redirect, redirect] })).toContain(
      'spec.rules[0].filters: Invalid value: RequestRedirect filter cannot be repeated',
    );
  });

  it.each(['gateway-api-gateways', 'gateway-api-gatewayclasses', 'cert-manager-certificates', 'cert-manager-orders'])(
    'API-471 %s is accepted',
    async (name) => {
      await establish(server, read(name));
    },
  );

  it('API-471 the controller of a GatewayClass cannot be changed', async () => {
    await establish(server, read('gateway-api-gatewayclasses'));
    const path = '/apis/gateway.networking.k8s.io/v1/gatewayclasses';
    const gatewayClass = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'c' },
      spec: { controllerName: 'example.com/one' },
    };
    const { json } = await server.post(path, gatewayClass);
    expect(await answer(server.put(`${path}/c`, { ...json, spec: { controllerName: 'example.com/two' } }))).toBe(
      'spec.controllerName: Invalid value: "example.com/two": field is immutable',
    );
  });
});
