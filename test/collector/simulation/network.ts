import { encodeWatchFrame } from '../../../src/api/codec/metadata/partial-object-metadata.ts';
import { encodeProtobuf } from '../../../src/api/codec/protobuf/protobuf.ts';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { type Clock, sleep } from '../../../src/base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../../src/base/http-message.ts';
import type { Random } from '../../../src/base/random/random.ts';
import type { Interceptor, Send } from '../../../src/client/rest/interceptor.ts';
import { TransportError } from '../../../src/client/http/transport.ts';
import {
  answerWith,
  type Fault,
  pathNotFound,
  refuse,
  resetAfter,
  resetBefore,
  silence,
  statusBody,
  successStatus,
} from '../faults.ts';
import { type Connection, Connections } from './lies/connections.ts';
import type { Lies } from './lies/lies.ts';
import type { FaultName, LatencyPlan, StreamStep } from './plan.ts';
import { classify, isOfClass } from './request-class.ts';
import type { ServerPresence, Stay } from './server-presence.ts';
import { LEASES } from './simulated-kinds.ts';
import { WatchStream } from './watch-stream.ts';

export interface NetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly latency: LatencyPlan;
  readonly encoding: 'json' | 'protobuf';
  /** `list`: the server answers a watch list as one that does not know them. */
  readonly intake?: 'list' | undefined;
  /** Faults wait here for a request that they are meant for; shared by all networks of a history. */
  readonly armed: Armed;
  /** Absent: it is always there. */
  readonly server?: ServerPresence | undefined;
  /** Absent: the right cluster answers each request, with the truth. */
  readonly lies?: Lies | undefined;
  readonly onRequest: (request: HttpRequest) => void;
  /** Called for each exchange that is over; 0: there was no answer. */
  readonly onAnswer: (request: HttpRequest, status: number) => void;
  readonly onFault: (fault: FaultName) => void;
}

/** How long a slow exchange takes, ms. */
const SLOW_MS = 4000;

export interface Armed {
  /** The fault that is meant for this request, which is spent by that. */
  strike(request: Pick<HttpRequest, 'method' | 'target'>): FaultName | undefined;
}

