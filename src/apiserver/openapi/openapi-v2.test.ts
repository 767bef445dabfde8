import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { HttpHeaders, HttpResponse } from '../../base/http-message.ts';
import type { JsonSchema } from './json-schema.ts';
import { OpenApiHandler } from './openapi-handler.ts';
import { readOpenApiV2 } from './v2-reader.fixture.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const PROTOBUF_BEFORE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

interface V2Document {
  readonly swagger: string;
  readonly paths: Record<string, Record<string, V2Operation>>;
  readonly definitions: Record<string, JsonSchema>;
}

interface V2Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly consumes: readonly string[];
}

const handler = new OpenApiHandler({ resources: () => builtinResources() });

function ask(headers: HttpHeaders = {}, from = handler, method = 'GET'): HttpResponse {
  const response = from.handle('/openapi/v2', { method, target: '/openapi/v2?timeout=32s', headers });
  if (response === undefined) throw new Error('nothing there');
  return response;
}

const bytesOf = ({ body }: HttpResponse): Uint8Array => body as Uint8Array;
const documentOf = (response: HttpResponse): V2Document =>
  JSON.parse(Buffer.from(bytesOf(response)).toString()) as V2Document;

describe('/openapi/v2', () => {
  const document = documentOf(ask());

  it.each([
    [{}, 200, 'application/json'],
    [{ accept: '*/*' }, 200, 'application/json'],
    [{ accept: 'application/json' }, 200, 'application/json'],
    [{ accept: PROTOBUF }, 200, PROTOBUF],
    [{ accept: PROTOBUF_BEFORE }, 200, PROTOBUF],
    [{ accept: `${PROTOBUF}, application/json;q=0.5` }, 200, PROTOBUF],
    [{ accept: `application/json, ${PROTOBUF};q=0.9` }, 200, 'application/json'],
    [{ accept: 'application/yaml' }, 406, 'application/json'],
  ])('API-418 for %j it is %d in %s', (headers, status, type) => {
    const response = ask(headers);
    expect([response.status, response.headers['content-type']]).toEqual([status, type]);
    expect(ask(headers, handler, 'POST').status).toBe(405);
  });

  it('API-418 has an ETag, the same for both forms, and is not sent to who has it', () => {
    const { etag } = ask().headers;
    expect(ask({ accept: PROTOBUF }).headers['etag']).toBe(etag);
    const answer = ask({ accept: PROTOBUF, 'if-none-match': String(etag) });
    expect([answer.status, bytesOf(answer).length]).toEqual([304, 0]);
  });

  it('API-418 is made once', () => {
    expect(ask().body).toBe(ask().body);
    expect(ask({ accept: PROTOBUF }).body).toBe(ask({ accept: PROTOBUF_BEFORE }).body);
  });

  it('API-418 is the same document if it is built in many turns of the event loop, once for all who ask meanwhile', async () => {
    const turned = new OpenApiHandler({ resources: () => builtinResources() });
    let turns = 0;
    const clock = {
      defer(fn: () => void): void {
        turns++;
        setImmediate(fn);
      },
    };
    const read = async (accept: string): Promise<HttpResponse['body']> => {
      const request = { method: 'GET', target: '/openapi/v2', headers: { accept } };
      return (await turned.handleInTurns(clock, '/openapi/v2', request))?.body ?? new Uint8Array();
    };
    const [one, other, binary] = await Promise.all([read('*/*'), read('*/*'), read(PROTOBUF)]);
    expect(turns).toBeGreaterThanOrEqual(50);
    expect(other).toBe(one);
    expect(Buffer.compare(bytesOf(ask()), one as Uint8Array)).toBe(0);
    expect(Buffer.compare(bytesOf(ask({ accept: PROTOBUF })), binary as Uint8Array)).toBe(0);
    expect(Buffer.from(one as Uint8Array).toString()).toBe(`${JSON.stringify(document)}\n`);
  });

  it('API-418 protobuf says what JSON says, every field of every message', () => {
    expect(readOpenApiV2(bytesOf(ask({ accept: PROTOBUF })))).toEqual(onWire(document));
  });

  it('API-418 every reference leads to a definition', () => {
    const text = Buffer.from(bytesOf(ask())).toString();
    const targets = new Set(Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, target]) => target));
    const known = new Set(Object.keys(document.definitions).map((name) => `#/definitions/${name}`));
    expect([...targets].filter((target) => !known.has(String(target)))).toEqual([]);
    expect(targets.size).toBeGreaterThan(400);
  });

  it('API-418 has none of the words that only v3 knows', () => {
    const words = new Set<string>();
    const walk = (value: unknown, key: string): void => {
      // Skips maps whose keys are names of fields, schemas or paths.
      if (key !== 'properties' && key !== 'definitions' && key !== 'paths' && typeof value === 'object') {
        for (const name of Object.keys(value ?? {})) if (!Array.isArray(value)) words.add(name);
      }
      for (const [name, inner] of Object.entries(value ?? {})) if (typeof inner === 'object') walk(inner, name);
    };
    walk(document, 'definitions');
    expect(
      ['oneOf', 'anyOf', 'allOf', 'not', 'nullable', 'components', 'content', 'requestBody'].filter((word) =>
        words.has(word),
      ),
    ).toEqual([]);
    expect(words.has('x-kubernetes-patch-merge-key')).toBe(true);
  });

  it('API-418 each kind that is served has exactly one definition that says so', () => {
    const counts = new Map<string, number>();
    for (const schema of Object.values(document.definitions)) {
      for (const { group, version, kind } of (schema['x-kubernetes-group-version-kind'] ?? []) as ResourceInfo[]) {
        const key = `${group}/${version}/${kind}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    for (const { group, version, kind } of builtinResources())
      expect([kind, counts.get(`${group}/${version}/${kind}`)]).toEqual([kind, 1]);
    expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
    expect(counts.get('apps/v1/DeleteOptions')).toBe(1);
    expect(counts.get('batch/v1/WatchEvent')).toBe(1);
  });

  it('API-418 kubectl finds in patch whether the server knows dry runs and field validation', () => {
    for (const info of builtinResources().filter(({ verbs }) => verbs.includes('patch'))) {
      const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`;
      const path = `${root}${info.namespaced ? '/namespaces/{namespace}' : ''}/${info.resource}/{name}`;
      const patch = document.paths[path]?.['patch'];
      expect([path, patch?.parameters?.map(({ name }) => name)]).toEqual([
        path,
        ['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force'],
      ]);
      expect(patch?.consumes).toContain('application/strategic-merge-patch+json');
    }
  });
});

