import { get } from 'node:https';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Readable } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { RealTurnsClock } from './real-turns-clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';

/**
 * Watchers that read more slowly than others write, over real connections: by how much they may be behind before they are cut
 * (docs/up.md, "Bounds": 64 MiB of events), what their client sees of it, and that it can go on from where it was. No time passes here, so nobody
 * is cut for taking nothing (`connections.slow.test.ts` has that).
 */
const KEPT_BYTES = 64 * 1024 * 1024;
const OBJECT_BYTES = 900_000;
/** An event holds the object and what it was before. */
const EVENTS_KEPT = Math.floor(KEPT_BYTES / (2 * OBJECT_BYTES));
/** The most events that the buffers of a connection may hold, and that are on their way when the buffers are full; a generous bound. */
const EVENTS_UNDER_WAY = 15;

let certificates: ServingCertificates;
let server: TestServer;
let listener: HttpServer;
let session: ClientHttp2Session;
let from: string;

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

beforeEach(async () => {
  const clock = new RealTurnsClock();
  server = await startTestServer({ clock });
  listener = await serve({
    handler: server.server.handler,
    host: '127.0.0.1',
    port: 0,
    clock,
    tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
  });
  session = connect(listener.url, { ca: certificates.caPem });
  session.on('error', () => undefined);
  const { json } = await server.post(configMaps, configMap('a'));
  from = json.metadata.resourceVersion ?? '';
  return async () => {
    session.destroy();
    const closed = listener.close();
    clock.advance(500);
    await closed;
    await server.server.stop();
  };
});

interface Opened {
  readonly body: Readable;
  /** Whether the end of the answer was that of a whole one. */
  whole(): boolean;
}

const transports = {
  'HTTP/2': (path: string): Promise<Opened> => {
    const body = session.request({ ':path': path });
    return Promise.resolve({ body, whole: () => body.rstCode === 0 });
  },
  'HTTP/1.1': (path: string): Promise<Opened> =>
    new Promise((settle, reject) => {
      const options = { host: '127.0.0.1', port: listener.port, path, ca: certificates.caPem, agent: false };
      get(options, (body) => settle({ body, whole: () => body.complete })).on('error', reject);
    }),
};

class Watcher {
  readonly events: Json[] = [];
  ended: 'no' | 'whole' | 'cut' = 'no';
  readonly body: Readable;

  constructor({ body, whole }: Opened) {
    this.body = body;
    let rest: Buffer[] = [];
    body.on('error', () => undefined);
    body.on('close', () => (this.ended = whole() ? 'whole' : 'cut'));
    body.on('data', (chunk: Buffer) => {
      let at = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, at)) {
        this.events.push(JSON.parse(Buffer.concat([...rest, chunk.subarray(at, end)]).toString()) as Json);
        [rest, at] = [[], end + 1];
      }
      rest.push(chunk.subarray(at));
    });
  }

  get numbers(): string[] {
    return this.events.map(({ object }) => (object as Json & { data: Record<string, string> }).data['number'] ?? '');
  }

  /** resourceVersion of the last event. */
  get last(): string {
    return this.events.at(-1)?.object.metadata.resourceVersion ?? '';
  }

  async sees(count: number): Promise<void> {
    await expect.poll(() => this.events.length, { interval: 5 }).toBe(count);
  }
}

async function watch(open: (path: string) => Promise<Opened>, revision: string): Promise<Watcher> {
  return new Watcher(await open(`${configMaps}?watch=1&resourceVersion=${revision}`));
}

const filler = 'x'.repeat(OBJECT_BYTES);
async function write(number: number): Promise<void> {
  const value = { number: String(number), filler };
  const { status } = await server.patch(`${configMaps}/a`, [{ op: 'add', path: '/data', value }], 'json');
  expect(status).toBe(200);
}

const upTo = (count: number): string[] => Array.from({ length: count }, (_, number) => String(number));

describe.each(Object.entries(transports))('a watcher over %s that stops reading for a while', (_name, open) => {
  it('API-136 is cut when it is behind by more than is kept: its answer ends, and a new watch goes on where it was', async () => {
    const slow = await watch(open, from);
    const other = await watch(transports['HTTP/2'], from);
    await write(0);
    await Promise.all([slow.sees(1), other.sees(1)]);
    slow.body.pause();
    const all = 1 + EVENTS_UNDER_WAY + EVENTS_KEPT + 10;
    for (let number = 1; number < all; number++) {
      await write(number);
      // The other watcher gets each event at once, whatever the slow one does.
      await other.sees(number + 1);
    }
    expect(other.numbers).toEqual(upTo(all));
    expect(slow.ended).toBe('no');
    slow.body.resume();
    await expect.poll(() => slow.ended).not.toBe('no');
    expect(slow.ended).toBe('whole');
    expect(slow.events.length).toBeLessThan(all - EVENTS_KEPT);
    expect(slow.numbers).toEqual(upTo(slow.events.length));
    expect(slow.events.every(({ type }) => String(type) === 'MODIFIED')).toBe(true);
    const again = await watch(open, slow.last);
    await again.sees(all - slow.events.length);
    expect([...slow.numbers, ...again.numbers]).toEqual(upTo(all));
    await write(all);
    await again.sees(all + 1 - slow.events.length);
    expect([again.ended, other.ended]).toEqual(['no', 'no']);
  });

  it('API-123 API-136 gets 410 from the new watch when history has gone on as well', async () => {
    const slow = await watch(open, from);
    await write(0);
    await slow.sees(1);
    slow.body.pause();
    const all = 1 + EVENTS_UNDER_WAY + EVENTS_KEPT + 10;
    for (let number = 1; number < all; number++) await write(number);
    await server.store.compact(await server.store.currentRevision());
    slow.body.resume();
    await expect.poll(() => slow.ended).toBe('whole');
    const again = await watch(open, slow.last);
    await expect.poll(() => again.ended).toBe('whole');
    expect(again.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    // So it lists, and watches from there.
    const { json } = await server.get(configMaps);
    const anew = await watch(open, json.metadata.resourceVersion ?? '');
    await write(all);
    await anew.sees(1);
    expect(anew.numbers).toEqual([String(all)]);
  });

  it('API-136 is not cut while it is behind by less, and gets everything', async () => {
    const slow = await watch(open, from);
    await write(0);
    await slow.sees(1);
    slow.body.pause();
    const all = 1 + EVENTS_KEPT - 2;
    for (let number = 1; number < all; number++) await write(number);
    slow.body.resume();
    await slow.sees(all);
    await write(all);
    await slow.sees(all + 1);
    expect(slow.numbers).toEqual(upTo(all + 1));
    expect(slow.ended).toBe('no');
  });
});