/** The network between one process of the collector and the server. */
export class Network {
  readonly #options: NetworkOptions;
  readonly #streams = new Set<WatchStream>();
  readonly #connections: Connections | undefined;
  #state: 'up' | 'partitioned' | 'dead' = 'up';
  #calm = false;
  #expired: Set<string> | undefined;
  #expiries = 0;
  #underWay = 0;
  #writes = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
    const { lies, random } = options;
    this.#connections = lies === undefined ? undefined : new Connections(lies, random);
  }

  /** No request is without an answer, and no watch holds anything back. */
  get quiet(): boolean {
    if (this.#underWay > 0) return false;
    for (const { holding } of this.#streams) if (holding) return false;
    return true;
  }

  /** A write is without an answer. */
  get isWriting(): boolean {
    return this.#writes > 0;
  }

  /** Resources whose watch is open, sorted. */
  get watched(): string[] {
    return [...this.#streams].map(({ resource }) => resource).toSorted();
  }

  /** From now on nothing goes wrong and nothing takes time. */
  calm(): void {
    this.#calm = true;
    if (this.#state === 'partitioned') this.#state = 'up';
  }

  /** Nothing reaches the server, and no answer comes back; for ever, or until {@link heal}. */
  fail(state: 'partitioned' | 'dead'): void {
    if (this.#state !== 'dead') this.#state = state;
    for (const stream of this.#streams) stream.cut();
  }

  heal(): void {
    if (this.#state === 'partitioned') this.#state = 'up';
  }

  /** Whether any open watch was concerned. */
  disturb({ stream: fault, ms = 0 }: StreamStep, resource: string | undefined): boolean {
    const streams = [...this.#streams].filter((stream) => isDisturbed(stream, resource));
    for (const stream of streams) disturbances[fault](stream, ms);
    return streams.length > 0;
  }

  /** Each watch that goes on from where it was is refused once, so that all is listed anew. */
  expireWatches(): void {
    this.#expired = new Set();
    this.#expiries++;
    for (const stream of this.#streams) stream.cut();
  }

  /** The process knows which cluster is its own. */
  get knowsCluster(): boolean {
    return this.#state === 'dead' || this.#connections?.hasGreeted !== false;
  }

  /** Connections break: the one that is kept, and watches. */
  breakConnections(which: 'all' | 'half' | 'none'): void {
    this.#connections?.break(which);
    if (which === 'none') return;
    for (const stream of this.#streams) {
      if (which === 'all' || this.#options.random.integer(2) === 0) stream.cut();
    }
  }

  readonly intercept: Interceptor = async (asked, next) => {
    const { onRequest, onAnswer } = this.#options;
    const request = this.#options.encoding === 'json' ? inJson(asked) : asked;
    const writes = isOfClass(classify(request.method, request.target), 'write') ? 1 : 0;
    this.#underWay++;
    this.#writes += writes;
    let status = 0;
    const expiries = this.#expiries;
    try {
      this.#mustBeUp();
      const stay = this.#options.server?.connect();
      onRequest(request);
      const way = stay === undefined ? next : whileItLasts(stay, next);
      const passed = this.#pass(request, this.#over(way));
      const response = await (stay === undefined ? passed : stay.carry(passed));
      this.#mustBeUp();
      ({ status } = response);
      if (response.body instanceof Uint8Array) return response;
      const stream = this.#streaming(request, response, response.body);
      stay?.onEnd((remains) => {
        if (this.#streams.has(stream) && !remains(this)) stream.cut();
      });
      // It was opened before the watches expired, and its answer was on its way then.
      if (expiries !== this.#expiries) stream.cut();
      return { ...response, body: stream };
    } finally {
      this.#underWay--;
      this.#writes -= writes;
      onAnswer(request, status);
    }
  };

  /** Over one of the connections that there are. */
  #over(next: Send): Send {
    const connections = this.#connections;
    const { lies } = this.#options;
    if (connections === undefined || lies === undefined) return next;
    const send =
      ({ leadsTo, lied }: Connection): Send =>
      (request) =>
        lies.answer(request, classify(request.method, request.target), { leadsTo, lied, next });
    return async (request) => send(await connections.take(request, send))(request);
  }

  async #pass(request: HttpRequest, next: Send): Promise<HttpResponse> {
    if (this.#options.intake === 'list' && request.target.includes('sendInitialEvents=true')) {
      return refuse(422, 'Invalid')(request, next);
    }
    const { resource } = classify(request.method, request.target);
    const isExpired = (): boolean => {
      if (this.#expired?.has(resource) !== false || !isResumed(request)) return false;
      this.#expired.add(resource);
      return true;
    };
    if (isExpired()) return faults.expired(request, next);
    if (this.#calm) return next(request);
    await this.#delay(request);
    // It may have been on its way when the watches expired.
    if (isExpired()) return faults.expired(request, next);
    const fault = this.#options.armed.strike(request);
    if (fault === undefined) {
      const response = await next(request);
      await this.#delay(request);
      return response;
    }
    this.#options.onFault(fault);
    if (fault === 'requestSlow') await this.#pause(request, SLOW_MS);
    const response = await faults[fault](request, next);
    if (fault === 'answerSlow') await this.#pause(request, SLOW_MS);
    return response;
  }

  async #delay(request: HttpRequest): Promise<void> {
    const { random, latency } = this.#options;
    if (latency.oneIn === 0 || random.integer(latency.oneIn) > 0) return;
    await this.#pause(request, random.integer(latency.maxMs));
  }

  /** Over at once when the sender gives up. */
  #pause({ signal }: HttpRequest, ms: number): Promise<void> {
    return sleep(this.#options.clock, ms, signal).catch(() => {});
  }

  #mustBeUp(): void {
    if (this.#state !== 'up') throw new TransportError('reset', 'connection reset by peer');
  }

  #streaming(request: HttpRequest, response: HttpResponse, body: AsyncIterable<Uint8Array>): WatchStream {
    const { resource } = classify(request.method, request.target);
    const encoding = String(response.headers['content-type']).includes('protobuf') ? 'protobuf' : 'json';
    const { random, latency } = this.#options;
    const stream = new WatchStream(body, {
      resource,
      lag: () =>
        this.#calm || latency.lagMs === undefined || resource === LEASES.gvr.resource
          ? 0
          : random.integer(latency.lagMs),
      encoding,
      clock: this.#options.clock,
      signal: request.signal,
      onEnd: () => void this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }
}

function isResumed({ target }: HttpRequest): boolean {
  return target.includes('watch=true') && !target.includes('sendInitialEvents=true');
}

/** A request that was slow on its way to a server that has stopped does not reach the next server. */
function whileItLasts(stay: Stay, next: Send): Send {
  return (request) => {
    stay.mustLast();
    return next(request);
  };
}

/** Leases stay undisturbed unless they are named: their events show a restore when no other resource of kube-apiserver has changed. */
function isDisturbed(stream: WatchStream, resource: string | undefined): boolean {
  return resource === undefined ? stream.resource !== LEASES.gvr.resource : stream.resource === resource;
}

const pass: Fault = (request, next) => next(request);

const faults: Readonly<Record<FaultName, Fault>> = {
  requestLost: resetBefore,
  answerLost: resetAfter,
  silence,
  answerSwallowed: async (request, next) => {
    await next(request);
    return silence(request, next);
  },
  twice: async (request, next) => {
    const [first] = await Promise.all([next(request), next(request)]);
    return first;
  },
  requestSlow: pass,
  answerSlow: pass,
  conflict: refuse(409, 'Conflict'),
  tooManyRequests: refuse(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } }),
  internalError: refuse(500, 'InternalError'),
  unavailable: refuse(503, 'ServiceUnavailable'),
  badGateway: answerWith(502, 'bad gateway'),
  forbidden: refuse(403, 'Forbidden'),
  expired: refuse(410, 'Expired'),
  invalid: refuse(422, 'Invalid'),
  unsupportedMediaType: refuse(415, 'UnsupportedMediaType'),
  pathNotFound,
  namelessNotFound: refuse(404, 'NotFound'),
  otherNotFound: refuse(404, 'NotFound', { details: { name: 'another', kind: 'configmaps' } }),
  sameNameNotFound: (request, next) => {
    if (request.method === 'GET') return next(request);
    const name = new URL(request.target, 'http://server').pathname.split('/').at(-1);
    return refuse(404, 'NotFound', { details: { name, kind: 'configmaps' } })(request, next);
  },
  emptyObject: answerWith(200, {}),
  noJson: answerWith(200, 'OK'),
  successStatus,
};

const gone = { ...statusBody(410, 'Expired') } satisfies KubeObject;
const goneEvents = {
  json: Buffer.from(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`),
  protobuf: encodeWatchFrame('ERROR', encodeProtobuf(gone)),
};

const disturbances: Readonly<Record<StreamStep['stream'], (stream: WatchStream, ms: number) => void>> = {
  cut: (stream) => stream.cut(),
  end: (stream) => stream.end(),
  gone: (stream) => stream.cut(),
  errorEvent: (stream) => stream.inject(goneEvents[stream.encoding]),
  hold: (stream, ms) => stream.hold(ms),
  repeat: (stream) => stream.repeatNext(),
};

/** As a client does that does not know protobuf. */
function inJson(request: HttpRequest): HttpRequest {
  const accept = String(request.headers['accept']).replace(/^application\/vnd\.kubernetes\.protobuf[^,]*,/, '');
  return { ...request, headers: { ...request.headers, accept } };
}
