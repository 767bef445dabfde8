import { beforeAll, describe, expect, it } from 'vitest';
import { decodeProtobuf } from '../../api/codec/protobuf/protobuf.ts';
import type { ListOptions, ListResult } from '../storage/interface.ts';
import { configMaps, type Json, startTestServer, type TestServer } from './test-server.ts';

/** Long lists: in every format, the answer is sent while it is encoded, and is never in memory as a whole. */
const COUNT = 20_000;
const FILLER = 'x'.repeat(600);
/** Maximum size of the part of an answer that may be in memory: a chunk, or a batch of items in protobuf. */
const LARGEST_PIECE = 512 * 1024;
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

let server: TestServer;
/** Stored values that were read since this was last set to zero. */
let looked = 0;

beforeAll(async () => {
  server = await startTestServer();
  const { json } = await server.post(configMaps, {
    metadata: { name: 'pattern', annotations: { filler: FILLER } },
  });
  const { kv } = await server.store.get('/registry/core/configmaps/default/pattern');
  if (kv === undefined) throw new Error(`no pattern: ${JSON.stringify(json)}`);
  const pattern = Buffer.from(kv.value).toString();
  for (let i = 1; i < COUNT; i++) {
    const name = `cm-${String(i).padStart(6, '0')}`;
    await server.store.create(
      `/registry/core/configmaps/default/${name}`,
      Buffer.from(pattern.replaceAll('pattern', name)),
    );
  }
  const list = server.store.list.bind(server.store);
  server.store.list = async (prefix: string, options?: ListOptions): Promise<ListResult> => {
    const result = await list(prefix, options);
    const items = result.items.map((item) => ({
      ...item,
      get value() {
        looked++;
        return item.value;
      },
    }));
    return { ...result, items };
  };
});

const namesIn = (items: readonly Json[]): (string | undefined)[] => items.map(({ metadata }) => metadata?.name);

describe('a list of twenty thousand', () => {
  it.each([
    ['application/json', (bytes: Buffer) => namesIn((JSON.parse(bytes.toString()) as Json).items)],
    [`application/json;${PARTIAL}`, (bytes: Buffer) => namesIn((JSON.parse(bytes.toString()) as Json).items)],
    [TABLE, (bytes: Buffer) => namesIn((JSON.parse(bytes.toString()) as Json).rows.map(({ object }) => object))],
    [PROTOBUF, (bytes: Buffer) => namesIn((decodeProtobuf(bytes) as Json).items)],
    [`${PROTOBUF};${PARTIAL}`, (bytes: Buffer) => namesIn((decodeProtobuf(bytes) as Json).items)],
  ])('API-091 API-097 as %s leaves in pieces', async (accept, names) => {
    looked = 0;
    const { status, body } = await server.send('GET', `${configMaps}?resourceVersion=0`, { headers: { accept } });
    expect(status).toBe(200);
    expect(body).not.toBeInstanceOf(Uint8Array);
    // Protobuf is measured first; the other formats have read only the items that they send next.
    if (!accept.startsWith(PROTOBUF)) expect(looked).toBeLessThan(COUNT / 5);
    let largest = 0;
    const pieces: Uint8Array[] = [];
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      largest = Math.max(largest, piece.length);
      pieces.push(piece);
    }
    expect(largest).toBeLessThan(LARGEST_PIECE);
    const found = names(Buffer.concat(pieces));
    expect([found.length, found[0], found.at(-1), new Set(found).size]).toEqual([COUNT, 'cm-000001', 'pattern', COUNT]);
  });

  it('API-091 a reader that leaves early ends the work', async () => {
    looked = 0;
    const { body } = await server.send('GET', configMaps, { headers: { accept: TABLE } });
    for await (const _piece of body as AsyncIterable<Uint8Array>) break;
    const before = looked;
    await new Promise((resolve) => setImmediate(resolve));
    expect(looked).toBe(before);
    expect(before).toBeLessThan(COUNT / 5);
  });

  it('API-129 a watch that begins with it holds no second list', async () => {
    const target = `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const controller = new AbortController();
    const { body } = await server.send('GET', target, { signal: controller.signal });
    let [lines, largest] = [0, 0];
    let end = '';
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      const text = Buffer.from(piece).toString();
      largest = Math.max(largest, piece.length);
      lines += text.split('\n').length - 1;
      end = `${end}${text}`.slice(-2_000);
      if (lines > COUNT) break;
    }
    controller.abort();
    expect(lines).toBe(COUNT + 1);
    expect(end).toContain('"k8s.io/initial-events-end":"true"');
    expect(largest).toBeLessThan(2 * LARGEST_PIECE);
  });
});
