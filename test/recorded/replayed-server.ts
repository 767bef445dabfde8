import { readFileSync } from 'node:fs';
import type { HttpHandler, HttpRequest } from '../../src/base/http-message.ts';

/** One line of a recorded conversation, in the order of time. */
type Line =
  | { readonly request: number; readonly method: string; readonly target: string; readonly body?: Bytes }
  | { readonly answer: number; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | ({ readonly chunk: number } & Bytes)
  | { readonly end: number }
  | { readonly cut: number };

interface Bytes {
  readonly text?: string;
  readonly base64?: string;
}

interface Exchange {
  readonly key: string;
  readonly isWrite: boolean;
  readonly write: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Each with the writes that the server had received before it sent this part. */
  readonly parts: { readonly bytes: Buffer; readonly writesBefore: readonly string[] }[];
  ended: boolean;
}

const bytesOf = ({ text, base64 }: Bytes): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');

/** A write that does not come. */
const NEVER = [''];

const keyOf = (method: string, target: string): string => `${method} ${target.replace(/[?&]timeoutSeconds=\d+/, '')}`;

/**
 * A server that answers as a real kube-apiserver did in a recorded conversation. A request gets the next recorded answer to the same request;
 * a repeated read gets the last one again. A watch goes on when the writes have come that the real server had received at that point.
 */
export class ReplayedServer {
  readonly #exchanges: readonly Exchange[];
  readonly #used = new Set<Exchange>();
  readonly #waiting = new Set<() => void>();
  /** Writes that came, with their bodies. */
  readonly writes: string[] = [];
  /** Requests that the recording does not have. */
  readonly unknown: string[] = [];

  constructor(file: string) {
    const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
      .trim()
      .split('\n');
    this.#exchanges = exchangesOf(lines.map((line) => JSON.parse(line) as Line));
  }

  /** The writes of the recording. */
  get recordedWrites(): string[] {
    return this.#exchanges.filter(({ isWrite }) => isWrite).map(({ write }) => write);
  }

  readonly handler: HttpHandler = async (request) => {
    const { method, target, body } = request;
    const key = keyOf(method, target);
    const same = this.#exchanges.filter((each) => each.key === key);
    const exchange = same.find((each) => !this.#used.has(each)) ?? same.at(-1);
    if (method !== 'GET') {
      this.writes.push(writeOf(key, body instanceof Uint8Array ? Buffer.from(body).toString() : ''));
      for (const wake of this.#waiting) wake();
    }
    if (exchange === undefined) {
      this.unknown.push(key);
      return { status: 404, headers: { 'content-type': 'text/plain' }, body: Buffer.from('404 page not found') };
    }
    this.#used.add(exchange);
    const { status, headers, parts, ended } = exchange;
    if (ended) return { status, headers, body: Buffer.concat(parts.map(({ bytes }) => bytes)) };
    return { status, headers, body: this.#stream(exchange, request) };
  };

  async *#stream({ parts }: Exchange, { signal }: HttpRequest): AsyncGenerator<Uint8Array> {
    for (const { bytes, writesBefore } of parts) {
      if (!(await this.#whenWritten(writesBefore, signal))) return;
      yield bytes;
    }
    await this.#whenWritten(NEVER, signal);
  }

  /** False when the request was aborted first. */
  async #whenWritten(writes: readonly string[], signal: HttpRequest['signal']): Promise<boolean> {
    for (;;) {
      if (signal?.aborted === true) return false;
      if (writes.every((write) => this.writes.includes(write))) return true;
      await this.#nextWrite(signal);
    }
  }

  #nextWrite(signal: HttpRequest['signal']): Promise<void> {
    return new Promise((settle) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        settle();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }
}

const writeOf = (key: string, body: string): string => (body === '' ? key : `${key} ${body}`);

function exchangesOf(lines: readonly Line[]): Exchange[] {
  const exchanges: Exchange[] = [];
  const writes: string[] = [];
  for (const line of lines) {
    if ('request' in line) {
      const key = keyOf(line.method, line.target);
      const isWrite = line.method !== 'GET';
      const write = writeOf(key, line.body === undefined ? '' : bytesOf(line.body).toString());
      if (isWrite) writes.push(write);
      exchanges[line.request] = { key, isWrite, write, status: 0, headers: {}, parts: [], ended: false };
    } else if ('answer' in line) {
      const { status, headers } = line;
      Object.assign(exchanges[line.answer]!, { status, headers });
    } else if ('chunk' in line) {
      exchanges[line.chunk]!.parts.push({ bytes: bytesOf(line), writesBefore: [...writes] });
    } else if ('end' in line) {
      exchanges[line.end]!.ended = true;
    }
  }
  return exchanges;
}
