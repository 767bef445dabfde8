import { hostname } from 'node:os';
import { cannotListen } from '../flags/listen.ts';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import {
  type ImplementedPlugin,
  type PluginFlags,
  selectedPlugins,
} from '../../apiserver/admission/plugin-selection.ts';
import { createApiServer, type ApiServer } from '../../apiserver/api-server.ts';
import { unionAuthenticator } from '../../apiserver/authentication/authenticator.ts';
import { signingKeyOf, type SigningKey } from '../../apiserver/authentication/json-web-signature.ts';
import { ServiceAccountTokens } from '../../apiserver/authentication/service-account-tokens.ts';
import {
  staticTokenVerifier,
  tokenAuthenticator,
  unionTokenVerifier,
} from '../../apiserver/authentication/token-authenticator.ts';
import { x509Authenticator } from '../../apiserver/authentication/x509-authenticator.ts';
import type { AuthorizationMode } from '../../apiserver/authorization/authorization-mode.ts';
import type { EmulatedVersion, FeatureGate } from '../../apiserver/emulation/features.ts';
import type { OwnerGuard } from '../../apiserver/registry/resource-store.ts';
import type { ServiceRange } from '../../apiserver/registry/strategies/services/service-range.ts';
import { type HttpServer, serve } from '../../apiserver/serving/http-server.ts';
import type { Store } from '../../apiserver/storage/interface.ts';
import type { ServiceAddress } from '../../apiserver/webhook-client/service-resolver.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import type { LeaseTimes } from '../../client/election/leader-election.ts';
import { renderKubeconfig } from '../../client/kubeconfig/render-kubeconfig.ts';
import { requestMetrics } from '../../client/rest/request-metrics.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { DeletionLimits } from '../../collector/breaker/circuit-breaker.ts';
import { cascadeHandler } from '../../cascade/endpoints/cascade-handler.ts';
import { CASCADE_PATH } from '../../cascade/endpoints/cascade-path.ts';
import type { GuardBudget } from '../../cascade/guard/budget.ts';
import type { GarbageCollector } from '../../collector/garbage-collector.ts';
import type { GarbageCollectorOptions } from '../../collector/garbage-collector-options.ts';
import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import { CommandError } from '../process/command-error.ts';
import type { DataDirectory } from './data-directory.ts';
import type { DeletionRecording, DeletionRecordingOptions } from './deletion-recording.ts';
import type { EtcdSettings } from './etcd-settings.ts';
import { type Identity, type IdentityOptions, type PreparedIdentity, prepareIdentity } from './identity.ts';
import { formatHost, type ListenAddress } from '../flags/listen-address.ts';
import { loadManifests } from './load-manifests.ts';
import type { Manifest } from '../flags/manifests.ts';
import { type OpenedStore, openStore, type StoreKind } from './open-store.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { PrometheusMetrics } from '../metrics/prometheus.ts';
import { buildControllers, type ControllersOptions } from '../../assembly/build-controllers.ts';
import { RUNNING_CONTROLLERS, runningControllersHandler } from '../../assembly/running-controllers.ts';
import type { ControllerName } from '../../assembly/controller-names.ts';
import { pluginsBeside } from '../../assembly/default-plugins.ts';
import { clientOfUser, inProcessClient, MASTERS } from '../../assembly/in-process-client.ts';
import { kubegcVersion, serverVersion } from '../process/version.ts';

