/** The module behind `kubegc/apiserver`: an API server in this process, over a store in its memory. */
import { type ApiServer, createApiServer } from '../apiserver/api-server.ts';
import { unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { createServingCertificates } from '../apiserver/authentication/certificates.ts';
import { staticTokenVerifier, tokenAuthenticator } from '../apiserver/authentication/token-authenticator.ts';
import { x509Authenticator } from '../apiserver/authentication/x509-authenticator.ts';
import { systemMastersAuthorizer } from '../apiserver/authorization/authorizer.ts';
import { type HttpServer, serve } from '../apiserver/serving/http-server.ts';
import { openMemoryStore } from '../apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../apiserver/storage/interface.ts';
import { systemClock } from '../base/time/clock.ts';
import { type Logger, silentLogger } from '../base/logs/logger.ts';
import { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
import { systemRandom } from '../base/random/random.ts';
import { inProcessTransport } from '../client/http/in-process-transport.ts';
import { renderKubeconfig } from '../client/kubeconfig/render-kubeconfig.ts';
import { RestClient } from '../client/rest/rest-client.ts';
import { serverVersion } from '../testing/server-version.ts';

/** Options of a server; all are optional. */
export interface StartOptions {
  /** The HTTPS address; port 0 chooses a free one. If absent, only {@link RunningServer.client} reaches the server. */
  readonly listen?: { readonly host: string; readonly port: number } | undefined;
  /** Silent by default. */
  readonly logger?: Logger | undefined;
  /** Counts nothing by default. */
  readonly metrics?: Metrics | undefined;
  /** A store of the caller, which is not closed with the server; by default one in memory, which is lost at the end. */
  readonly store?: Store | undefined;
}

/** A running server with its client. */
export interface RunningServer extends AsyncDisposable {
  /** The server itself: its handler, and its resources. */
  readonly server: ApiServer;
  /** An administrator in this process, without a socket. */
  readonly client: RestClient;
  /** The kubeconfig for external programs; undefined if the server does not listen. */
  readonly kubeconfig: string | undefined;
  /** Ends all watches and the listener. May be called repeatedly. */
  stop(): Promise<void>;
}

const MASTERS = 'system:masters';

/**
 * Starts an API server with the objects of every cluster. It runs no controller: nothing is collected, and deleted namespaces stay. For a
 * complete cluster use `kubegc/testing`, or the command `kubegc up`. Rejects if the port is in use.
 */
export async function startApiServer(options: StartOptions = {}): Promise<RunningServer> {
  const { listen, logger = silentLogger, metrics = noMetrics, store } = options;
  const clock = systemClock;
  const random = systemRandom;
  const own = store === undefined ? openMemoryStore({ clock, logger }) : undefined;
  const kept = store ?? own ?? openMemoryStore({ clock, logger });
  const token = Buffer.from(random.bytes(32)).toString('base64url');
  const tokens = staticTokenVerifier([{ token, user: { username: 'kubegc-admin', groups: [MASTERS] } }]);
  let listener: HttpServer | undefined;
  const server = createApiServer({
    store: kept,
    clock,
    random,
    logger,
    metrics,
    version: serverVersion(),
    authenticator: unionAuthenticator([x509Authenticator, tokenAuthenticator(tokens)]),
    authorizer: systemMastersAuthorizer,
    tokens,
    address: () => ({ host: listen?.host ?? '127.0.0.1', port: listener?.port ?? 443 }),
  });
  let kubeconfig: string | undefined;
  if (listen !== undefined) {
    const { caPem, certPem, keyPem } = await createServingCertificates({ clock, random });
    listener = await serve({ ...listen, handler: server.handler, tls: { certPem, keyPem, clientCaPem: caPem } });
    kubeconfig = renderKubeconfig({ server: listener.url, caPem, token });
  }
  await server.start();
  const peer = { commonName: 'kubegc-admin', organizations: [MASTERS] };
  const client = new RestClient({
    transport: inProcessTransport(server.handler, { peer }),
    clock,
    userAgent: 'kubegc',
  });
  let stopped: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await server.stop();
    await listener?.close();
    await own?.close();
  };
  const stop = (): Promise<void> => (stopped ??= end());
  return { server, client, kubeconfig, stop, [Symbol.asyncDispose]: stop };
}

export { type ApiServer, type ApiServerOptions, createApiServer } from '../apiserver/api-server.ts';
export {
  type MemoryStoreOptions,
  openMemoryStore,
  type StoredContents,
} from '../apiserver/storage/embedded/memory-store.ts';
export type { Store } from '../apiserver/storage/interface.ts';
export { type HttpServer, serve, type ServeOptions, type TlsMaterial } from '../apiserver/serving/http-server.ts';
export type { HttpHandler, HttpRequest, HttpResponse } from '../base/http-message.ts';
export { type Logger, silentLogger } from '../base/logs/logger.ts';
export { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
