import { get } from 'node:https';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Readable } from 'node:stream';
import { ApiClient } from '../program/api-client.ts';
import { readKubeconfig } from '../program/read-kubeconfig.ts';
import { configMaps, GROUPS, Tally } from './load-ledger.ts';

/**
 * A process with all the watchers of the load, so that the writers need not wait for them. Watchers read what comes at once; a few
 * beside them are slow on purpose. Whoever is cut off goes on from the last version it saw, as an informer does, and keeps a note of it.
 */
export interface ReadersReport {
  readonly watchers: readonly WatcherReport[];
  readonly slow: readonly (WatcherReport & { readonly pace: string })[];
}

export interface WatcherReport {
  /** Undefined: everything. */
  readonly group: number | undefined;
  readonly tally: string;
  readonly wrong: readonly string[];
  readonly cuts: readonly Cut[];
  /** It had to list anew, so its tally means nothing; these objects were left in the end. */
  readonly relisted?: readonly string[];
}

/** The end of a watch: by `end` the answer was whole, by `reset` it was not. */
export interface Cut {
  readonly by: 'end' | 'reset';
  /** Up to where it had read, and what was newest right after. */
  readonly last: number;
  readonly newest: number;
}

/** To this process: the writers are done, and this is what each group of watchers has to see until it is. */
export interface WritersDone {
  readonly groups: readonly number[];
  readonly all: number;
}

const [kubeconfig = '', from = '0', groupWatchers = '0', allWatchers = '0'] = process.argv.slice(2);
const SESSIONS = 20;
/** One of so many watches over a connection of HTTP/1.1, which is its own. */
const HTTP1_EVERY = 25;
const TRICKLE_EVERY_MS = 500;
const CATCH_UP_MS = 120_000;
const { origin, ca, authorization } = readKubeconfig(kubeconfig);
const lists = new ApiClient(kubeconfig);

interface Opened {
  readonly status: number;
  readonly body: Readable;
  /** Whether an end was that of the whole answer. */
  whole(): boolean;
}

type Transport = (path: string) => Promise<Opened>;

function http2(session: ClientHttp2Session): Transport {
  return (path) =>
    new Promise((settle, reject) => {
      const stream = session.request({ ':path': path, authorization });
      stream.on('error', reject);
      stream.once('response', (headers) =>
        settle({ status: headers[':status'] ?? 0, body: stream, whole: () => stream.rstCode === 0 }),
      );
    });
}

function http1(path: string): Promise<Opened> {
  return new Promise((settle, reject) => {
    const { hostname: host, port } = origin;
    get({ host, port, path, ca, agent: false, headers: { authorization } }, (incoming) => {
      incoming.on('error', () => undefined);
      settle({ status: incoming.statusCode ?? 0, body: incoming, whole: () => incoming.complete });
    }).on('error', reject);
  });
}

function session(initialWindowSize?: number): ClientHttp2Session {
  const made = connect(origin.href, { ca, settings: initialWindowSize === undefined ? {} : { initialWindowSize } });
  made.on('error', () => undefined);
  return made;
}

async function listed(path: string): Promise<{ revision: number; names: string[] }> {
  const { body } = await lists.send('GET', path);
  const { metadata, items } = body as {
    metadata: { resourceVersion: string };
    items: { metadata: { name: string } }[];
  };
  return { revision: Number(metadata.resourceVersion), names: items.map((item) => item.metadata.name) };
}

