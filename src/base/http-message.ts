import type { AbortNotice } from './time/abort-notice.ts';

/**
 * An HTTP exchange as values, without a socket. A server exposes an {@link HttpHandler} and the client can call one, so the same exchange
 * runs over HTTPS between processes and as a function call within one.
 */

/** Header names are lower case. A header that occurs several times (`warning`) is a list. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Objects that are created for each request list their fields one by one. V8 (11.3, of Node 20) allocates most results of a spread (`{
 * ...a, b }`) in the old generation: a deletion left 2 to 3 KB there, which waited for a full collection.
 */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Path and query as on the request line, still percent-encoded: `/api/v1/pods?limit=5`. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: HttpHeaders;
  /** The whole body; absent or empty if there is none, and before {@link HttpRequest.load} has read it. */
  readonly body?: Uint8Array | undefined;
  /**
   * Reads the body from the connection into `body`, once. Absent if there is nothing to read. A server calls it after it has authorized the
   * request; until then a body costs no memory. `refused` means that bodies in progress have reached their limit. `aborted` means that the
   * client has disconnected, or was disconnected because it was too slow.
   */
  readonly load?: (() => Promise<'complete' | 'refused' | 'aborted'>) | undefined;
  /** Aborted when the caller goes away; a handler ends its stream then. */
  readonly signal?: AbortNotice | undefined;
  /** Called when the request is about to be sent, after all waits. If it returns an error, the request rejects with it. */
  readonly refusal?: (() => Error | undefined) | undefined;
  /** The reason why the client sends the request, for the layers between them. It is not sent. */
  readonly why?: string | undefined;
  /** Called for each new connection before this request uses it. A transport without connections ignores it. */
  readonly greeting?: Greeting | undefined;
  /**
   * True if the request came over a connection. An in-process caller is answered after the watches have delivered the change of its
   * request.
   */
  readonly remote?: boolean;
  /** The caller's identity from its client certificate. `refused` if the certificate is invalid; undefined without one. */
  readonly peer?: PeerSubject | 'refused' | undefined;
}

/** Verifies the identity of the server behind a connection. */
export interface Greeting {
  /** `send` makes a request over that connection. Rejects if the connection must not be used. */
  greet(send: (request: HttpRequest) => Promise<HttpResponse>): Promise<void>;
}

/** The server's own authority signed the certificate, or the caller is a part of this program. */
export interface PeerSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly uid?: string;
  /** SHA-256 of the certificate in lower-case hex; absent without a certificate. */
  readonly fingerprint?: string;
}

/** The answer to a request. */
export interface HttpResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HttpHeaders;
  /**
   * A complete body, or a stream whose chunks are written as they come. Exactly one consumer reads a stream, and calls `return()` on its
   * iterator if it stops early.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Never rejects for an invalid request, which gets an error response. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
