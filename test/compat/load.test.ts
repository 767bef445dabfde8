import { connect, type ClientHttp2Session } from 'node:http2';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { readKubeconfig } from '../program/read-kubeconfig.ts';

/**
 * The built program with a thousand watchers and as many writes as the machine takes, durable, for a minute
 * (`KUBEGC_LOAD_SECONDS` for another time). Nothing may be lost, doubled or out of order, nobody may be cut off who reads, and
 * memory stays within what the limits say: history 256 MiB, events kept for watches 64 MiB, and what a busy process needs.
 */
const seconds = Number(process.env['KUBEGC_LOAD_SECONDS'] ?? '60');
const configMaps = '/api/v1/namespaces/default/configmaps';
const GROUPS = 99;
const WATCHERS = 1_000;
const SESSIONS = 20;
const WRITERS = 64;
/** The most that the data of a ConfigMap may have, less what the patch adds. */
const LARGE = 1024 * 1024 - 16;
/** Events that a watcher of everything may still have to read. */
const MOST_BEHIND = 3_000;
const MEMORY_LIMIT = 900 * 1024 * 1024;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let program: KubegcProcess;
let kubeconfig: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  program = new KubegcProcess([
    'up',
    '--listen=127.0.0.1:0',
    `--data-dir=${join(directory.path, 'data')}`,
    `--write-kubeconfig=${kubeconfig}`,
    '--log-level=warn',
  ]);
  await program.ready();
});

