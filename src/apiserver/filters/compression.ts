import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { Readable } from 'node:stream';
import type { HttpResponse } from '../../base/http-message.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';

/** Smaller answers are not compressed (API-008). */
const MIN_COMPRESSED_BYTES = 128 * 1024;
const LEVEL = 1;

const gzipAsync = promisify(gzip);

/**
 * Compresses large complete answers, and lists that are encoded while they are sent, with gzip for clients that accept it. Never watches.
 * An answer that stays unchanged, as nearly all do, is returned without a wait.
 */
export function compress(response: HttpResponse, context: RequestContext): HttpResponse | Promise<HttpResponse> {
  const { body, headers } = response;
  if (body instanceof Uint8Array && body.length <= MIN_COMPRESSED_BYTES) return response;
  if (context.info.type !== 'resource' || context.info.verb === 'watch') return response;
  if (headers['content-encoding'] !== undefined || !acceptsGzip(context.header('accept-encoding'))) return response;
  const gzipped = (compressed: HttpResponse['body']): HttpResponse => ({
    ...response,
    headers: { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: compressed,
  });
  return body instanceof Uint8Array ? gzipAsync(body, { level: LEVEL }).then(gzipped) : gzipped(gzipStream(body));
}

function gzipStream(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(body, { objectMode: false });
  const target = createGzip({ level: LEVEL });
  source.once('error', (error) => target.destroy(error));
  // If the reader stops early, the target is destroyed and the rest of the list is not encoded.
  target.once('close', () => source.destroy());
  return source.pipe(target);
}

function acceptsGzip(header: string | undefined): boolean {
  return header?.split(',').some((part) => /^\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$/.test(part)) ?? false;
}