/** The bytes at the beginning of a line that are read; the rest, such as the data, is not. */
const HEAD_BYTES = 400;
const TYPE = /^{"type":"(ADDED|MODIFIED|DELETED)"/;
const REVISION = /"resourceVersion":"(\d+)"/;
const NAME = /"name":"([^"]+)"/;
const GONE = /^{"type":"ERROR","object":{.*"code":410/;

type Pace = 'at once' | 'not at all' | 'a little now and then';

class Watcher {
  readonly group: number | undefined;
  readonly tally = new Tally();
  readonly wrong: string[] = [];
  readonly cuts: Cut[] = [];
  readonly #transport: Transport;
  readonly #selector: string;
  #pace: Pace;
  #last: number;
  #expired = false;
  #alive: Set<string> | undefined;
  #head = '';
  #body: Readable | undefined;

  constructor(transport: Transport, { group, pace = 'at once' }: { group: number | undefined; pace?: Pace }) {
    this.#transport = transport;
    this.group = group;
    this.#pace = pace;
    this.#last = Number(from);
    this.#selector = `labelSelector=${group === undefined ? 'load%3Dyes' : `group%3D${group}`}`;
  }

  get relisted(): boolean {
    return this.#alive !== undefined;
  }

  async open(): Promise<void> {
    const path = `${configMaps}?watch=true&resourceVersion=${this.#last}&${this.#selector}`;
    const { status, body, whole } = await this.#transport(path);
    if (status !== 200) this.wrong.push(`a watch was answered with ${status}`);
    this.#head = '';
    this.#body = body;
    body.on('data', (chunk: Buffer) => {
      this.#read(chunk);
      if (this.#pace === 'a little now and then') body.pause();
    });
    body.once('close', () => void this.#goOn(whole() ? 'end' : 'reset'));
    if (this.#pace !== 'at once') body.pause();
    if (this.#pace === 'a little now and then') {
      const timer = setInterval(() => body.resume(), TRICKLE_EVERY_MS);
      body.once('close', () => clearInterval(timer));
    }
  }

  /** From now on it reads as everybody else. */
  release(): void {
    this.#pace = 'at once';
    this.#body?.resume();
  }

  report(): WatcherReport {
    const { group, tally, wrong, cuts } = this;
    const relisted = this.#alive === undefined ? {} : { relisted: [...this.#alive] };
    return { group, tally: tally.toString(), wrong, cuts, ...relisted };
  }

  #read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#head.length < HEAD_BYTES) {
        this.#head += chunk.toString('latin1', at, Math.min(chunk.length, at + HEAD_BYTES - this.#head.length));
      }
      const end = chunk.indexOf(0x0a, at);
      if (end < 0) return;
      this.#event(this.#head);
      this.#head = '';
      at = end + 1;
    }
  }

  #event(line: string): void {
    const [type, name, revision] = [TYPE, NAME, REVISION].map((pattern) => pattern.exec(line)?.[1] ?? '');
    if (GONE.test(line)) this.#expired = true;
    else if (!type || !name || !revision) this.wrong.push(`no event: ${line}`);
    else this.#change(type, name, Number(revision));
  }

  #change(type: string, name: string, revision: number): void {
    if (revision <= this.#last) this.wrong.push(`${type} of ${name} at ${revision} after ${this.#last}`);
    this.#last = revision;
    this.tally.add(type, name, revision);
    if (type === 'DELETED') this.#alive?.delete(name);
    else this.#alive?.add(name);
  }

  async #goOn(by: Cut['by']): Promise<void> {
    if (finished) return;
    try {
      if (this.#expired) {
        const { revision, names } = await listed(`${configMaps}?${this.#selector}`);
        this.#expired = false;
        this.#alive = new Set(names);
        this.#last = revision;
      } else {
        const { revision: newest } = await listed(`${configMaps}?limit=1`);
        this.cuts.push({ by, last: this.#last, newest });
      }
      await this.open();
    } catch (error) {
      this.wrong.push(`no new watch: ${String(error)}`);
    }
  }
}

let finished = false;
const sessions = Array.from({ length: SESSIONS }, () => session(1 << 20));
const watchers = Array.from({ length: Number(groupWatchers) + Number(allWatchers) }, (_, index) => {
  const transport = index % HTTP1_EVERY === 0 ? http1 : http2(sessions[index % SESSIONS]!);
  return new Watcher(transport, { group: index < Number(groupWatchers) ? index % GROUPS : undefined });
});
const slowSessions = [session(), session()];
const paces = [
  { over: 'HTTP/2', pace: 'not at all', transport: http2(slowSessions[0]!) },
  { over: 'HTTP/1.1', pace: 'not at all', transport: http1 },
  { over: 'HTTP/2', pace: 'a little now and then', transport: http2(slowSessions[1]!) },
  { over: 'HTTP/1.1', pace: 'a little now and then', transport: http1 },
] as const;
const slow = paces.map(({ over, pace, transport }) => ({
  pace: `${pace} over ${over}`,
  watcher: new Watcher(transport, { group: undefined, pace }),
}));

process.once('message', ({ groups, all }: WritersDone) => {
  for (const { watcher } of slow) watcher.release();
  const isDone = ({ tally, relisted, group }: Watcher): boolean =>
    relisted || tally.count >= (group === undefined ? all : groups[group]!);
  const everybody = [...watchers, ...slow.map(({ watcher }) => watcher)];
  const deadline = Date.now() + CATCH_UP_MS;
  const timer = setInterval(() => {
    if (!everybody.every(isDone) && Date.now() < deadline) return;
    clearInterval(timer);
    finished = true;
    const report: ReadersReport = {
      watchers: watchers.map((watcher) => watcher.report()),
      slow: slow.map(({ pace, watcher }) => ({ pace, ...watcher.report() })),
    };
    process.send?.(report, () => process.exit());
  }, 100);
});
for (const { watcher } of slow) await watcher.open();
await Promise.all(watchers.map((watcher) => watcher.open()));
process.send?.('open');
