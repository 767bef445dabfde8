import type { HttpHeaders } from '../../base/http-message.ts';

/** A client certificate with its key, PEM. */
export interface ClientCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The credentials of the client. They are read for each request, because they may change (token files, plug-ins). */
export interface Credentials {
  /** Headers to add, usually `authorization`. If it rejects, the request is not sent. */
  headers(): Promise<HttpHeaders> | HttpHeaders;
  /** The client certificate for the TLS handshake of new connections. */
  certificate?(): Promise<ClientCertificate | undefined> | ClientCertificate | undefined;
  /** Called if the server answered 401 to a request with these headers, so that the cached credentials are dropped. */
  rejected?(carried: HttpHeaders): void;
}

/** The address of a server and how to verify it. */
export interface ConnectOptions {
  /** `https://host:port` with an optional path prefix, or `http://…`. */
  readonly server: string;
  /** The trusted authorities as PEM; if absent, those of Node. */
  readonly caPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The expected name in the server's certificate, also sent as SNI, if it differs from the host of `server`. */
  readonly tlsServerName?: string;
  /** A proxy to the server, `http://…`, `https://…` or `socks5://…`. Only for https servers. */
  readonly proxyUrl?: string;
  readonly credentials?: Credentials;
  /** Maximum number of HTTP/1.1 connections for requests other than watches; more requests wait. */
  readonly maxConnections?: number;
  /** Maximum number of further connections for watches; more watches are refused. */
  readonly maxWatchConnections?: number;
}

/** Options of `connect` with other facts about the connection. */
export interface ClientConfig extends ConnectOptions {
  /** The namespace of the context or the service account. */
  readonly namespace: string;
  /** The origin of the configuration: a context name, `in-cluster`, or `--master` if there is no other. */
  readonly source: string;
}

export const MAX_CONNECTIONS = 256;
/**
 * Over HTTP/1.1, each watch holds a connection for minutes: about 60 for the built-in kinds, and one for each custom resource. Go's client
 * has no limit; this one exceeds the resources of a cluster, and is below the ports of a machine.
 */
export const MAX_WATCH_CONNECTIONS = 10_000;

/** A fixed `authorization: Bearer …`. */
export function bearerToken(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => headers };
}

export function clientCertificate(certificate: ClientCertificate): Credentials {
  return { headers: () => ({}), certificate: () => certificate };
}

/** The server's URL in parts. Throws for anything but http and https. */
export function parseServer(server: string): { readonly url: URL; readonly secure: boolean; readonly prefix: string } {
  const url = new URL(server);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError(`unsupported server URL ${JSON.stringify(server)}`);
  return { url, secure: url.protocol === 'https:', prefix: url.pathname.replace(/\/+$/, '') };
}

/** The host without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Options of `tls.connect` that trust only the certificates in `caPem` (PEM). A server's own certificate in it is trusted without its
 * authority, as in Go; envtest's webhook installer relies on that. The host name is still verified.
 */
export function trustedRoots(caPem: string): { readonly ca: string; readonly allowPartialTrustChain: true } {
  return { ca: caPem, allowPartialTrustChain: true };
}

/** Options of `tls.connect` for both protocols. */
export function tlsOptions(options: ConnectOptions, certificate: ClientCertificate | undefined) {
  const { caPem, insecureSkipTlsVerify, tlsServerName } = options;
  const host = hostOf(new URL(options.server));
  // SNI must be a name; Node refuses an address.
  const servername = tlsServerName ?? (/^[\d.]+$|:/.test(host) ? undefined : host);
  return {
    ...(caPem === undefined ? {} : trustedRoots(caPem)),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
    ...(servername === undefined ? {} : { servername }),
    ...(certificate === undefined ? {} : { cert: certificate.certPem, key: certificate.keyPem }),
  };
}