describe('custom resources in /openapi/v2', () => {
  const deployment = builtinResources().find(({ resource }) => resource === 'deployments');
  if (deployment === undefined) throw new Error('no deployments');
  const { typeName: _, ...kind } = deployment;
  const widgets: ResourceInfo = {
    ...kind,
    group: 'stable.example.com',
    resource: 'widgets',
    kind: 'Widget',
    listKind: 'WidgetList',
    subresources: [],
  };

  function definitionOf(spec: object): unknown {
    return publishedOf({ type: 'object', properties: { spec } })?.properties?.['spec'];
  }

  function publishedOf(schema: object) {
    const custom = new OpenApiHandler({
      resources: () => [widgets],
      customSchema: () => schema as JsonSchema,
    });
    const document = documentOf(ask({}, custom));
    expect(readOpenApiV2(bytesOf(ask({ accept: PROTOBUF }, custom)))).toEqual(onWire(document));
    return document.definitions['com.example.stable.v1.Widget'];
  }

  it.each([
    [
      { type: 'string', pattern: '^a$', maxLength: 3, default: 'a' },
      { type: 'string', pattern: '^a$', maxLength: 3, default: 'a' },
    ],
    [
      { type: 'number', multipleOf: 0.5, minimum: -1.5, exclusiveMinimum: true },
      { type: 'number', multipleOf: 0.5, minimum: -1.5, exclusiveMinimum: true },
    ],
    [{ type: 'string', nullable: true, enum: ['a'] }, {}],
    [{ 'x-kubernetes-int-or-string': true }, { 'x-kubernetes-int-or-string': true }],
    [
      { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      { type: 'object', oneOf: [{ required: ['a'] }], properties: { a: { type: 'string' } } },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
      },
      { type: 'object', required: ['b'], properties: { a: {}, b: { type: 'string' } } },
    ],
    [{ type: 'object', additionalProperties: true }, { type: 'object' }],
    [
      { type: 'object', additionalProperties: { type: 'integer' } },
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ],
  ])('API-418 %j is said as %j', (schema, said) => {
    expect(definitionOf(schema)).toEqual(said);
  });

  it('API-418 a definition with unknown fields at its root is an object of its kind, and nothing else', () => {
    const schema = {
      description: 'Widgets.',
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { spec: { type: 'object' } },
    };
    expect(publishedOf(schema)).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'stable.example.com', version: 'v1', kind: 'Widget' }],
    });
  });

  it('API-418 a changed set of resources is another document', () => {
    let resources = builtinResources().filter(({ group }) => group === 'apps');
    const changing = new OpenApiHandler({ resources: () => resources });
    const before = ask({}, changing).headers['etag'];
    resources = [...resources, widgets];
    expect(ask({}, changing).headers['etag']).not.toBe(before);
    expect(documentOf(ask({}, changing)).definitions).toHaveProperty(['com.example.stable.v1.Widget']);
  });
});

/** The document without the values that protobuf cannot distinguish from absent ones: empty lists, texts and false. */
function onWire(value: unknown, key = ''): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  if (key === 'default' || key.startsWith('x-')) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, member]) => (name === 'default' || member !== false) && !(Array.isArray(member) && member.length === 0),
      )
      .map(([name, member]) => [
        name,
        Array.isArray(member) && name === 'parameters' ? member.map((each) => onWire(each)) : onWire(member, name),
      ]),
  );
}
