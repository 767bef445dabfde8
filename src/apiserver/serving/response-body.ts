import type { HttpResponse } from '../../base/http-message.ts';

/** What the answers of node:http and node:http2 have in common; the published types of the two do not overlap. */
export interface ResponseStream {
  readonly destroyed: boolean;
  readonly closed: boolean;
  writeHead(status: number, headers: Record<string, string | readonly string[]>): unknown;
  flushHeaders(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: Uint8Array): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  off(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
}

interface WriteOptions {
  /** Answer to a HEAD: headers only. */
  readonly head: boolean;
  /** HTTP/1.1 only: no further request on this connection. */
  readonly lastOnConnection: boolean;
}

/** Writes an answer and waits until the connection has taken it. A stream that the client left is ended by `return()`. */
export async function writeResponse(
  response: ResponseStream,
  answer: HttpResponse,
  options: WriteOptions,
): Promise<void> {
  const { body } = answer;
  const headers: Record<string, string | readonly string[]> = { ...answer.headers };
  if (options.lastOnConnection) headers['connection'] = 'close';
  if (body instanceof Uint8Array) {
    if (answer.status !== 204 && answer.status !== 304) headers['content-length'] = String(body.length);
    response.writeHead(answer.status, headers);
    if (options.head || body.length === 0) response.end();
    else response.end(body);
    return;
  }
  response.writeHead(answer.status, headers);
  if (options.head) {
    response.end();
    await body[Symbol.asyncIterator]().return?.();
    return;
  }
  // A watch answers before its first event (API-120).
  response.flushHeaders();
  for await (const chunk of body) {
    if (response.destroyed || response.closed) break;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

function drained(response: ResponseStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
  });
}
