import type { HttpHeaders } from '../../base/http-message.ts';

/** A client certificate with its key, PEM. */
export interface ClientCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The credentials of the client. They may change over time (token files, plug-ins), so they are read for each request. */
export interface Credentials {
  /** Headers to add, usually `authorization`. Rejects when there are none to be had: the request is not sent. */
  headers(): Promise<HttpHeaders> | HttpHeaders;
  /** Presented in the TLS handshake of new connections. */
  certificate?(): Promise<ClientCertificate | undefined> | ClientCertificate | undefined;
  /** The server answered 401 to a request with these very headers: what was cached with them is no good. */
  rejected?(carried: HttpHeaders): void;
}

/** Where a server is and how it is recognised. */
export interface ConnectOptions {
  /** `https://host:port` with an optional path prefix, or `http://…`. */
  readonly server: string;
  /** PEM of the authorities to trust; absent = those of Node. */
  readonly caPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** Name expected in the server's certificate and sent as SNI, when it is not the host of `server`. */
  readonly tlsServerName?: string;
  /** `http://…`, `https://…` or `socks5://…` of a proxy that the server is reached through; only for https servers. */
  readonly proxyUrl?: string;
  readonly credentials?: Credentials;
  /** Connections at once over HTTP/1.1 for what is no watch; more requests wait for one. */
  readonly maxConnections?: number;
  /** … and besides them for watches; one more is refused. */
  readonly maxWatchConnections?: number;
}

/** Options of `connect` with what else a program wants to know of where it connects to. */
export interface ClientConfig extends ConnectOptions {
  /** The namespace of the context or the service account. */
  readonly namespace: string;
  /** Where it comes from: a context name, `in-cluster`, or `--master` where nothing else says anything. */
  readonly source: string;
}

export const MAX_CONNECTIONS = 256;
/**
 * Watches hold a connection each over HTTP/1.1, for minutes: about 60 for the built-in kinds, one more per custom resource. Go's client
 * opens as many as there are; these are more than a cluster has resources, and fewer than a machine has ports.
 */
export const MAX_WATCH_CONNECTIONS = 10_000;

/** A static `authorization: Bearer …`. */
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

/** The host without the brackets that an IPv6 address carries in a URL. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Options of `tls.connect` that trust the certificates in `caPem` (PEM) and no others. A certificate in it is trusted as it stands, also if it is
 * the server's own and its authority is not there: Go does so, and envtest's webhook installer relies on it. The host name is verified all the same.
 */
export function trustedRoots(caPem: string): { readonly ca: string; readonly allowPartialTrustChain: true } {
  return { ca: caPem, allowPartialTrustChain: true };
}

/** Options of `tls.connect`, common to both protocols. */
export function tlsOptions(options: ConnectOptions, certificate: ClientCertificate | undefined) {
  const { caPem, insecureSkipTlsVerify, tlsServerName } = options;
  const host = hostOf(new URL(options.server));
  // SNI must be a name: Node refuses an address there.
  const servername = tlsServerName ?? (/^[\d.]+$|:/.test(host) ? undefined : host);
  return {
    ...(caPem === undefined ? {} : trustedRoots(caPem)),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
    ...(servername === undefined ? {} : { servername }),
    ...(certificate === undefined ? {} : { cert: certificate.certPem, key: certificate.keyPem }),
  };
}
