import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Json, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { definition, establish, version, widgets } from './definition-fixture.ts';

/** Server-side apply of null, `{}` and `[]`, as a real kube-apiserver 1.36 answers (API-210, API-214). */
const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        d: { type: 'string', default: 'x' },
        n: { type: 'string', nullable: true },
        i: { 'x-kubernetes-int-or-string': true },
        o: { type: 'object', properties: { h: { type: 'boolean' } } },
        r: { type: 'object', required: ['h'], properties: { h: text } },
        l: { type: 'array', items: text },
        m: { type: 'object', additionalProperties: text },
        p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
  await establish(server, definition({ versions: [version({ schema })] }));
});

const at = `${widgets}/w`;
const body = (spec: unknown): Json =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec }) as unknown as Json;
const apply = (spec: unknown, manager = 'one', force = false): Promise<Answer> =>
  server.request('PATCH', `${at}?fieldManager=${manager}&force=${force}`, {
    body: JSON.stringify(body(spec)),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
const stored = async (): Promise<unknown> => (await server.get(at)).json['spec'];
const fieldsOf = ({ json }: Answer, manager: string): unknown =>
  json.metadata?.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

describe('an apply of null', () => {
  const refused = (field: string, type: string): string =>
    `Widget.example.com "w" is invalid: spec.${field}: Invalid value: "null": spec.${field} in body must be of type ${type}: "null"`;

  it.each([
    ['a', 'string'],
    ['o', 'object'],
    ['l', 'array'],
    ['m', 'object'],
  ])('is a 422 where spec.%s may not be null, with force too, and changes nothing', async (field, type) => {
    expect((await apply({ [field]: null })).json.message).toBe(refused(field, type));
    expect((await server.get(at)).status).toBe(404);
    await apply({ n: 'set' });
    for (const force of [false, true]) {
      const { status, json } = await apply({ [field]: null }, 'two', force);
      expect([status, json.message]).toEqual([422, refused(field, type)]);
    }
    expect(await stored()).toEqual({ d: 'x', n: 'set' });
  });

  it('takes nothing away that another manager has', async () => {
    await apply({ a: 'mine' });
    expect((await apply({ a: null }, 'two', true)).status).toBe(422);
    expect(await stored()).toEqual({ a: 'mine', d: 'x' });
  });

  it('is kept where null may be, and stands for the default where there is one', async () => {
    expect((await apply({ n: null, d: null })).status).toBe(201);
    expect(await stored()).toEqual({ n: null, d: 'x' });
  });

  it.each(['POST', 'PUT', 'merge patch'] as const)('is dropped by %s', async (how) => {
    if (how === 'POST') await server.post(widgets, body({ a: null, o: { h: true } }));
    else await server.post(widgets, body({ a: 'there', o: { h: true } }));
    const { resourceVersion } = (await server.get(at)).json.metadata ?? {};
    const whole = { ...body({ a: null, o: { h: true } }), metadata: { name: 'w', resourceVersion } };
    if (how === 'PUT') await server.put(at, whole);
    if (how === 'merge patch') await server.patch(at, { spec: { a: null } });
    expect(await stored()).toEqual({ d: 'x', o: { h: true } });
  });
});

describe('an apply of something empty', () => {
  it.each([
    ['o', { h: true }],
    ['m', { k: 'v' }],
    ['p', { anything: { goes: 1 } }],
  ])('keeps spec.%s, empty, when the same manager had something in it', async (field, before) => {
    await apply({ [field]: before });
    const { status, json } = await apply({ [field]: {} });
    expect([status, json['spec']]).toEqual([200, { d: 'x', [field]: {} }]);
  });

  it('keeps the spec, empty but for what is defaulted', async () => {
    await apply({ o: { h: true } });
    expect((await apply({})).json['spec']).toEqual({ d: 'x' });
  });

  it('takes the field away when the manager says nothing of it any more', async () => {
    await apply({ a: 'one', o: { h: true } });
    expect((await apply({ a: 'one' })).json['spec']).toEqual({ a: 'one', d: 'x' });
  });

  it('leaves the object to the manager who created it, though another took what was in it', async () => {
    await server.post(`${widgets}?fieldManager=creator`, body({ o: { h: true } }));
    await apply({ o: { h: false } }, 'two', true);
    const { json } = await apply({ a: 'x' }, 'two');
    expect(json['spec']).toEqual({ a: 'x', d: 'x', o: {} });
  });

  it('is a 422 where what is left lacks a field that is required', async () => {
    await server.post(`${widgets}?fieldManager=creator`, body({ r: { h: '1' } }));
    await apply({ r: { h: '2' } }, 'two', true);
    const { status, json } = await apply({ a: 'x' }, 'two');
    expect([status, json.message]).toEqual([422, 'Widget.example.com "w" is invalid: spec.r.h: Required value']);
  });

  it('makes the manager own what is empty itself, and nothing in an empty list', async () => {
    const answer = await apply({ o: {}, m: {}, l: [] });
    expect(fieldsOf(answer, 'one')).toEqual({ 'f:spec': { 'f:l': {}, 'f:m': {}, 'f:o': {} } });
  });
});