afterAll(async () => {
  await program.stop();
  await directory[Symbol.asyncDispose]();
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

class Session {
  readonly #session: ClientHttp2Session;
  readonly #authorization: string;

  constructor() {
    const { origin, ca, authorization } = readKubeconfig(kubeconfig);
    this.#authorization = authorization;
    this.#session = connect(origin.href, { ca, settings: { initialWindowSize: 1 << 20 } });
    this.#session.on('error', () => undefined);
  }

  watch(path: string): Watcher {
    return new Watcher(this.#session.request({ ':path': path, authorization: this.#authorization }));
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Reads the lines of a watch; counts them, and looks closer only when asked to, since a thousand of them share two cores. */
class Watcher {
  events = 0;
  ended = false;
  /** Last version of each object, and what was wrong about the order. */
  readonly wrong: string[] = [];
  readonly #versions = new Map<string, number>();
  #look = false;
  #rest = '';
  readonly #stream: ReturnType<ClientHttp2Session['request']>;
  readonly opened: Promise<number>;

  constructor(stream: ReturnType<ClientHttp2Session['request']>) {
    this.#stream = stream;
    this.opened = new Promise((settle, reject) => {
      stream.once('response', (headers) => settle(headers[':status'] ?? 0));
      stream.once('error', reject);
    });
    stream.on('close', () => (this.ended = true));
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) this.events++;
      if (this.#look) this.#read(chunk.toString());
    });
  }

  /** Each event is read: types and versions of each object must follow each other. */
  lookClosely(): this {
    this.#look = true;
    return this;
  }

  stopReading(): void {
    this.#stream.pause();
  }

  goOnReading(): void {
    this.#stream.resume();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as {
        type: string;
        object: { metadata: { name: string; resourceVersion: string } };
      };
      const { name, resourceVersion } = object.metadata;
      const [before, now] = [this.#versions.get(name), Number(resourceVersion)];
      if ((type === 'ADDED') !== (before === undefined)) this.wrong.push(`${type} of ${name} after ${before}`);
      if (before !== undefined && now <= before) this.wrong.push(`${name} at ${now} after ${before}`);
      if (type === 'DELETED') this.#versions.delete(name);
      else this.#versions.set(name, now);
    }
  }
}

describe('a minute of load', () => {
  it(
    'API-120 API-136 a thousand watchers see every durable write once and in order, and a reader that stops stops nobody else',
    { timeout: (seconds + 120) * 1000 },
    async () => {
      const sessions = Array.from({ length: SESSIONS }, () => new Session());
      const clients = Array.from({ length: WRITERS }, () => new ApiClient(kubeconfig));
      const first = await clients[0]!.send('GET', `${configMaps}?limit=1`);
      const from = (first.body['metadata'] as { resourceVersion: string }).resourceVersion;
      const watched = (index: number): string => {
        const selector = index < GROUPS * 10 ? `group%3D${index % GROUPS}` : 'load%3Dyes';
        return `${configMaps}?watch=true&resourceVersion=${from}&labelSelector=${selector}`;
      };
      const watchers = Array.from({ length: WATCHERS }, (_, index) =>
        sessions[index % SESSIONS]!.watch(watched(index)),
      );
      for (const [index, watcher] of watchers.entries()) if (index < 100 || index >= 990) watcher.lookClosely();
      const stuckSession = new Session();
      const stuck = stuckSession.watch(watched(WATCHERS - 1));
      expect(new Set(await Promise.all([...watchers, stuck].map(({ opened }) => opened)))).toEqual(new Set([200]));
      stuck.stopReading();

      const expected = Array.from({ length: GROUPS }, () => 0);
      const wrong: string[] = [];
      let [most, written] = [0, 0];
      const memory = setInterval(() => (most = Math.max(most, residentBytes())), 250);
      const end = Date.now() + seconds * 1000;
      const write = async (client: ApiClient, writer: number): Promise<void> => {
        for (let round = 0; Date.now() < end; round++) {
          // This process reads for all watchers: it writes no faster than it reads, or the server would be right to cut it off.
          while (written - watchers[WATCHERS - 1]!.events > MOST_BEHIND) {
            await new Promise((settle) => setTimeout(settle, 5));
          }
          const group = (writer * 31 + round) % GROUPS;
          const name = `object-${writer}-${round}`;
          const labels = { load: 'yes', group: String(group) };
          const large = writer === 0 && round % 50 === 0;
          const filler = 'x'.repeat(large ? LARGE : 700);
          const path = `${configMaps}/${name}`;
          const answers = [
            await client.send('POST', configMaps, { metadata: { name, labels }, data: { filler } }),
            await client.send('PATCH', path, { data: { more: 'yes' } }, 'application/merge-patch+json'),
            ...(large ? [await client.send('GET', path)] : []),
            await client.send('DELETE', path),
          ];
          const statuses = answers.map(({ status }) => status).join(' ');
          if (statuses !== (large ? '201 200 200 200' : '201 200 200')) wrong.push(`${name}: ${statuses}`);
          if (large) expect(answers[2]?.body['data']).toEqual({ filler, more: 'yes' });
          expected[group]! += 3;
          written += 3;
        }
      };
      await Promise.all(clients.map(write));
      clearInterval(memory);
      const all = expected.reduce((sum, count) => sum + count, 0);
      const wanted = (index: number): number => (index < GROUPS * 10 ? expected[index % GROUPS]! : all);
      const deadline = Date.now() + 60_000;
      while (watchers.some(({ events }, index) => events < wanted(index)) && Date.now() < deadline) {
        await new Promise((settle) => setTimeout(settle, 100));
      }
      process.stdout.write(
        `${all} durable writes in ${seconds} s, ${all * 20} events delivered, ${Math.round(most / 1024 / 1024)} MiB at most\n`,
      );
      expect(wrong).toEqual([]);
      expect(watchers.map(({ events }) => events)).toEqual(watchers.map((_, index) => wanted(index)));
      expect(watchers.flatMap((watcher) => watcher.wrong)).toEqual([]);
      expect(watchers.filter(({ ended }) => ended)).toEqual([]);
      expect(most).toBeLessThan(MEMORY_LIMIT);
      stuck.goOnReading();
      // Cut off when it fell behind by more than is kept for it, which its end tells it; else it has everything. Never anything between.
      await expect.poll(() => stuck.ended || stuck.events === all, { timeout: 30_000 }).toBe(true);
      for (const session of [...sessions, stuckSession]) session.close();
      for (const client of clients) client.close();
    },
  );
});
