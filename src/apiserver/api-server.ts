import { builtinResources } from '../api/kinds/builtin-resources.ts';
import type { GroupVersion } from '../api/meta/group-version-kind.ts';
import { newMethodNotSupported, newPathNotFound } from '../api/status-error.ts';
import { AfterTurn } from '../base/time/after-turn.ts';
import type { Clock } from '../base/time/clock.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../base/http-message.ts';
import type { Logger } from '../base/logs/logger.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import type { Random } from '../base/random/random.ts';
import { AdmissionChain, type AdmissionPlugin } from './admission/chain/admission-chain.ts';
import { buildPlugins } from './admission/default-plugins.ts';
import { defaultPluginNames, type ImplementedPlugin } from './admission/plugin-selection.ts';
import type { ServedKinds } from './admission/policy/policy-type-checking.ts';
import { RoleEscalation } from './admission/plugins/role-escalation.ts';
import { CustomResourceDefinitions } from './apiextensions/custom-resource-definitions.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import { OPENID_CONFIGURATION, OPENID_KEYS, openIdDocument } from './authentication/openid-documents.ts';
import type { ServiceAccountTokens } from './authentication/service-account-tokens.ts';
import type { UserInfo } from './authentication/user-info.ts';
import type { TokenVerifier } from './authentication/token-authenticator.ts';
import { alwaysDenyAuthorizer, type AuthorizationMode } from './authorization/authorization-mode.ts';
import { alwaysAllowAuthorizer, type Authorizer } from './authorization/authorizer.ts';
import { RbacAuthorizer } from './authorization/rbac-authorizer.ts';
import { BootstrapKeeper } from './bootstrap/bootstrap-keeper.ts';
import { bootstrap, bootstrapKeys } from './bootstrap/bootstrap.ts';
import { EndpointReconciler, type ServerAddress } from './bootstrap/endpoint-reconciler.ts';
import { IdentityLease } from './bootstrap/identity-lease.ts';
import { API_SERVICES_PREFIX, LocalApiServices } from './discovery/local-api-services.ts';
import { RemoteGroups } from './discovery/remote-groups.ts';
import { formatJson } from './endpoints/negotiation/body-format.ts';
import { endpointTable } from './endpoints/endpoint-table.ts';
import { type HealthCheck, HealthHandler } from './endpoints/health.ts';
import { pageNotFound, plainText } from './endpoints/response/plain-text.ts';
import type { RequestContext } from './endpoints/request/request-context.ts';
import { ResourceHandler } from './endpoints/resource-handler.ts';
import type { Reviewer } from './endpoints/subresources/review.ts';
import { tokenEndpoint } from './endpoints/subresources/token.ts';
import { AUDIT_PATH, AuditLog } from './filters/audit-log.ts';
import { buildHandlerChain } from './filters/handler-chain.ts';
import { defaultInFlightLimits, type InFlightLimits } from './filters/max-in-flight.ts';
import type { JsonSchema } from './openapi/json-schema.ts';
import {
  emulatedVersions,
  type EmulatedVersion,
  type FeatureGate,
  type Features,
  featuresOf,
} from './emulation/features.ts';
import { EventExpiry } from './registry/event-expiry.ts';
import { ResourceRegistry } from './registry/resource-registry.ts';
import type { OwnerGuard, RegistryEnvironment } from './registry/resource-store.ts';
import { ClaimSweep } from './registry/strategies/services/claim-sweep.ts';
import { IpAddressKeeper } from './registry/strategies/services/ip-address-keeper.ts';
import { defaultServiceRange, type ServiceRange } from './registry/strategies/services/service-range.ts';
import { strategyTable } from './registry/strategies/strategy-table.ts';
import { UpdateTurns } from './registry/update-turns.ts';
import { WatchCaches } from './registry/watch-caches.ts';
import { StoreFollower } from './storage/cache/store-follower.ts';
import type { Store } from './storage/interface.ts';
import { type ServiceAddress, StoreServiceResolver } from './webhook-client/service-resolver.ts';
import { WebhookClient } from './webhook-client/webhook-client.ts';