export interface ClusterOptions {
  readonly store: StoreKind;
  /** The etcd to use as store. Other servers may share it, and the server that holds a lease runs the controllers. */
  readonly etcd?: EtcdSettings;
  readonly leaseTimes?: LeaseTimes;
  /** If absent, no data outlives the process. */
  readonly directory?: DataDirectory;
  /** Replaces the identity in the directory or shared store. */
  readonly identity?: Promise<PreparedIdentity>;
  /** The issuer of service account tokens; default {@link SERVICE_ACCOUNT_ISSUER}. */
  readonly serviceAccountIssuer?: string;
  readonly listen: ListenAddress;
  /** More names and addresses for the certificate, in addition to that of `listen`. */
  readonly alsoReachedBy?: readonly string[];
  readonly controllers: ReadonlySet<ControllerName>;
  /** Interval between self-checks of the collector's graph, ms. Undefined means only on request. */
  readonly selfCheckPeriodMs: number | undefined;
  /** Maximum number of deletions of the collector within a minute (CAS-074). No limit unless given. */
  readonly deletionLimits?: DeletionLimits | undefined;
  /** How long the collector remembers orphaned owners, and waits for their late dependents. */
  readonly orphanTimes?: Pick<GarbageCollectorOptions, 'orphanRecordLifetimeMs' | 'orphanBarrierTimeoutMs'>;
  readonly authorizationMode: AuthorizationMode;
  /** The version of kube-apiserver that the server behaves as (API-607); default: the version whose API it serves. */
  readonly emulatedVersion?: EmulatedVersion;
  /** Features that are switched on. */
  readonly featureGates?: ReadonlySet<FeatureGate>;
  readonly admissionPlugins: PluginFlags;
  /** The users whose writes may not add a controller that is being orphaned (LIFE-566). Default: `controllers`. */
  readonly ownerGuard?: OwnerGuard;
  /** True if objects with the protecting annotation cannot be deleted (CAS-070). Default: off. */
  readonly guard?: 'on' | 'off';
  /** The maximum that users may delete; it needs the guard (CAS-071). */
  readonly guardBudgets?: readonly GuardBudget[];
  /** True if deletions by any client are recorded in the directory, which must be given (CAS-066). Default: off. */
  readonly recording?: { readonly secrets: 'encrypted' | 'omitted' } | undefined;
  /** Addresses of webhook services, by `<namespace>/<name>`; others are found by their endpoints. */
  readonly serviceHosts?: ReadonlyMap<string, ServiceAddress>;
  /** The range of service addresses; default: that of kubeadm. */
  readonly serviceRange?: ServiceRange;
  /** Settings of the controllers that start on demand. */
  readonly lifecycle?: LifecycleSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The running parts, in the order in which they stop. */
interface Parts {
  readonly store: Store;
  readonly compactor: Service;
  readonly apiServer: ApiServer;
  readonly httpServer: HttpServer;
  readonly identity: Identity;
  readonly client: RestClient;
  readonly metrics: PrometheusMetrics;
  readonly serviceAccountTokens: ServiceAccountTokens;
  readonly collector: RunningCollector;
  readonly recording: DeletionRecording | undefined;
}

/** The collector once it is built; stays undefined where another server may lead. */
interface RunningCollector {
  running: GarbageCollector | undefined;
}

/** The user of the kubeconfig and of manifests. */
const ADMIN = 'kubegc-admin';

/** Folder of records in the data directory (CAS-061). */
const RECORDS = 'cascades';

/** kubeadm's default, which other programs expect in tokens. */
const SERVICE_ACCOUNT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/**
 * Number of the collector's workers. In one process a call costs microseconds, and the durable store commits in groups: this number fills
 * one group while another is being flushed, so that a cascade never waits for the disk. The workers do not count as requests in flight
 * (API-012). With 192 workers, a tenth more was collected, and a GET of another client took twice as long.
 */
const CONCURRENT_GC_SYNCS = 128;

/** API server, collector and controllers in one process, as `kubegc up` runs them. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #parts: Parts;
  readonly #stopping = new AbortController();
  readonly #fail: (error: unknown) => void;
  #running: Promise<void> | undefined;

  private constructor(options: ClusterOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    const { promise, reject } = withRejecter();
    this.failed = promise;
    this.#fail = reject;
  }

  /** Resolves with the reason why the cluster cannot continue. */
  readonly failed: Promise<Error>;

