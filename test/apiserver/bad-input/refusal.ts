import { beforeAll, expect, it } from 'vitest';
import { customResource } from '../../../src/apiserver/test/custom-resource.ts';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../../src/apiserver/test/test-server.ts';

/**
 * Bad input answers with a clear error in the field's own words, changes nothing and harms nobody: one row a way to be wrong.
 * All rows of a file share one server, so each also shows that the ones before it did no harm.
 */

export interface BadRequest {
  /** POST unless given. */
  readonly method?: string;
  readonly target: string;
  /** A value other than text and bytes is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Refusal {
  readonly code: number;
  /** Absent: the untyped 500, which has no reason. */
  readonly reason?: string;
  readonly message: string | RegExp;
}

export type Row = readonly [what: string, request: BadRequest, expected: Refusal];

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A refusal with the reason that goes with the code. */
export function refusal(code: number, message: string | RegExp): Refusal {
  const reason = reasons[code];
  return reason === undefined ? { code, message } : { code, reason, message };
}

export function startingWith(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}

export const ns = '/api/v1/namespaces/default';
export const deployments = '/apis/apps/v1/namespaces/default/deployments';
export const widgets = '/apis/example.com/v1/namespaces/default/widgets';
/** The object every row reads back. */
export const WITNESS = `${configMaps}/witness`;

export const JSON_TYPE = { 'content-type': 'application/json' };
export const YAML_TYPE = { 'content-type': 'application/yaml' };
export const PROTOBUF_TYPE = { 'content-type': 'application/vnd.kubernetes.protobuf' };

/** A create of a ConfigMap. */
export function post(body: unknown, headers?: Readonly<Record<string, string>>): BadRequest {
  return { target: configMaps, body, ...(headers === undefined ? {} : { headers }) };
}

/** A server with the witness and one Deployment `d`, Pod `p`, ServiceAccount `s` and custom Widget `w`. */
export class BadInputServer {
  #server: TestServer | undefined;

  constructor() {
    beforeAll(() => this.#start());
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error('not started yet');
    return this.#server;
  }

  /** One test a row. */
  readonly refuses = (title: string, rows: readonly Row[]): void => {
    it.each(rows)(`${title}: %s`, async (_what, request, expected) => {
      await expectRefused(this.server, request, expected);
    });
  };

  async #start(): Promise<void> {
    const server = await startTestServer();
    server.server.resources.add(
      customResource({ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true }),
    );
    const labels = { app: 'x' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const made = await Promise.all([
      server.post(configMaps, configMap('witness', { metadata: { labels }, data: { k: 'v' } })),
      server.post(deployments, { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } }),
      server.post(`${ns}/pods`, { metadata: { name: 'p' }, spec: template.spec }),
      server.post(`${ns}/serviceaccounts`, { metadata: { name: 's' } }),
      server.post(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { a: 1 } }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    this.#server = server;
  }
}

/**
 * Sends the request and expects the refusal as a well-formed Status; then that nothing was written and that the server still
 * answers with what it held before.
 */
async function expectRefused(server: TestServer, request: BadRequest, expected: Refusal): Promise<Json> {
  const before = await server.store.currentRevision();
  const witness = (await server.get(WITNESS)).text;
  const { method = 'POST', target, body, headers } = request;
  const answer = await server.request(method, target, {
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
  const { code, reason, message } = expected;
  expect({ code: answer.status, message: answer.json?.message ?? answer.text }).toEqual({
    code,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
  expect(answer.headers['content-type']).toBe('application/json');
  const { details, reason: given, ...rest } = answer.json;
  expect(rest).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: expect.any(String),
    code,
  });
  expect(given).toBe(reason);
  if (details !== undefined) expect(details).toBeTypeOf('object');
  expect(await server.store.currentRevision()).toBe(before);
  const after = await server.get(WITNESS);
  expect([after.status, after.text]).toEqual([200, witness]);
  return answer.json;
}
