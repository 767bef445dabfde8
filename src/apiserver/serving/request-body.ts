import type { IncomingMessage } from 'node:http';
import { constants, Http2ServerRequest } from 'node:http2';
import type { Clock } from '../../base/clock.ts';

export interface RequestBody {
  readonly bytes: Uint8Array | undefined;
  /** The body is longer than the limit; `bytes` holds one byte more than it, the rest is not kept. */
  readonly cut: boolean;
}

const noBody: RequestBody = { bytes: undefined, cut: false };

interface ReadOptions {
  /** Bytes. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * The whole body, up to `limit` bytes and one. Resolves to `aborted` when the client goes away before its end, or takes longer
 * than it may: then the request is cut.
 */
export async function readBody(
  request: IncomingMessage | Http2ServerRequest,
  { limit, timeoutMs, clock }: ReadOptions,
): Promise<RequestBody | 'aborted'> {
  if (!announcesBody(request)) {
    request.resume();
    return noBody;
  }
  return new Promise((settle) => {
    const timer = clock.setTimer(timeoutMs, () => {
      settle('aborted');
      abandon(request);
    });
    const resolve = (body: RequestBody | 'aborted'): void => {
      timer.cancel();
      settle(body);
    };
    const chunks: Uint8Array[] = [];
    let length = 0;
    let cut = false;
    request.on('data', (chunk: Uint8Array) => {
      if (cut) return;
      length += chunk.length;
      chunks.push(chunk);
      if (length > limit) {
        cut = true;
        const bytes = Buffer.concat(chunks, limit + 1);
        chunks.length = 0;
        resolve({ bytes, cut });
      }
    });
    request.once('end', () => {
      const only = chunks[0];
      if (only === undefined) resolve(noBody);
      else resolve({ bytes: chunks.length === 1 ? only : Buffer.concat(chunks, length), cut: false });
    });
    request.once('error', () => resolve('aborted'));
    request.once('close', () => resolve('aborted'));
  });
}

function announcesBody(request: IncomingMessage | Http2ServerRequest): boolean {
  const { headers } = request;
  if (headers['content-length'] !== undefined) return headers['content-length'] !== '0';
  // The version in the request line is the client's word, the class is not.
  if (request instanceof Http2ServerRequest) return !request.stream.endAfterHeaders;
  return headers['transfer-encoding'] !== undefined;
}

function abandon(request: IncomingMessage | Http2ServerRequest): void {
  if (request instanceof Http2ServerRequest) request.stream.close(constants.NGHTTP2_CANCEL);
  else request.destroy();
}