  /**
   * Resolves when requests are answered and the bootstrap objects exist. {@link startControllers} starts the controllers afterwards. After
   * an error nothing is left running.
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { clock, random, logger, listen, directory } = options;
    const hosts = [listen.host, ...(options.alsoReachedBy ?? [])];
    const metrics = new PrometheusMetrics();
    processMetrics(metrics, process, clock.now());
    const opening = openStore({ kind: options.store, etcd: options.etcd, directory, clock, random, logger, metrics });
    const [{ store, compactor, notReady }, prepared] =
      options.store === 'etcd' && options.identity === undefined
        ? await storeWithIdentity(opening, { clock, random, hosts })
        : await storeAndIdentity(
            opening,
            options.identity ?? prepareIdentity({ ...(directory ? { directory } : {}), clock, random, hosts }),
          );
    const { identity } = prepared;
    const kept = prepared.keep();
    // Handles a rejection that comes before the promise is awaited below.
    kept.catch(() => undefined);
    let httpServer: HttpServer | undefined;
    const collector: RunningCollector = { running: undefined };
    let recording: DeletionRecording | undefined;
    try {
      const issuer = options.serviceAccountIssuer ?? SERVICE_ACCOUNT_ISSUER;
      const audiences = [issuer];
      const key = serviceAccountKey(identity);
      const serviceAccountTokens = new ServiceAccountTokens({
        store,
        clock,
        random,
        key,
        issuer,
        audiences,
      });
      const admin = { token: identity.adminToken, user: { username: ADMIN, groups: MASTERS } };
      const tokens = unionTokenVerifier([staticTokenVerifier([admin], audiences), serviceAccountTokens]);
      const guarding = options.guard === 'on' ? await import('../guard/embedded-guard.ts') : undefined;
      const ignoreFinishedPods = options.lifecycle?.claimProtection?.ignoreFinishedPods === true;
      const embedded = guarding?.embeddedGuard(() => clientOf(apiServer, { clock, interceptors: [] }), clock, {
        budgets: options.guardBudgets ?? [],
        ignoreFinishedPods,
      });
      const requests =
        options.recording === undefined ? undefined : new (await import('./deletion-requests.ts')).DeletionRequests();
      const apiServer: ApiServer = createApiServer({
        store,
        clock,
        random,
        logger: logger.child({ component: 'apiserver' }),
        metrics,
        version: serverVersion(options.emulatedVersion),
        authenticator: unionAuthenticator([x509Authenticator, tokenAuthenticator(tokens)]),
        authorizationMode: options.authorizationMode,
        ...(options.emulatedVersion === undefined ? {} : { emulatedVersion: options.emulatedVersion }),
        ...(options.featureGates === undefined ? {} : { featureGates: options.featureGates }),
        // Creates the roles in every mode of authorization, because manifests refer to them.
        bootstrapPolicy: 'made',
        localApiServices: 'listed',
        admissionPlugins: admissionPlugins(options),
        ...(options.ownerGuard === undefined ? {} : { ownerGuard: options.ownerGuard }),
        admission: [embedded, requests].filter((plugin) => plugin !== undefined),
        // As in kube-apiserver: with RBAC, roles decide about requests without credentials.
        anonymous: options.authorizationMode === 'RBAC' ? 'allowed' : 'refused',
        tokens,
        serviceAccountTokens,
        ...(options.serviceHosts === undefined ? {} : { serviceHosts: options.serviceHosts }),
        ...(options.serviceRange === undefined ? {} : { serviceRange: options.serviceRange }),
        address: () => ({ host: listen.host, port: httpServer?.port ?? listen.port }),
        hostname: hostname(),
        metricsHandler: async () => {
          const { contentType, text } = await metrics.expose();
          return { status: 200, headers: { 'content-type': contentType }, body: Buffer.from(text) };
        },
      });
      const recordFolder = directory?.file(RECORDS);
      const cascade = cascadeHandler({
        clientOf: (user) => clientOfUser(apiServer.handler, user, { clock, userAgent: USER_AGENT }),
        clock,
        warmGraph: () => collector.running,
        records: recordFolder === undefined ? undefined : { folder: recordFolder, random },
        ignoreFinishedPods,
      });
      apiServer.mount(CASCADE_PATH, cascade);
      if (notReady !== undefined) apiServer.addReadyCheck({ name: options.store, check: notReady });
      httpServer = await listenOn(listen, apiServer, identity);
      await Promise.all([apiServer.start(), kept]);
      const client = clientOf(apiServer, { clock, interceptors: [requestMetrics(metrics, 'in-process')] });
      if (options.recording !== undefined && recordFolder !== undefined) {
        const requestOf: DeletionRecordingOptions['requestOf'] = (uid) => requests?.take(uid);
        const given = { options, port: httpServer.port, folder: recordFolder, store, client, requestOf };
        recording = await startRecording(options.recording, given);
      }
      const parts = {
        store,
        compactor,
        apiServer,
        httpServer,
        identity,
        client,
        metrics,
        serviceAccountTokens,
        collector,
        recording,
      };
      return new Cluster(options, parts);
    } catch (error) {
      await recording?.stop();
      await httpServer?.close();
      await kept.catch(() => undefined);
      await store.close();
      throw error;
    }
  }

  /** `https://127.0.0.1:6443` */
  get url(): string {
    return this.#parts.httpServer.url;
  }

