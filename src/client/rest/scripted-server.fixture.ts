import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';

/** A response body that a test supplies. */
export class PushStream implements AsyncIterable<Uint8Array> {
  #queue: (Uint8Array | 'end' | Error)[] = [];
  #wake: (() => void) | undefined;
  /** True once the reader has stopped. */
  returned = false;

  push(data: string | Uint8Array): this {
    return this.#put(typeof data === 'string' ? Buffer.from(data) : data);
  }

  end(): this {
    return this.#put('end');
  }

  fail(error = new Error('connection reset')): this {
    return this.#put(error);
  }

  #put(item: Uint8Array | 'end' | Error): this {
    this.#queue.push(item);
    this.#wake?.();
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        while (this.#queue.length === 0) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        const item = this.#queue.shift()!;
        if (item instanceof Error) throw item;
        return item === 'end' ? { done: true, value: undefined } : { done: false, value: item };
      },
      return: () => {
        this.returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

export type Answer = HttpResponse | HttpHandler | Error;

/** Answers requests from a list, in order. A request beyond the list hangs until it is aborted. */
export class ScriptedServer {
  readonly requests: HttpRequest[] = [];
  readonly answers: Answer[];

  constructor(...answers: Answer[]) {
    this.answers = answers;
  }

  readonly handler: HttpHandler = (request) => {
    this.requests.push(request);
    const answer = this.answers.shift();
    if (answer === undefined) return new Promise(() => {});
    if (answer instanceof Error) return Promise.reject(answer);
    return typeof answer === 'function' ? answer(request) : Promise.resolve(answer);
  };

  /** Request lines, without the random `timeoutSeconds` of watches, which other tests check. */
  get lines(): string[] {
    return this.requests.map(({ method, target }) => `${method} ${target.replace(/[?&]timeoutSeconds=\d+/, '')}`);
  }
}

export function answerJson(value: unknown, status = 200, headers: HttpResponse['headers'] = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export function answerStream(body: AsyncIterable<Uint8Array>, contentType = 'application/json'): HttpResponse {
  return { status: 200, headers: { 'content-type': contentType }, body };
}

export interface ObjectFixture {
  readonly name: string;
  readonly rv: string | number;
  readonly [field: string]: unknown;
}

export function object({ name, rv, ...rest }: ObjectFixture): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: String(rv) },
    ...rest,
  };
}

export function event(type: string, value: unknown): string {
  return `${JSON.stringify({ type, object: value })}\n`;
}

export function bookmark(rv: string | number, options: { readonly initialEventsEnd?: boolean } = {}): string {
  const annotations = options.initialEventsEnd === true ? { 'k8s.io/initial-events-end': 'true' } : undefined;
  return event('BOOKMARK', { kind: 'Thing', metadata: { resourceVersion: String(rv), annotations } });
}

export function list(rv: string | number, items: readonly unknown[], token = ''): Record<string, unknown> {
  return {
    kind: 'ThingList',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(rv), ...(token === '' ? {} : { continue: token }) },
    items,
  };
}