/** The parts and settings of an API server. */
export interface ApiServerOptions {
  /** Stores the objects. The caller closes it. */
  readonly store: Store;
  /** The clock of the server. */
  readonly clock: Clock;
  /** Generates uids and names. */
  readonly random: Random;
  /** The logger for failures. */
  readonly logger: Logger;
  /** The registry for metrics. */
  readonly metrics: Metrics;
  /** Fields of `/version` (API-014). */
  readonly version: Readonly<Record<string, string>>;
  /** If absent, every client is anonymous. */
  readonly authenticator?: Authenticator;
  /** Default: `refused` with an authenticator, `allowed` without. */
  readonly anonymous?: 'allowed' | 'refused';
  /** Default: every authenticated user may do everything (API-372). */
  readonly authorizationMode?: AuthorizationMode;
  /**
   * Whether the roles and bindings of kube-apiserver are made (API-513). Default: only if RBAC uses them, and then before the server is
   * ready.
   */
  readonly bootstrapPolicy?: 'made' | 'omitted';
  /** Whether the group versions that this server serves itself have APIServices (API-606). Default: `omitted`. */
  readonly localApiServices?: 'listed' | 'omitted';
  /** Decides instead of the mode. */
  readonly authorizer?: Authorizer;
  /** The authenticator that answers TokenReviews. */
  readonly tokens?: TokenVerifier;
  /** Issues the tokens of service accounts (API-377, API-378). If absent, there are none. */
  readonly serviceAccountTokens?: ServiceAccountTokens;
  /** The enabled built-in plug-ins; default: {@link defaultPluginNames}. */
  readonly admissionPlugins?: ReadonlySet<ImplementedPlugin>;
  /** The version of kube-apiserver that the server behaves as (API-607). Default: the first of them, `1.36`. */
  readonly emulatedVersion?: EmulatedVersion;
  /** Features that are switched on (API-607). Default: none. */
  readonly featureGates?: ReadonlySet<FeatureGate>;
  /**
   * The users whose writes may not add a controller that does not exist or is being orphaned (LIFE-566): nobody, the controllers in this
   * process, or everybody. Default: `controllers`.
   */
  readonly ownerGuard?: OwnerGuard;
  /** More plug-ins, which run after the built-in ones. */
  readonly admission?: readonly AdmissionPlugin[];
  /** Maximum numbers of concurrent requests. */
  readonly limits?: Partial<InFlightLimits>;
  /** The address for clients, read at start. Service `default/kubernetes` points there. */
  readonly address?: () => { readonly host: string; readonly port: number };
  /** The name of this machine, part of the name of its lease where several servers share a store. Default: the host of the address. */
  readonly hostname?: string;
  /** Addresses of webhook services, by `<namespace>/<name>`; these take precedence over the services' endpoints (API-358). */
  readonly serviceHosts?: ReadonlyMap<string, ServiceAddress>;
  /** The range of cluster addresses of services. Default: {@link defaultServiceRange}. */
  readonly serviceRange?: ServiceRange;
  /** Answers `/metrics` (API-017). */
  readonly metricsHandler?: HttpHandler;
}

/** Answers requests below the prefix that it is mounted at, each with the user who sent it. A rejection becomes a Status. */
export type MountedHandler = (request: HttpRequest, user: UserInfo) => Promise<HttpResponse>;

/** An API server. Its handler answers requests from its creation on. */
export interface ApiServer {
  /** For in-process use and for a listener. */
  readonly handler: HttpHandler;
  /** The served resources, including custom resources. */
  readonly resources: ResourceRegistry;
  /** Adds a handler under a path prefix, such as `/debug/controllers/`. Only users who may `get` the path can use it. */
  mount(prefix: string, handler: MountedHandler): void;
  /** A reason why `/readyz` is not yet 200. */
  addReadyCheck(check: HealthCheck): void;
  /** Creates the bootstrap objects. Requests are already answered before; `/readyz` returns 500 until then. */
  start(): Promise<void>;
  /** Ends all watches. The caller owns the store. */
  stop(): Promise<void>;
}