  get kubeconfig(): string {
    const { identity } = this.#parts;
    const { host } = this.#options.listen;
    // A wildcard address cannot be connected to.
    const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return renderKubeconfig({
      server: `https://${formatHost(reached)}:${this.#parts.httpServer.port}`,
      caPem: identity.authority.certPem,
      token: identity.adminToken,
      clientCertificatePem: identity.admin.certPem,
      clientKeyPem: identity.admin.keyPem,
    });
  }

  /** Creates the objects, or updates those that are there already. */
  load(manifests: readonly Manifest[]): Promise<void> {
    const { clock } = this.#options;
    // Not as a controller, because a manifest may name an owner that does not exist.
    const client = inProcessClient(this.#parts.apiServer.handler, {
      clock,
      userAgent: USER_AGENT,
      interceptors: [],
      username: ADMIN,
    });
    return loadManifests({ client, clock }, manifests);
  }

  /** Loads and runs the selected controllers, once. A failure resolves {@link failed}. */
  startControllers(): void {
    this.#running ??= this.#runControllers().catch(this.#fail);
  }

  async #runControllers(): Promise<void> {
    const { clock, random, logger, controllers: selected } = this.#options;
    const { apiServer, client, compactor, identity, metrics } = this.#parts;
    apiServer.mount(RUNNING_CONTROLLERS, runningControllersHandler(selected));
    const options: ControllersOptions & { readonly random: Random } = {
      selected,
      client,
      clock,
      random,
      randomOf: () => random,
      logger,
      metrics,
      collector: {
        concurrentGcSyncs: CONCURRENT_GC_SYNCS,
        // The server in this process shares its time fairly among users, so the collector need not limit itself.
        fewCalls: 2 * CONCURRENT_GC_SYNCS,
        selfCheckPeriodMs: this.#options.selfCheckPeriodMs,
        deletionLimits: this.#options.deletionLimits,
        orphanRecords: 'events',
        ...this.#options.orphanTimes,
      },
      lifecycle: this.#options.lifecycle ?? {},
      rootCaPem: identity.authority.certPem,
      issueSecretToken: (order) => this.#parts.serviceAccountTokens.issueLegacy(order),
      mount: (prefix, handler) => apiServer.mount(prefix, handler),
    };
    const controllers = this.#options.store === 'etcd' ? [await this.#led(options)] : await this.#built(options);
    const services: readonly Service[] = [...controllers, compactor];
    // Each service adds a listener to the signal; Node warns at eleven.
    setMaxListeners(0, this.#stopping.signal);
    await Promise.all(services.map((service) => service.run(this.#stopping.signal).catch(this.#fail)));
  }

  async #built(options: ControllersOptions): Promise<readonly Service[]> {
    const { services, collector } = await buildControllers(options);
    this.#parts.collector.running = collector;
    return services;
  }

  async #led(options: ControllersOptions & { readonly random: Random }): Promise<Service> {
    const [{ LedControllers }, { writeGuard }, { defaultLeaseTimes }] = await Promise.all([
      import('./led-controllers.ts'),
      import('../flags/write-guard.ts'),
      import('../../client/election/leader-election.ts'),
    ]);
    const { clock, metrics, client: leaseClient } = options;
    const interceptors = [writeGuard(() => led.mayWrite), requestMetrics(metrics, 'in-process')];
    const client = clientOf(this.#parts.apiServer, { clock, interceptors });
    const times = this.#options.leaseTimes ?? defaultLeaseTimes;
    const led = new LedControllers({ ...options, client, leaseClient: leaseClient.as('leader-election'), times });
    return led;
  }

  /** Stops the controllers first, then the server, then the store: all acknowledged writes are on disk when this resolves. */
  async stop(): Promise<void> {
    const { apiServer, httpServer, store, recording } = this.#parts;
    this.#stopping.abort();
    await this.#running;
    await apiServer.stop();
    await httpServer.close();
    await recording?.stop();
    await store.close();
  }
}

const USER_AGENT = `kubegc/${kubegcVersion} (${process.platform}/${process.arch})`;

/** Loaded only where deletions are recorded. */
async function startRecording(
  { secrets }: { readonly secrets: 'encrypted' | 'omitted' },
  given: {
    readonly options: ClusterOptions;
    /** The one that the server listens on, which a start with port 0 chooses. */
    readonly port: number;
    readonly folder: string;
    readonly store: Store;
    readonly client: RestClient;
    readonly requestOf: DeletionRecordingOptions['requestOf'];
  },
): Promise<DeletionRecording> {
  const [{ DeletionRecording: Recording }, { clusterUid }] = await Promise.all([
    import('./deletion-recording.ts'),
    import('../../cascade/record/cluster-uid.ts'),
  ]);
  const { options, port, folder, store, client, requestOf } = given;
  const { clock, random, logger, listen } = options;
  const uid = await clusterUid(client);
  return Recording.start({
    store,
    folder,
    secrets,
    requestOf,
    context: {
      name: 'kubegc',
      server: `https://${formatHost(listen.host)}:${port}`,
      ...(uid === undefined ? {} : { clusterUid: uid }),
    },
    clock,
    random,
    logger: logger.child({ component: 'recorder' }),
  });
}

/** A client of the controllers. */
function clientOf(
  apiServer: ApiServer,
  options: { readonly clock: Clock; readonly interceptors: readonly Interceptor[] },
): RestClient {
  return inProcessClient(apiServer.handler, { ...options, userAgent: USER_AGENT });
}

/** The identity of all servers lies in the store they share. */
async function storeWithIdentity(
  opening: Promise<OpenedStore>,
  options: Omit<IdentityOptions, 'directory'>,
): Promise<[OpenedStore, PreparedIdentity]> {
  const opened = await opening;
  try {
    const { sharedIdentity } = await import('./shared-identity.ts');
    return [opened, { identity: await sharedIdentity(opened.store, options), keep: async () => undefined }];
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

/** Opens both, or none: an opened store is closed again if there is no identity. */
async function storeAndIdentity(
  opening: Promise<OpenedStore>,
  preparing: Promise<PreparedIdentity>,
): Promise<[OpenedStore, PreparedIdentity]> {
  const [opened, prepared] = await Promise.allSettled([opening, preparing]);
  if (opened.status === 'rejected') throw opened.reason;
  if (prepared.status === 'fulfilled') return [opened.value, prepared.value];
  await opened.value.store.close();
  throw prepared.reason;
}

/** Flags choose from the default plug-ins; with `ServiceAccount` where its controller runs. */
function admissionPlugins(options: ClusterOptions): ReadonlySet<ImplementedPlugin> {
  const { authorizationMode: authorization, controllers, admissionPlugins: flags } = options;
  const byDefault = [...pluginsBeside(controllers, { authorization })];
  if (controllers.has('serviceaccount-controller')) byDefault.push('ServiceAccount');
  return selectedPlugins(byDefault, flags);
}

function serviceAccountKey({ serviceAccountKeyPem }: Identity): SigningKey {
  try {
    return signingKeyOf(serviceAccountKeyPem);
  } catch (error) {
    throw new CommandError(
      'sa.key in the data directory is no ECDSA P-256 private key',
      'Remove it; a new one is made at the next start, and tokens of service accounts have to be asked for again.',
      { cause: error },
    );
  }
}

function withRejecter(): { promise: Promise<Error>; reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Error>((settle) => {
    reject = (error) => settle(asError(error));
  });
  return { promise, reject };
}

async function listenOn(listen: ListenAddress, apiServer: ApiServer, identity: Identity): Promise<HttpServer> {
  try {
    return await serve({
      handler: apiServer.handler,
      host: listen.host,
      port: listen.port,
      tls: {
        keyPem: identity.serving.keyPem,
        certPem: identity.serving.certPem,
        clientCaPem: identity.authority.certPem,
      },
    });
  } catch (error) {
    throw cannotListen(listen, '--listen', error);
  }
}
