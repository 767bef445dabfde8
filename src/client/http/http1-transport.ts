import type { buildConnector, Dispatcher } from 'undici';
import { orAborted } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { asError } from '../../base/errors/thrown.ts';
import type { Greeting, HttpHeaders, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import {
  type ClientCertificate,
  MAX_CONNECTIONS,
  MAX_WATCH_CONNECTIONS,
  parseServer,
  tlsOptions,
} from './connect-options.ts';
import { credentialCertificate, credentialHeaders } from './credential-headers.ts';
import { type Http1Connection, Http1Connections } from './http1-connections.ts';
import { Http1Exchange, StaleConnection, UngreetedConnection } from './http1-exchange.ts';
import { OpeningSockets } from './opening-sockets.ts';
import { ProxyTunnels, type TunnelOptions } from './proxy-tunnel.ts';
import { abortedTransportError, closedError, transportErrorOf } from './transport-failure.ts';
import type { Transport, TransportError } from './transport.ts';
import { isWatch } from './watch-request.ts';

/** Maximum time to open a connection, as in client-go's dialer. */
const CONNECT_MS = 30_000;
/** Keep-alive interval, as in client-go's dialer. A watch learns only from unanswered probes that its server has vanished. */
const KEEP_ALIVE_MS = 30_000;

/** HTTP/1.1 over undici: connections are reused, with one request at a time on each. */
export function http1Transport(options: TunnelOptions): Transport {
  return new Http1Transport(options);
}

/** Maximum number of attempts if a connection ends each time after its identity was verified. */
const MOST_REMADE = 3;

interface Greeted {
  readonly greeting: Greeting;
  readonly request: HttpRequest;
  readonly credentials: HttpHeaders | undefined;
}

class Http1Transport implements Transport {
  readonly #options: TunnelOptions;
  readonly #secure: boolean;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #tunnels: ProxyTunnels;
  readonly #opening = new OpeningSockets();
  #closed = false;
  /** Connections with the current client certificate; another certificate needs other connections. */
  #connections: { readonly certificate: ClientCertificate | undefined; readonly to: Http1Connections } | undefined;
  /** The current connections, and earlier ones with requests in progress. */
  readonly #alive = new Set<Http1Connections>();

  constructor(options: TunnelOptions) {
    this.#options = options;
    const { url, secure, prefix } = parseServer(options.server);
    this.#origin = url.origin;
    this.#secure = secure;
    this.#prefix = prefix;
    this.#tunnels = new ProxyTunnels(options);
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    const headers = await credentialHeaders(credentials, request.signal);
    let response: HttpResponse;
    try {
      response = await this.#exchange(request, headers);
    } catch (error) {
      // A server may close an idle connection in the moment of its reuse. Repeating a read does no harm.
      if (!(error instanceof StaleConnection) || request.method !== 'GET') throw error;
      response = await this.#exchange(request, headers);
    }
    if (response.status === 401 && headers !== undefined) credentials?.rejected?.(headers);
    return response;
  }

  #messageOf(request: HttpRequest, headers: HttpHeaders | undefined): Dispatcher.DispatchOptions {
    return {
      method: request.method as Dispatcher.HttpMethod,
      path: this.#prefix + request.target,
      headers: outgoingHeaders(request, headers),
      body: request.body ?? null,
      // Otherwise undici closes the connection after a DELETE with a body.
      reset: false,
    };
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#tunnels.close();
    for (const connections of this.#alive) connections.destroy(closedError());
    this.#opening.destroy(closedError());
    return Promise.resolve();
  }

  /** True if there are connections, and the certificate cannot change. */
  get #steady(): boolean {
    return this.#connections !== undefined && this.#options.credentials?.certificate === undefined;
  }

  /** Ensures that the connections have the current certificate. */
  async #renew(signal: AbortNotice | undefined): Promise<void> {
    const certificate = await credentialCertificate(this.#options.credentials, signal);
    const present = this.#connections;
    if (present !== undefined && present.certificate?.certPem === certificate?.certPem) return;
    // Loaded with the first request, so that a program that only serves does not pay for it.
    const { buildConnector, Client } = await import('undici');
    // Another request may have done this meanwhile.
    if (this.#connections !== present) return await this.#renew(signal);
    // A session opened now would never be closed.
    if (this.#closed) throw closedError();
    const tls = this.#secure ? tlsOptions(this.#options, certificate) : {};
    const to = new Http1Connections({
      Client,
      // One connector for all of them, because they share TLS sessions.
      connector: this.#throughProxy(
        this.#opening.of(buildConnector({ ...tls, timeout: CONNECT_MS, keepAliveInitialDelay: KEEP_ALIVE_MS })),
      ),
      origin: this.#origin,
      maxConnections: this.#options.maxConnections ?? MAX_CONNECTIONS,
      maxWatchConnections: this.#options.maxWatchConnections ?? MAX_WATCH_CONNECTIONS,
    });
    this.#connections = { certificate, to };
    this.#alive.add(to);
    if (present !== undefined) void present.to.close().then(() => this.#alive.delete(present.to));
  }

  #throughProxy(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      const opened = this.#tunnels.open();
      if (opened === undefined) return void connector(options, callback);
      opened.then(
        (httpSocket) => {
          try {
            connector({ ...options, httpSocket }, callback);
          } catch (error) {
            httpSocket.destroy();
            callback(asError(error), null);
          }
        },
        (error: Error) => callback(error, null),
      );
    };
  }

  async #exchange(request: HttpRequest, credentials: HttpHeaders | undefined): Promise<HttpResponse> {
    const { signal, greeting } = request;
    const message = this.#messageOf(request, credentials);
    let remade = 0;
    // Repeats if the certificate changed while the request waited.
    for (;;) {
      if (!this.#steady) await this.#renew(signal);
      this.#refuse(signal);
      const connections = this.#connections!.to;
      const taken = isWatch(request) ? connections.takeForWatch() : connections.take(signal);
      const connection = taken instanceof Promise ? await this.#turn(taken, signal) : taken;
      // A caller with a place no longer waits for an abort, and the abort may already have freed the place.
      if (connection !== undefined && !connections.closed && signal?.aborted !== true) {
        if (greeting === undefined) return await this.#send(connection, message, request);
        try {
          await this.#greet(connection, { greeting, request, credentials });
        } catch (error) {
          connection.letGo();
          throw error;
        }
        try {
          return await this.#send(connection, message, request);
        } catch (error) {
          if (!(error instanceof UngreetedConnection) || ++remade > MOST_REMADE) throw error;
          continue;
        }
      }
      connection?.letGo();
      this.#refuse(signal);
    }
  }

  #send(
    connection: Http1Connection,
    message: Dispatcher.DispatchOptions,
    { signal, refusal, greeting }: HttpRequest,
  ): Promise<HttpResponse> {
    const refused = greeting === undefined ? refusal : () => refusal?.() ?? ungreeted(connection, greeting);
    const failureOf = this.#failureOf;
    return new Promise((resolve, reject) => {
      const exchange = { connection, signal, refusal: refused, resolve, reject, failureOf };
      connection.dispatch(message, new Http1Exchange(exchange));
    });
  }

  /** Verifies the server's identity before any other request on a connection. */
  async #greet(connection: Http1Connection, { greeting, request, credentials }: Greeted): Promise<void> {
    if (connection.isGreeted(greeting)) return;
    const send = (asked: HttpRequest): Promise<HttpResponse> =>
      new Promise((resolve, reject) => {
        const { signal } = asked;
        const kept = { reused: connection.reused, letGo: () => undefined };
        const failureOf = this.#failureOf;
        const exchange = { connection: kept, signal, refusal: undefined, resolve, reject, failureOf };
        connection.dispatch(this.#messageOf(asked, credentials), new Http1Exchange(exchange));
      });
    const greeted = greeting.greet(async (asked) => {
      const response = await send(asked).catch((error: unknown) => {
        if (!(error instanceof StaleConnection)) throw error;
        return send(asked);
      });
      if (response.status === 401 && credentials !== undefined) this.#options.credentials?.rejected?.(credentials);
      return response;
    });
    await orAborted(greeted, request.signal, abortedTransportError);
    connection.greeted(greeting);
  }

  /** Throws if no request may begin. */
  #refuse(signal: AbortNotice | undefined): void {
    if (this.#closed) throw closedError();
    if (signal?.aborted === true) throw abortedTransportError(signal);
  }

  async #turn(
    taken: Promise<Http1Connection | undefined>,
    signal: AbortNotice | undefined,
  ): Promise<Http1Connection | undefined> {
    try {
      return await taken;
    } catch (error) {
      throw this.#failureOf(error, signal);
    }
  }

  readonly #failureOf = (error: unknown, signal: AbortNotice | undefined): TransportError =>
    this.#closed ? closedError(error) : transportErrorOf(error, signal);
}

function ungreeted(connection: Http1Connection, greeting: Greeting): TransportError | undefined {
  if (connection.isGreeted(greeting)) return undefined;
  return new UngreetedConnection('reset', 'the connection was made anew before the request was sent');
}

/** Alternating names and values. The request's own headers precede the credentials. */
function outgoingHeaders(request: HttpRequest, credentials: HttpHeaders | undefined): string[] {
  const headers: string[] = [];
  for (const name in request.headers) append(headers, name, request.headers[name]!);
  for (const name in credentials) {
    if (!(name in request.headers)) append(headers, name, credentials[name]!);
  }
  return headers;
}

function append(headers: string[], name: string, value: string | readonly string[]): void {
  if (typeof value === 'string') headers.push(name, value);
  else for (const one of value) headers.push(name, one);
}
