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

/** A connection kept for the next request is closed after this long without one, unless the server wants it earlier. */
const IDLE_MS = 30_000;

/**
 * Connections to one server, one request at a time on each. The one that was free last is used first, so that those which
 * are not needed grow old and close. At most so many as allowed; who comes then waits, bounded by the semaphore. Watches have places of
 * their own: as many watches as there are places would keep all else waiting, the lease of the leader too, until the first of them ends.
 */
export class Http1Connections {
  readonly #options: Http1ConnectionsOptions;
  readonly #places: Semaphore;
  readonly #watchPlaces: Semaphore;
  /** Free; the last was used last. */
  readonly #free: Http1Connection[] = [];
  readonly #all: Http1Connection[] = [];
  #closed = false;

  constructor(options: Http1ConnectionsOptions) {
    this.#options = options;
    this.#places = new Semaphore({ permits: options.maxConnections });
    this.#watchPlaces = new Semaphore({ permits: options.maxWatchConnections });
  }

  /** Nothing new may begin. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * A connection to use once, now if there is one. It may still have to be made. A waiting caller gets none when they are closed meanwhile, and
   * a rejection when `signal` aborts the wait.
   */
  take(signal: AbortNotice | undefined): Http1Connection | Promise<Http1Connection | undefined> {
    const release = this.#places.tryAcquire();
    return release === undefined ? this.#wait(signal) : this.#with(release);
  }

  /** The same for a watch. It does not wait, for nobody knows how long: throws a TransportError when all places are taken. */
  takeForWatch(): Http1Connection {
    const release = this.#watchPlaces.tryAcquire();
    if (release !== undefined) return this.#with(release);
    const { permits } = this.#watchPlaces;
    throw new TransportError('refused', `all ${permits} connections that watches may have over HTTP/1.1 are taken`);
  }

  /** Ends what is under way with this error. */
  destroy(error: Error): void {
    this.#refuse();
    for (const connection of this.#all) connection.destroy(error);
  }

  /** Nothing new may begin; resolves when what is under way has ended by itself. Not after {@link Http1Connections.destroy}. */
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
    // Callers that wait for a place are resumed, and find that there is none.
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

/** A place for one socket, which is opened when it is needed. */
export class Http1Connection {
  readonly #client: Client;
  readonly #free: Http1Connection[];
  #release: Release | undefined;
  #answers = 0;
  /** Those that know who is at the other side of the present socket. A collector has one. */
  readonly #greetings = new Set<Greeting>();

  constructor({ Client, connector, origin }: Http1ConnectionsOptions, free: Http1Connection[]) {
    this.#free = free;
    // Watches may be quiet for long, and a request's time is its signal's business.
    this.#client = new Client(origin, {
      connect: connector,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
    });
    this.#client.on('connect', () => {
      this.#answers = 0;
      this.#greetings.clear();
    });
    this.#client.on('disconnect', () => this.#greetings.clear());
  }

  /** The present socket has carried an answer before: the server may close it in the moment it is used again. */
  get reused(): boolean {
    return this.#answers > 0;
  }

  isGreeted(greeting: Greeting): boolean {
    return this.#greetings.has(greeting);
  }

  /** The present socket has carried its answer. */
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

  /** The exchange is over, well or not. */
  letGo(): void {
    const release = this.#release;
    if (release === undefined) return;
    this.#release = undefined;
    this.#answers++;
    this.#free.push(this);
    release();
  }

  destroy(error: Error): void {
    // Resolves when the socket is closed; who ends the program need not wait for that.
    void this.#client.destroy(error);
  }

  /** Resolves when what is under way has ended. */
  async close(): Promise<void> {
    await this.#client.close();
  }
}
