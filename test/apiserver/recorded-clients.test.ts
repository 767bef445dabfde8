import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeProtobuf, encodeProtobuf } from '../../src/api/codec/protobuf/protobuf.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { type Answer, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { until } from '../program/until.ts';

/**
 * Requests that a real operator on controller-runtime sent, byte for byte, sent again. They were recorded at the operator's transport while
 * it ran against this server; identities and versions, which are new in each run, replace the recorded ones. The answers must be those with
 * which the operator continued.
 */
interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  /** Text, or bytes of protobuf. */
  readonly body?: string;
  readonly base64?: string;
  readonly answer: {
    readonly status: number;
    readonly contentType: string;
    readonly body?: string;
    readonly base64?: string;
  };
}

interface Recording {
  readonly client: string;
  readonly exchanges: readonly Exchange[];
}

const recording = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/controller-runtime.json'), 'utf8'),
) as Recording;

let server: TestServer;
/** Recorded uid or resourceVersion to that of this run. */
const now = new Map<string, string>();

beforeAll(async () => {
  server = await startTestServer();
});

function parsed(bytes: Uint8Array): KubeObject | undefined {
  if (bytes.length === 0) return undefined;
  const text = Buffer.from(bytes);
  if (text.subarray(0, 4).toString('latin1') === 'k8s\0') return decodeProtobuf(bytes);
  return text[0] === 0x7b ? (JSON.parse(text.toString()) as KubeObject) : undefined;
}

const recordedBytes = ({ body, base64 }: { body?: string; base64?: string }): Buffer =>
  base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(base64, 'base64');

/** The same tree with identities of this run; itself when it has none. */
function translated(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return key === 'uid' || key === 'resourceVersion' ? (now.get(value) ?? value) : value;
  if (Array.isArray(value)) return value.map((item) => translated(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, translated(member, name)]));
}

function remember(recorded: KubeObject | undefined, live: KubeObject | undefined): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    const [before, after] = [recorded?.metadata?.[field], live?.metadata?.[field]];
    if (before !== undefined && after !== undefined) now.set(before, after);
  }
}

/** The body as this run has to send it: the recorded bytes unless they name something of the recorded run. */
async function bodyOf(exchange: Exchange): Promise<Buffer | undefined> {
  const bytes = recordedBytes(exchange);
  if (bytes.length === 0) return undefined;
  const object = parsed(bytes);
  const version = object?.metadata?.resourceVersion;
  if (exchange.method === 'PUT' && version !== undefined && !now.has(version)) {
    // It came to the operator by its watch.
    const current = (await server.get(exchange.target)).json.metadata?.resourceVersion;
    if (current !== undefined) now.set(version, current);
  }
  const next = translated(object);
  if (JSON.stringify(next) === JSON.stringify(object)) return bytes;
  return exchange.base64 === undefined
    ? Buffer.from(JSON.stringify(next))
    : Buffer.from(encodeProtobuf(next as KubeObject));
}

/** One exchange; a watch is left after its first bytes, a read is asked again until what was made before shows. */
async function again(exchange: Exchange): Promise<Answer> {
  const { method, target, headers } = exchange;
  const body = await bodyOf(exchange);
  if (target.includes('watch=true')) {
    const controller = new AbortController();
    const response = await server.send(method, target, { headers, signal: controller.signal });
    const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const { value } = await chunks.next();
    controller.abort();
    const bytes = (value ?? new Uint8Array()) as Uint8Array;
    return { ...response, bytes, text: '', json: {} as Answer['json'] };
  }
  return until(`${method} ${target} answers ${exchange.answer.status}`, async () => {
    const answer = await server.request(method, target, { headers, ...(body === undefined ? {} : { body }) });
    return method !== 'GET' || answer.status === exchange.answer.status ? answer : undefined;
  });
}

describe(recording.client, () => {
  it.each(recording.exchanges.map((exchange, index) => [index, exchange.method, exchange.target, exchange] as const))(
    'API-560 API-561 %i: %s %s',
    async (_index, _method, _target, exchange) => {
      const live = await again(exchange);
      const { answer } = exchange;
      expect([live.status, live.headers['content-type'], live.text.slice(0, 300)]).toEqual([
        answer.status,
        answer.contentType,
        live.text.slice(0, 300),
      ]);
      if (exchange.target.includes('watch=true')) return expect(live.bytes.length).toBeGreaterThan(0);
      const recorded = parsed(recordedBytes(answer));
      if (recorded === undefined) return;
      const object = parsed(live.bytes);
      remember(recorded, object);
      expect(object).toMatchObject({ kind: recorded.kind, apiVersion: recorded.apiVersion });
      expect(object?.['reason']).toEqual(recorded['reason']);
      expect(Object.keys(object ?? {}).toSorted()).toEqual(Object.keys(recorded).toSorted());
      expect(object?.metadata?.finalizers).toEqual(recorded.metadata?.finalizers);
      expect(object?.metadata?.ownerReferences).toEqual(translated(recorded.metadata?.ownerReferences));
      // In another second entries come in another order.
      const managers = (of: KubeObject | undefined): unknown =>
        of?.metadata?.managedFields
          ?.map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`)
          .toSorted();
      expect(managers(object)).toEqual(managers(recorded));
    },
  );

  it('recorded what operators do: aggregated discovery, WatchList, leases, apply, status, finalizers, conflicts', () => {
    const seen = (method: string, target: RegExp, status: number): boolean =>
      recording.exchanges.some(
        (exchange) => exchange.method === method && target.test(exchange.target) && exchange.answer.status === status,
      );
    expect(seen('GET', /sendInitialEvents=true/, 200)).toBe(true);
    expect(seen('POST', /leases/, 201)).toBe(true);
    expect(seen('POST', /deployments/, 201)).toBe(true);
    expect(seen('PATCH', /configmaps\/one\?fieldManager=shop-operator&force=true/, 201)).toBe(true);
    expect(seen('PATCH', /shops\/one\/status/, 200)).toBe(true);
    expect(seen('PUT', /shops\/one/, 409)).toBe(true);
    expect(seen('DELETE', /shops\/one/, 200)).toBe(true);
  });
});
