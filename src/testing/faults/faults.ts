import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { parseRequestInfo } from '../../apiserver/endpoints/request/request-info.ts';
import { type Clock, sleep, systemClock } from '../../base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Random } from '../../base/random/random.ts';
import type { Send } from '../../client/rest/interceptor.ts';
import { abortedTransportError } from '../../client/http/transport-failure.ts';
import { TransportError } from '../../client/http/transport.ts';
import { actorOf } from '../actors/actor.ts';
import { checkRule } from './check-fault-rule.ts';
import type { FaultAnswer, FaultRequest, FaultRule, RequestMethod } from './fault-rule.ts';
import type { Recorder } from '../trace/recorder.ts';
import { jsonBodyOf, requestedName, requestedObject } from '../trace/requested-object.ts';

export interface FaultsOptions {
  readonly clock: Clock;
  /** True for the fake clock: a delay lasts until the test advances the time. */
  readonly clockStands: boolean;
  readonly random: Random;
  readonly recorder: Recorder;
  /** The served resources; the trace takes the names of kinds from them. */
  readonly served: () => readonly ResourceInfo[];
}

/** Real milliseconds after which a request that waits for the fake clock reports it. */
const NOTICE_MS = 1000;
/** Maximum number of rules. */
const MAX_RULES = 1000;

/** The faults between the clients and the API server of one cluster. The first matching rule applies. */
export class Faults {
  readonly #rules: { readonly rule: FaultRule; left: number }[] = [];
  readonly #clock: Clock;
  readonly #clockStands: boolean;
  readonly #random: Random;
  readonly #recorder: Recorder;
  readonly #served: () => readonly ResourceInfo[];
  /** Ends the delay of a request; one for each delayed request. */
  readonly #held = new Set<() => void>();
  #closed = false;

  constructor({ clock, clockStands, random, recorder, served }: FaultsOptions) {
    this.#clock = clock;
    this.#clockStands = clockStands;
    this.#random = random;
    this.#recorder = recorder;
    this.#served = served;
  }

  /** Number of currently delayed requests. */
  get held(): number {
    return this.#held.size;
  }

  /** Adds a rule. Returns a function that removes it. */
  add(rule: FaultRule): () => void {
    if (this.#rules.length >= MAX_RULES) throw new RangeError(`more than ${MAX_RULES} fault rules`);
    checkRule(rule, this.#served());
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(entry);
    return () => {
      const index = this.#rules.indexOf(entry);
      if (index >= 0) this.#rules.splice(index, 1);
    };
  }

  /** Removes all rules. */
  clear(): void {
    this.#rules.length = 0;
  }

  /** The cluster stops: delayed and later delays reject. */
  close(): void {
    this.#closed = true;
    for (const giveUp of this.#held) giveUp();
  }

  /** Intercepts all requests: as an interceptor of in-process clients, and as a filter of the listener. */
  readonly intercept = async (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    const rule = this.#rules.length === 0 ? undefined : this.#strike(request);
    if (rule === undefined) return next(request);
    const who = actorOf(request);
    const words = [
      ...(rule.delay === undefined ? [] : [`delayed by ${rule.delay} ms`]),
      ...(rule.drop === undefined ? [] : [`${rule.drop} lost`]),
      ...(rule.answer === undefined ? [] : [`answered ${rule.answer.status}`]),
    ];
    this.#recorder.note('fault', who, `${request.method} ${request.target.split('?')[0]}: ${words.join(', ')}`, {
      object: requestedObject(request, this.#served),
    });
    if (rule.delay !== undefined) await this.#hold(request, rule.delay);
    if (rule.drop === 'request') throw broken();
    const response = rule.answer === undefined ? await next(request) : answer(rule.answer);
    if (rule.drop === undefined) return response;
    if (!(response.body instanceof Uint8Array)) void response.body[Symbol.asyncIterator]().return?.();
    throw broken();
  };

  async #hold(request: HttpRequest, ms: number): Promise<void> {
    const { signal } = request;
    const notice = this.#clockStands ? systemClock.setTimer(NOTICE_MS, this.#noticeOf(request, ms)) : undefined;
    const over = new AbortController();
    const giveUp = (): void => over.abort();
    if (this.#closed || signal?.aborted === true) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#held.add(giveUp);
    try {
      await sleep(this.#clock, ms, over.signal);
    } catch (error) {
      throw signal?.aborted === true ? abortedTransportError(signal) : stopped(error);
    } finally {
      notice?.cancel();
      this.#held.delete(giveUp);
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Reports that the request waits for time that does not pass, unless time has passed meanwhile. */
  #noticeOf(request: HttpRequest, ms: number): () => void {
    const since = this.#clock.monotonic();
    return () => {
      if (this.#clock.monotonic() !== since) return;
      const who = actorOf(request);
      const what = `${request.method} ${request.target.split('?')[0]}`;
      const message = `a fault rule holds it back, and the fake clock stands; cluster.clock.advance(${ms}) lets it go on`;
      this.#recorder.note('trouble', who, `${what}: ${message}`, {
        object: requestedObject(request, this.#served),
      });
      warnProcess('KubegcWarning', `${what} of ${who} has waited for a second: ${message}`);
    };
  }

  #strike(request: HttpRequest): FaultRule | undefined {
    const described = describe(request);
    const entry = this.#rules.find(({ rule, left }) => {
      if (left <= 0 || !matches(rule, described)) return false;
      return rule.probability === undefined || this.#random.float() < rule.probability;
    });
    if (entry === undefined) return undefined;
    entry.left--;
    return entry.rule;
  }
}

function matches({ match }: FaultRule, request: FaultRequest): boolean {
  if (typeof match === 'function') return match(request);
  return (Object.keys(match) as (keyof typeof match)[]).every(
    (field) => match[field] === undefined || match[field] === request[field],
  );
}

function describe(request: HttpRequest): FaultRequest {
  const [path = '', parameters = ''] = request.target.split('?');
  const query = new URLSearchParams(parameters);
  const info = parseRequestInfo(request.method, path, query);
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '' };
  const { group, version, resource, subresource, namespace } = info?.type === 'resource' ? info : none;
  const body = jsonBodyOf(request);
  const name = info?.type === 'resource' ? requestedName(info, () => body) : '';
  const verb = (info?.verb ?? '') as FaultRequest['verb'];
  return {
    who: actorOf(request),
    method: request.method as RequestMethod,
    verb,
    path,
    query,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    body,
  };
}

function answer({ status, reason, message, retryAfterSeconds }: FaultAnswer): HttpResponse {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: message ?? `answered by a fault rule with ${status}`,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    code: status,
  };
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

const broken = (): TransportError => new TransportError('reset', 'a fault rule broke the connection');
const stopped = (cause: unknown): TransportError =>
  new TransportError('aborted', 'the cluster was stopped while a fault rule held the request back', { cause });

/** Prints a warning: Node prints it on stderr after `name`, and test runners show it with the test. */
function warnProcess(name: string, message: string): void {
  process.emitWarning(message, name);
}