/** Creates one API server over one store. It opens no socket: see `serving/http-server.ts`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options);
}

/** A step of the start under kube-apiserver's name, so that a probe names the missing step. */
type Hook =
  | 'start-apiextensions-controllers'
  | 'start-apiserver-admission-initializer'
  | 'start-system-namespaces-controller'
  | 'rbac/bootstrap-roles'
  | 'kube-apiserver-autoregistration'
  | 'start-kubernetes-service-controller';

class EmbeddedApiServer implements ApiServer {
  readonly handler: HttpHandler;
  readonly resources: ResourceRegistry;
  readonly #options: ApiServerOptions;
  readonly #features: Features;
  readonly #environment: RegistryEnvironment;
  readonly #rbac: RbacAuthorizer | undefined;
  readonly #audit = new AuditLog();
  readonly #webhooks: WebhookClient;
  readonly #watchCaches: WatchCaches;
  readonly #resourceHandler: ResourceHandler;
  readonly #health: HealthHandler;
  readonly #readyChecks: HealthCheck[] = [];
  readonly #mounted: { readonly prefix: string; readonly handler: MountedHandler }[] = [];
  #discovery: Promise<DocumentHandler> | undefined;
  #openApi: Promise<DocumentHandler> | undefined;
  #started: Promise<void> | undefined;
  #policy: Promise<void> = Promise.resolve();
  /** The steps of the start that are done. */
  readonly #finished = new Set<Hook>();
  readonly #eventExpiry: EventExpiry;
  readonly #claimSweep: ClaimSweep;
  readonly #ipAddresses: IpAddressKeeper;
  readonly #apiServices: StoreFollower;
  readonly #remoteGroups: RemoteGroups;
  readonly #localApiServices: LocalApiServices | undefined;
  readonly #endpointReconciler: EndpointReconciler;
  readonly #identityLease: IdentityLease;
  readonly #bootstrapKeeper: BootstrapKeeper;
  readonly #definitions: CustomResourceDefinitions;

