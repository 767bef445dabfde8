import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

export interface RequestBody {
  readonly bytes: Uint8Array | undefined;
  /** The body is longer than the limit; `bytes` holds one byte more than it, the rest is not kept. */
  readonly cut: boolean;
}

const noBody: RequestBody = { bytes: undefined, cut: false };

/** The whole body, up to `limit` bytes and one. Resolves to `aborted` when the client goes away before its end. */
export async function readBody(
  request: IncomingMessage | Http2ServerRequest,
  limit: number,
): Promise<RequestBody | 'aborted'> {
  if (!announcesBody(request)) {
    request.resume();
    return noBody;
  }
  return new Promise((resolve) => {
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
  if (request.httpVersionMajor === 1) return headers['transfer-encoding'] !== undefined;
  return !(request as Http2ServerRequest).stream.endAfterHeaders;
}
