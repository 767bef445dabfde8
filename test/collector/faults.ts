import { type Clock, sleep } from '../../src/base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import type { Interceptor, Send } from '../../src/client/rest/interceptor.ts';
import { TransportError } from '../../src/client/http/transport.ts';

/** Replaces an exchange with the server. */
export type Fault = (request: HttpRequest, next: Send) => Promise<HttpResponse>;

export function answer(status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const type = typeof value === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  return { status, headers: { 'content-type': type, ...headers }, body: Buffer.from(text) };
}

export function statusBody(code: number, reason: string, more: Record<string, unknown> = {}): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: reason, reason, code, ...more };
}

/** Answers with a Status that the server never saw the request for. */
export function refuse(code: number, reason: string, more: Record<string, unknown> = {}): Fault {
  return () => Promise.resolve(answer(code, statusBody(code, reason, more)));
}

/** Answers with something that is no Status. */
export function answerWith(status: number, value: unknown): Fault {
  return () => Promise.resolve(answer(status, value));
}

/** The connection breaks before the server has read the request. */
export const resetBefore: Fault = () => Promise.reject(new TransportError('reset', 'connection reset by peer'));

/** The server does what was asked, but its answer is lost. */
export const resetAfter: Fault = async (request, next) => {
  await next(request);
  throw new TransportError('reset', 'connection reset by peer');
};

/** The server does what was asked, and says so without showing the object. */
export const successStatus: Fault = async (request, next) => {
  const response = await next(request);
  if (request.method === 'GET' || response.status >= 300) return response;
  return answer(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
};

/** As {@link resetAfter}, noticed by the clock. */
export const timeoutAfter: Fault = async (request, next) => {
  await next(request);
  throw new TransportError('timeout', 'the request timed out');
};

/** Nothing comes, until the caller gives up. */
export const silence: Fault = ({ signal }) =>
  new Promise((_resolve, reject) => {
    const giveUp = (): void => reject(new TransportError('aborted', 'given up'));
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
  });

export const pathNotFound: Fault = answerWith(404, '404 page not found\n');

/** Delays each piece of a stream by so many milliseconds. */
export function late(clock: Clock, ms: number): Fault {
  return async (request, next) => {
    const response = await next(request);
    const { body } = response;
    return body instanceof Uint8Array
      ? response
      : { ...response, body: later(body, (): Promise<void> => sleep(clock, ms, request.signal)) };
  };
}

async function* later(body: AsyncIterable<Uint8Array>, pause: () => Promise<void>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await pause();
    yield chunk;
  }
}

/** Which requests a fault is for. */
export interface Match {
  readonly method?: string;
  /** Matches path and query. */
  readonly target: RegExp;
}

interface Rule extends Match {
  readonly fault: Fault;
  left: number;
}

/** Faults for the requests that match, each a number of times; everything else passes. */
export class Faults {
  readonly #rules: Rule[] = [];

  /** The first rule that matches wins; `times`: for ever unless given. */
  on(match: Match, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#rules.push({ ...match, fault, left: times });
  }

  clear(): void {
    this.#rules.length = 0;
  }

  readonly intercept: Interceptor = (request, next) => {
    const rule = this.#rules.find(
      ({ method, target, left }) =>
        left > 0 && (method === undefined || method === request.method) && target.test(request.target),
    );
    if (rule === undefined) return next(request);
    rule.left--;
    return rule.fault(request, next);
  };
}