  constructor(options: ApiServerOptions) {
    const { store, clock, random, logger, metrics } = options;
    this.#options = options;
    this.#features = featuresOf(options.emulatedVersion ?? emulatedVersions[0], options.featureGates);
    const features = this.#features;
    const afterTurn = new AfterTurn(clock);
    this.#watchCaches = new WatchCaches({ store, clock, afterTurn });
    this.#eventExpiry = new EventExpiry({ store, clock, logger });
    this.#claimSweep = new ClaimSweep({ store, clock, logger });
    this.#ipAddresses = new IpAddressKeeper({ store, clock, random, logger });
    const isLocal = ({ group, version }: GroupVersion): boolean =>
      this.resources.resources().some((info) => info.group === group && info.version === version);
    this.#remoteGroups = new RemoteGroups({ store, clock, logger, isLocal });
    this.#apiServices = new StoreFollower({
      store,
      clock,
      logger,
      prefix: API_SERVICES_PREFIX,
      replace: (items) => {
        this.#remoteGroups.replace(items);
        this.#localApiServices?.replace(items);
      },
      observe: (events) => {
        this.#remoteGroups.observe(events);
        this.#localApiServices?.observe(events);
      },
    });
    this.#endpointReconciler = new EndpointReconciler({ store, clock, logger, address: () => this.#address() });
    this.#identityLease = new IdentityLease({
      store,
      clock,
      random,
      logger,
      identity: () => {
        const { host, port } = this.#address();
        return `${options.hostname ?? host}:${port}`;
      },
    });
    this.#bootstrapKeeper = new BootstrapKeeper({
      store,
      clock,
      logger,
      keys: bootstrapKeys({ address: '', port: 0, serviceRange: defaultServiceRange, now: 0 }),
      restore: () => this.#makeBootstrapObjects(),
    });
    this.#rbac = options.authorizationMode === 'RBAC' ? new RbacAuthorizer({ store, clock, logger }) : undefined;
    const byMode = options.authorizationMode === 'AlwaysDeny' ? alwaysDenyAuthorizer : alwaysAllowAuthorizer;
    const authorizer = options.authorizer ?? this.#rbac ?? byMode;
    this.#webhooks = new WebhookClient({
      clock,
      services: new StoreServiceResolver({ store, random, hosts: options.serviceHosts ?? new Map() }),
    });
    this.#environment = {
      store,
      clock,
      random,
      admission: new AdmissionChain([
        ...buildPlugins(
          {
            ...options,
            authorizer,
            webhooks: this.#webhooks,
            features,
            lookup: {
              find: (group, version, resource) => this.resources.find(group, version, resource),
              resources: () => this.resources.resources(),
            },
            resources: () => this.resources.resources(),
          },
          options.admissionPlugins ?? new Set(defaultPluginNames({ authorization: options.authorizationMode ?? '' })),
        ),
        ...(options.admission ?? []),
        ...(this.#rbac === undefined ? [] : [new RoleEscalation(this.#rbac)]),
      ]),
      watchCaches: this.#watchCaches,
      updateTurns: new UpdateTurns(),
      features,
      ownerGuard: options.ownerGuard ?? 'controllers',
    };
    const environment = this.#environment;
    this.resources = new ResourceRegistry(environment);
    this.resources.onRemoved((removed) => this.#remoteGroups.removed(removed));
    if (options.localApiServices === 'listed') {
      const localApiServices = new LocalApiServices({ store, clock, random, logger, isLocal });
      this.#localApiServices = localApiServices;
      this.resources.onAdded((info) => localApiServices.added(info));
      this.resources.onRemoved((removed) => localApiServices.removed(removed));
    }
    this.#definitions = new CustomResourceDefinitions({
      environment,
      registry: this.resources,
      logger,
      webhooks: this.#webhooks,
    });
    const served: ServedKinds = {
      resources: () => this.resources.resources(),
      schemaOf: ({ group, version, resource }) => this.resources.find(group, version, resource)?.strategy.openApiSchema,
    };
    const strategyOf = strategyTable({
      store,
      random,
      clock,
      definitions: this.#definitions.strategy,
      served,
      serviceRange: options.serviceRange,
    });
    for (const info of builtinResources()) this.resources.add({ info, strategy: strategyOf(info) });
    this.#resourceHandler = new ResourceHandler(
      this.resources,
      endpointTable({ reviewer: this.#reviewer(authorizer), token: tokenEndpoint(options.serviceAccountTokens) }),
      features,
    );
    this.#health = new HealthHandler({
      live: [{ name: 'ping', check: () => undefined }, ...this.#hooks.map((name) => this.#hookCheck(name))],
      ready: () => [
        {
          name: 'bootstrap',
          check: () =>
            this.#hooks.every((hook) => this.#finished.has(hook)) ? undefined : 'bootstrap objects are not there yet',
        },
        ...this.#readyChecks,
      ],
    });
    this.handler = buildHandlerChain({
      clock,
      random,
      logger,
      metrics,
      afterTurn,
      authentication: {
        ...(options.authenticator === undefined ? {} : { authenticator: options.authenticator }),
        anonymous: options.anonymous ?? (options.authenticator === undefined ? 'allowed' : 'refused'),
      },
      authorizer,
      limits: { ...defaultInFlightLimits, ...options.limits },
      audit: this.#audit,
      served: ({ group, version, resource, subresource }) => {
        const found = this.resources.find(group, version, resource);
        if (found === undefined || subresource === '') return found !== undefined;
        return found.info.subresources.some(({ name }) => name === subresource);
      },
      onRemoved: (listener) => this.resources.onRemoved(listener),
      route: (context) => this.#route(context),
    });
  }

  mount(prefix: string, handler: MountedHandler): void {
    this.#mounted.push({ prefix, handler });
  }

  addReadyCheck(check: HealthCheck): void {
    this.#readyChecks.push(check);
  }

  start(): Promise<void> {
    this.#started ??= this.#bootstrap();
    return this.#started;
  }

  async stop(): Promise<void> {
    await this.#policy;
    await this.#endpointReconciler.stop();
    await this.#identityLease.stop();
    this.#bootstrapKeeper.stop();
    this.#eventExpiry.stop();
    this.#claimSweep.stop();
    this.#ipAddresses.stop();
    this.#apiServices.stop();
    this.#remoteGroups.stop();
    await this.#localApiServices?.stop();
    this.#definitions.stop();
    this.#environment.admission.stop();
    this.#webhooks.close();
    this.#rbac?.stop();
    this.#audit.stop();
    this.#watchCaches.stop();
  }

  async #bootstrap(): Promise<void> {
    await Promise.all([
      this.#run('start-apiextensions-controllers', this.#definitions.start()),
      this.#run('start-apiserver-admission-initializer', this.#environment.admission.start()),
    ]);
    await Promise.all([
      this.#run('start-system-namespaces-controller', this.#makeBootstrapObjects()),
      ...(this.#rbac === undefined ? [] : [this.#run('rbac/bootstrap-roles', this.#startRbac())]),
      this.#startApiServices(),
    ]);
    await this.#run(
      'start-kubernetes-service-controller',
      Promise.all([
        this.#endpointReconciler.start(),
        this.#identityLease.start(),
        this.#bootstrapKeeper.start(),
        this.#ipAddresses.start(),
      ]),
    );
    this.#eventExpiry.start();
    this.#claimSweep.start();
    if (this.#rbac === undefined && this.#options.bootstrapPolicy === 'made') this.#policy = this.#makePolicy();
  }

  /** Runs after the start, which would take a third longer with it: no request is refused because these roles are missing. */
  async #makePolicy(): Promise<void> {
    try {
      await this.#startRbac();
    } catch (error) {
      this.#options.logger.warn('bootstrap roles not made, will retry at the next start', { error: String(error) });
    }
  }

  /** Creates missing objects; the endpoints are updated by the next round or the next start. */
  async #makeBootstrapObjects(): Promise<void> {
    const { host, port } = this.#address();
    const { serviceRange = defaultServiceRange, serviceAccountTokens, clock } = this.#options;
    const tokens = serviceAccountTokens === undefined ? 'none' : 'noted';
    await bootstrap(this.#options, { address: host, port, serviceRange, tokens, now: clock.now() });
  }

  #address(): ServerAddress {
    return this.#options.address?.() ?? { host: '127.0.0.1', port: 6443 };
  }

  get #hooks(): readonly Hook[] {
    return [
      'start-apiextensions-controllers',
      'start-apiserver-admission-initializer',
      'start-system-namespaces-controller',
      ...(this.#rbac === undefined ? [] : (['rbac/bootstrap-roles'] as const)),
      ...(this.#localApiServices === undefined ? [] : (['kube-apiserver-autoregistration'] as const)),
      'start-kubernetes-service-controller',
    ];
  }

  #hookCheck(name: Hook): HealthCheck {
    return { name: `poststarthook/${name}`, check: () => (this.#finished.has(name) ? undefined : 'not finished') };
  }

  async #run(hook: Hook, work: Promise<unknown>): Promise<void> {
    await work;
    this.#finished.add(hook);
  }

  async #startRbac(): Promise<void> {
    const { ensurePolicy } = await import('./authorization/bootstrap-policy/ensure-policy.ts');
    await ensurePolicy(this.#options);
    await this.#rbac?.start();
  }

  /** Follows the APIServices, and creates missing ones of this server. */
  async #startApiServices(): Promise<void> {
    await this.#apiServices.start();
    if (this.#localApiServices !== undefined)
      await this.#run('kube-apiserver-autoregistration', this.#localApiServices.start());
  }

  #route(context: RequestContext): Promise<HttpResponse> | HttpResponse {
    const { info } = context;
    if (this.#isRemote(context)) return serviceUnavailable();
    if (info.type === 'resource') return this.#resourceHandler.handle(context, info);
    return this.#routePath(context);
  }

  /** True for a group version of another server. The list of the group's versions is still this server's. */
  #isRemote({ path }: RequestContext): boolean {
    if (this.#remoteGroups.listed().length === 0) return false;
    const [, root, group = '', version = ''] = path.split('/');
    return root === 'apis' && this.#remoteGroups.has({ group, version });
  }

  async #routePath(context: RequestContext): Promise<HttpResponse> {
    const { path, query, request } = context;
    const health = this.#health.handle(path, query);
    if (health !== undefined) return health;
    if (path === '/version' || path === '/version/') {
      if (request.method !== 'GET') throw newMethodNotSupported();
      return jsonDocument(this.#options.version);
    }
    const { metricsHandler } = this.#options;
    if (path === '/metrics' && metricsHandler !== undefined) return metricsHandler(request);
    if (path === AUDIT_PATH) return this.#audit.handle(context);
    if (path === OPENID_CONFIGURATION || path === OPENID_KEYS) return this.#openId(path);
    const mounted = this.#mounted.find(({ prefix }) => path.startsWith(prefix));
    if (mounted !== undefined) return mounted.handler(request, context.user);
    if (path === '/' || path === '/index.html') return jsonDocument({ paths: rootPaths });
    if (path.startsWith('/api') || path.startsWith('/openapi/')) return this.#document(context);
    return pageNotFound(this.#features);
  }

  /** Discovery and OpenAPI, each loaded on first use. */
  async #document({ path, request }: RequestContext): Promise<HttpResponse> {
    const handler = path.startsWith('/openapi/')
      ? (this.#openApi ??= openApiHandler(this.resources, this.#options))
      : (this.#discovery ??= discoveryHandler(this.resources, this.#options, this.#remoteGroups));
    const document = await (await handler).handle(path, request);
    if (document !== undefined) return document;
    // An unknown version of a built-in group is a Status (API-004).
    const [, root, group = ''] = path.split('/');
    const origin = root === 'apis' ? this.resources.groupOrigin(group) : root === 'api' ? 'builtin' : undefined;
    if (origin === 'builtin' && (root === 'api' || group !== '')) throw newPathNotFound();
    return pageNotFound(this.#features);
  }

  #openId(path: typeof OPENID_CONFIGURATION | typeof OPENID_KEYS): HttpResponse {
    const { serviceAccountTokens, address } = this.#options;
    if (serviceAccountTokens === undefined) return pageNotFound(this.#features);
    const { host, port } = address?.() ?? { host: 'localhost', port: 6443 };
    return openIdDocument(path, serviceAccountTokens, `${host}:${port}`);
  }

  #reviewer(authorizer: Authorizer): Reviewer {
    const { clock, tokens } = this.#options;
    return async (info, body, { user, namespace }) => {
      const { reviewHandlers } = await import('./authorization/review-handlers.ts');
      const handler = reviewHandlers[`${info.group}/${info.version}/${info.resource}`];
      if (handler === undefined) throw newPathNotFound();
      return handler(body, user, authorizer, {
        namespace,
        now: clock.now(),
        ...(tokens === undefined ? {} : { tokens }),
      });
    };
  }
}

interface DocumentHandler {
  handle(
    path: string,
    request: RequestContext['request'],
  ): HttpResponse | Promise<HttpResponse | undefined> | undefined;
}

async function discoveryHandler(
  registry: ResourceRegistry,
  { address }: ApiServerOptions,
  remoteGroups: RemoteGroups,
): Promise<DocumentHandler> {
  const { DiscoveryHandler } = await import('./discovery/discovery-handler.ts');
  const serverAddress = (): string => {
    const { host, port } = address?.() ?? { host: 'localhost', port: 6443 };
    return `${host}:${port}`;
  };
  return new DiscoveryHandler({
    resources: () => registry.resources(),
    remote: () => remoteGroups.listed(),
    serverAddress,
  });
}

async function openApiHandler(registry: ResourceRegistry, { clock }: ApiServerOptions): Promise<DocumentHandler> {
  const { OpenApiHandler } = await import('./openapi/openapi-handler.ts');
  const handler = new OpenApiHandler({
    resources: () => registry.resources(),
    clock,
    customSchema: ({ group, version, resource }) =>
      registry.find(group, version, resource)?.strategy.openApiSchema as JsonSchema | undefined,
  });
  return { handle: (path, request) => handler.handleInTurns(clock, path, request) };
}

/** Answers in the words of kube-aggregator for a server that does not exist. */
function serviceUnavailable(): HttpResponse {
  return plainText(503, 'service unavailable\n');
}

const rootPaths = [
  OPENID_CONFIGURATION,
  '/api',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v3',
  OPENID_KEYS,
  '/readyz',
  '/version',
];

function jsonDocument(value: unknown): HttpResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: formatJson(value, true) };
}
