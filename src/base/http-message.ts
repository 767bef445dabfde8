import type { AbortNotice } from './time/abort-notice.ts';

/**
 * An HTTP exchange as values, with no socket behind it. A server room exposes an {@link HttpHandler}, the client room
 * can call one; so the same exchange runs over HTTPS between processes and as a function call inside one.
 */

/** Header names are lower case. A header that occurs several times (`warning`) is a list. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Objects made for each request, here and later, name their fields one by one. V8 (11.3, of Node 20) puts most of what a spread makes
 * (`{ ...a, b }`) into the old generation at once: a deletion left 2 to 3 KB there, which waited for a full collection.
 */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Path and query as on the request line, still percent-encoded: `/api/v1/pods?limit=5`. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: HttpHeaders;
  /** The whole body; absent or empty when there is none, and before {@link HttpRequest.load} has read it. */
  readonly body?: Uint8Array | undefined;
  /**
   * Reads the body from the connection into `body`, once. Absent where there is nothing to read. A server calls it when it knows that the user
   * may make the request: until then a body costs no memory. `refused`: bodies under way take as much memory as they may, now. `aborted`:
   * the client is gone, or was cut because it sent too slowly.
   */
  readonly load?: (() => Promise<'complete' | 'refused' | 'aborted'>) | undefined;
  /** Aborted when the caller goes away; a handler ends its stream then. */
  readonly signal?: AbortNotice | undefined;
  /** Asked when the request is about to be sent, after all that it had to wait for: an error is what it rejects with instead. */
  readonly refusal?: (() => Error | undefined) | undefined;
  /** Asked of each new connection before this request goes over it. A transport without connections ignores it. */
  readonly greeting?: Greeting | undefined;
  /**
   * True when it came over a connection. A caller in this process is answered after the watches have delivered the change that its request made.
   */
  readonly remote?: boolean;
  /** The caller's identity by its client certificate; `refused` for one that cannot be believed, which is not the same as none. */
  readonly peer?: PeerSubject | 'refused' | undefined;
}

/** Finds out who is at the other side of a connection. */
export interface Greeting {
  /** `send`: makes a request over that connection. Rejects when nothing else may go over it. */
  greet(send: (request: HttpRequest) => Promise<HttpResponse>): Promise<void>;
}

/** The certificate was signed by the server's own authority, or the caller is a part of this program. */
export interface PeerSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly uid?: string;
  /** SHA-256 of the certificate in lower-case hex; absent where there is none. */
  readonly fingerprint?: string;
}

/** The answer to a request. */
export interface HttpResponse {
  /** The status of HTTP. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HttpHeaders;
  /**
   * A finished body, or a stream whose chunks are written as they come. A stream is read by exactly one consumer, which
   * calls `return()` on its iterator when it stops early.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Never rejects for a bad request: what is wrong with it is a response. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
