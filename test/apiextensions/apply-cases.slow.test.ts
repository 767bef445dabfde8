import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Json, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { definition, establish, version, widgets } from './definition-fixture.ts';

interface Step {
  readonly do: 'post' | 'put' | 'merge' | 'apply';
  readonly as: string;
  readonly force?: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Requests about one object, and the answer to the last of them; `spec` is what is stored then, without defaults that nobody wrote over. */
interface Case {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly expect: {
    readonly code: number;
    readonly spec?: Readonly<Record<string, unknown>>;
    /** The object is there without any spec. */
    readonly gone?: true;
    readonly message?: string;
    readonly causes?: readonly string[];
    /** By manager; null: it has no entry. */
    readonly owns?: Readonly<Record<string, unknown>>;
  };
}

const { cases } = JSON.parse(readFileSync(new URL('apply-cases.json', import.meta.url), 'utf8')) as { cases: Case[] };

const text = { type: 'string' };
const properties = {
  str: text,
  strd: { ...text, default: 'x' },
  strn: { ...text, nullable: true },
  strnd: { ...text, nullable: true, default: 'x' },
  int: { type: 'integer' },
  intd: { type: 'integer', default: 3 },
  num: { type: 'number' },
  bool: { type: 'boolean' },
  ios: { 'x-kubernetes-int-or-string': true },
  obj: { type: 'object', properties: { h: { type: 'boolean' } } },
  objd: { type: 'object', default: {}, properties: { h: { type: 'boolean', default: true } } },
  objr: { type: 'object', required: ['h'], properties: { h: text } },
  map: { type: 'object', additionalProperties: text },
  list: { type: 'array', items: text },
  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  ml: {
    type: 'array',
    items: { type: 'object', required: ['k'], properties: { k: text, v: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
  pre: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  emb: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
};
const defaults = { strd: 'x', strnd: 'x', intd: 3, objd: { h: true } };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  await establish(server, definition({ versions: [version({ schema })] }));
});

async function play(name: string, { do: how, as, force = false, spec }: Step): Promise<Answer> {
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec };
  const at = `${widgets}/${name}`;
  if (how === 'post') return server.post(`${widgets}?fieldManager=${as}`, body);
  if (how === 'merge') return server.patch(`${at}?fieldManager=${as}`, { spec });
  if (how === 'put') {
    const { resourceVersion } = (await server.get(at)).json.metadata ?? {};
    return server.put(`${at}?fieldManager=${as}`, { ...body, metadata: { name, resourceVersion } });
  }
  return server.request('PATCH', `${at}?fieldManager=${as}&force=${force}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
}

const fieldsOf = (json: Json, manager: string): unknown =>
  json.metadata?.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

describe('API-210 API-214 nulls, empty values and managers, in the answers that kube-apiserver 1.36 gives by its sources', () => {
  it('has at least two hundred cases, each once', () => {
    expect(cases.length).toBeGreaterThanOrEqual(200);
    expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  });

  it.each(cases.map((each, index) => ({ ...each, index })))('$title', async ({ steps, expect: expected, index }) => {
    const name = `w${index}`;
    let last: Answer | undefined;
    for (const [step, each] of steps.entries()) {
      last = await play(name, each);
      if (step < steps.length - 1) expect(last.status, last.json.message).toBeLessThan(300);
    }
    const json = last?.json as Json;
    expect(last?.status, json.message).toBe(expected.code);
    if (expected.message !== undefined) {
      expect(json.message).toBe(`Widget.example.com "${name}" is invalid: ${expected.message}`);
    }
    if (expected.causes !== undefined) {
      expect(json.details?.causes?.map(({ field }) => field)).toEqual(expected.causes);
    }
    const stored = await server.get(`${widgets}/${name}`);
    if (expected.gone === true) expect(stored.json['spec']).toBeUndefined();
    else if (expected.spec === undefined) expect(stored.status).toBe(404);
    else expect(stored.json['spec']).toEqual({ ...defaults, ...expected.spec });
    for (const [manager, fields] of Object.entries(expected.owns ?? {})) {
      expect(fieldsOf(stored.json, manager) ?? null).toEqual(fields);
    }
  });
});
