import type { buildConnector, Client, Dispatcher } from 'undici';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { Greeting } from '../../base/http-message.ts';
import { type Release, Semaphore } from '../../base/time/semaphore.ts';
import { TransportError } from './transport.ts';

export interface Http1ConnectionsOptions {
  readonly Client: typeof Client;
  readonly connector: buildConnector.connector;
  readonly origin: string;
  readonly maxConnections: number;
  readonly maxWatchConnections: number;
}

/** Idle time after which a kept connection is closed, unless the server wants it earlier. */
const IDLE_MS = 30_000;

/** Maximum size of the head of an answer. Node's default of 16 KiB is less than webhooks may send to a Go client. */
const MAX_ANSWER_HEAD_BYTES = 1024 * 1024;

/**
 * Connections to one server, one request at a time on each. The connection that became free last is used first, so that superfluous ones
 * age and are closed. Requests beyond the limit wait in the bounded semaphore. Watches have a separate limit, because otherwise they could
 * block all other requests, including the renewal of the lease.
 */
export class Http1Connections {
  readonly #options: Http1ConnectionsOptions;
  readonly #places: Semaphore;
  readonly #watchPlaces: Semaphore;
  /** Free connections, the most recently used one last. */
  readonly #free: Http1Connection[] = [];
  readonly #all: Http1Connection[] = [];
  #closed = false;

  constructor(options: Http1ConnectionsOptions) {
    this.#options = options;
    this.#places = new Semaphore({ permits: options.maxConnections });
    this.#watchPlaces = new Semaphore({ permits: options.maxWatchConnections });
  }

  /** True if no request may begin. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * A connection for one use, opened on demand. A waiting caller gets none if the pool is closed meanwhile, and a rejection if `signal`
   * aborts the wait.
   */
  take(signal: AbortNotice | undefined): Http1Connection | Promise<Http1Connection | undefined> {
    const release = this.#places.tryAcquire();
    return release === undefined ? this.#wait(signal) : this.#with(release);
  }

  /** The same for a watch, without waiting, because watches are long. Throws a TransportError if all places are taken. */
  takeForWatch(): Http1Connection {
    const release = this.#watchPlaces.tryAcquire();
    if (release !== undefined) return this.#with(release);
    const { permits } = this.#watchPlaces;
    throw new TransportError('refused', `all ${permits} connections that watches may have over HTTP/1.1 are taken`);
  }

  /** Ends all requests in progress with this error. */
  destroy(error: Error): void {
    this.#refuse();
    for (const connection of this.#all) connection.destroy(error);
  }

  /** Refuses new requests, and resolves when all requests in progress have ended. Not allowed after {@link Http1Connections.destroy}. */
  async close(): Promise<void> {
    this.#refuse();
    await Promise.all(this.#all.map((connection) => connection.close()));
  }

  async #wait(signal: AbortNotice | undefined): Promise<Http1Connection | undefined> {
    const release = await this.#places.acquire(signal);
    if (!this.#closed) return this.#with(release);
    release();
    return undefined;
  }

  #refuse(): void {
    this.#closed = true;
    // Waiting callers are resumed and find that there is no place.
    this.#places.resize(Number.POSITIVE_INFINITY);
  }

  #with(release: Release): Http1Connection {
    let connection = this.#free.pop();
    if (connection === undefined) {
      connection = new Http1Connection(this.#options, this.#free);
      this.#all.push(connection);
    }
    connection.take(release);
    return connection;
  }
}

/** A place for one socket, which is opened on demand. */
export class Http1Connection {
  readonly #client: Client;
  readonly #free: Http1Connection[];
  #release: Release | undefined;
  #answers = 0;
  /** The callers that know the identity of the server at the current socket. A collector is one caller. */
  readonly #greetings = new Set<Greeting>();

  constructor({ Client, connector, origin }: Http1ConnectionsOptions, free: Http1Connection[]) {
    this.#free = free;
    // No timeouts here: watches may be quiet for long, and the request's signal bounds its time.
    this.#client = new Client(origin, {
      connect: connector,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
    });
    this.#client.on('connect', () => {
      this.#answers = 0;
      this.#greetings.clear();
    });
    this.#client.on('disconnect', () => this.#greetings.clear());
  }

  /** True if the current socket has already carried an answer, so that the server may close it in the moment it is reused. */
  get reused(): boolean {
    return this.#answers > 0;
  }

  isGreeted(greeting: Greeting): boolean {
    return this.#greetings.has(greeting);
  }

  /** Marks that the current socket has carried its answer. */
  greeted(greeting: Greeting): void {
    this.#answers++;
    this.#greetings.add(greeting);
  }

  take(release: Release): void {
    this.#release = release;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Ends the exchange, whether it was successful or not. */
  letGo(): void {
    const release = this.#release;
    if (release === undefined) return;
    this.#release = undefined;
    this.#answers++;
    this.#free.push(this);
    release();
  }

  destroy(error: Error): void {
    // Resolves when the socket is closed; a program that exits need not wait for that.
    void this.#client.destroy(error);
  }

  /** Resolves when the requests in progress have ended. */
  async close(): Promise<void> {
    await this.#client.close();
  }
}
