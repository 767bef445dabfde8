import { readFileSync } from 'node:fs';
import type { HttpHandler, HttpResponse } from '../../src/base/http-message.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';

/** A request to a real kube-apiserver, and its answer byte for byte. */
export interface RecordedAnswer {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly accept: string;
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter?: string;
  readonly text?: string;
  readonly base64?: string;
}

export function recordedAnswers(): RecordedAnswer[] {
  return readFileSync(new URL('answers.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedAnswer);
}

export const bytesOf = ({ text, base64 }: RecordedAnswer): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');

export function responseOf(answer: RecordedAnswer): HttpResponse {
  const { status, contentType, retryAfter } = answer;
  const headers = { 'content-type': contentType, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) };
  return { status, headers, body: bytesOf(answer) };
}

/** A client of a server that answers each request so. */
export function clientOf(handler: HttpHandler, clock = new FakeClock()): RestClient {
  return new RestClient({ transport: { send: handler, close: async () => {} }, clock, userAgent: 'test' });
}
