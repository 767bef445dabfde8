import { type ApiServer, type ApiServerOptions, createApiServer } from '../../../src/apiserver/api-server.ts';
import type { Store } from '../../../src/apiserver/storage/interface.ts';
import { customResource } from '../../../src/apiserver/test/custom-resource.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../src/base/http-message.ts';
import { noMetrics } from '../../../src/base/metrics/metrics.ts';
import { answer, statusBody } from '../faults.ts';
import { SilentWatch } from './silent-watch.ts';
import { DEFINITIONS, kindNamed, LEASES } from './simulated-kinds.ts';

export interface SimulatedServerOptions extends Pick<ApiServerOptions, 'store' | 'clock' | 'random' | 'logger'> {
  /** The kinds that are served from the start. */
  readonly kinds: readonly string[];
  readonly defines: boolean;
  readonly leases: boolean;
  /** The answer to a watch from a version that is still to come: no events, as kube-apiserver gives it, or 504, as other servers do. */
  readonly watches: 'silent' | 'refused';
}

/** The real API server, from one start until it stops, over a store in memory and with the few resources that a history needs. */
export class SimulatedServer {
  readonly #options: SimulatedServerOptions;
  readonly #server: ApiServer;
  readonly #silent: SilentWatch[] = [];
  #hasRefused = false;

  constructor(options: SimulatedServerOptions) {
    const { store, clock, random, logger } = options;
    this.#options = options;
    this.#server = createApiServer({ store, clock, random, logger, metrics: noMetrics, version: {} });
    this.#serveOnly();
  }

  get store(): Store {
    return this.#options.store;
  }

  get resources(): ApiServer['resources'] {
    return this.#server.resources;
  }

  /** Whether it has ever been. */
  get wasSilent(): boolean {
    return this.#silent.length > 0;
  }

  /** Whether it has refused a watch from a version that is still to come. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** A client reads a watch that has no events yet, because the server's version is lower than the requested one. */
  get isSilent(): boolean {
    return this.#silent.some(({ isWaitedFor }) => isWaitedFor);
  }

  readonly handler: HttpHandler = (request) => {
    const from = watchedFrom(request);
    return from === undefined ? this.#server.handler(request) : this.#watch(request, from);
  };

  start(): Promise<void> {
    return this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.store.close();
  }

  async #watch(request: HttpRequest, from: number): Promise<HttpResponse> {
    const current = await this.store.currentRevision();
    if (from <= current) return this.#server.handler(request);
    const target = request.target.replace(`resourceVersion=${from}`, `resourceVersion=${current}`);
    // Refused, or with the head that any watch has.
    const head = await this.#server.handler({ ...request, target });
    if (head.body instanceof Uint8Array) return head;
    void Promise.resolve(head.body[Symbol.asyncIterator]().return?.()).catch(() => {});
    const { store, clock, watches } = this.#options;
    if (watches === 'refused') {
      this.#hasRefused = true;
      return tooLargeVersion();
    }
    const timeoutMs = 1000 * Number(new URLSearchParams(target.replace(/^[^?]*/, '')).get('timeoutSeconds') ?? 1800);
    const open = (): Promise<HttpResponse> => this.#server.handler(request);
    const body = await SilentWatch.begin({ store, clock, from, timeoutMs, open });
    this.#silent.push(body);
    return { ...head, body };
  }

  #serveOnly(): void {
    const { resources } = this.#server;
    const kinds = this.#options.kinds.map(kindNamed);
    const wanted = new Set(kinds.map(({ gvr }) => `${gvr.group}/${gvr.resource}`)).add('/events');
    if (this.#options.defines) wanted.add(`${DEFINITIONS.gvr.group}/${DEFINITIONS.gvr.resource}`);
    if (this.#options.leases) wanted.add(`${LEASES.gvr.group}/${LEASES.gvr.resource}`);
    for (const { group, version, resource } of resources.resources()) {
      if (!wanted.has(`${group}/${resource}`)) resources.remove(group, version, resource);
    }
    for (const { gvr, kind, namespaced, origin } of kinds) {
      if (origin === 'added') resources.add(customResource({ ...gvr, kind, namespaced }));
    }
  }
}

/** The version that a watch goes on from; undefined for everything else. */
function watchedFrom({ method, target }: HttpRequest): number | undefined {
  if (method !== 'GET' || !target.includes('watch=true') || target.includes('sendInitialEvents=true')) return undefined;
  const version = /[?&]resourceVersion=(\d+)/.exec(target)?.[1];
  return version === undefined ? undefined : Number(version);
}

/** The refusal of a version that the server has not reached. */
export function tooLargeVersion(): HttpResponse {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
  return answer(504, statusBody(504, 'Timeout', { details }));
}
