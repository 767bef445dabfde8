import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { newBadRequest, newRequestEntityTooLarge } from '../../api/status-error.ts';
import type { AfterTurn } from '../../base/time/after-turn.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { RequestContext } from '../endpoints/request/request-context.ts';
import { requestLine } from '../endpoints/request/request-info.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditTimes } from './audit-records.ts';
import { authenticate, type AuthenticationOptions } from './authentication.ts';
import { authorize } from './authorization.ts';
import { compress } from './compression.ts';
import { errorResponse } from './error-response.ts';
import { impersonate } from './impersonation.ts';
import { type InFlightLimits, inFlightKind, MaxInFlight, tooManyRequests } from './max-in-flight.ts';
import { RequestMetrics } from './request-metrics.ts';
import { requestTimeout, withTimeout } from './request-timeout.ts';
import { warningHeader } from './warnings.ts';

export interface HandlerChainOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Runs work that no client waits for. */
  readonly afterTurn: AfterTurn;
  readonly authentication: AuthenticationOptions;
  readonly authorizer: Authorizer;
  readonly limits: InFlightLimits;
  readonly audit: AuditLog;
  /** True if the resource is served, and has the subresource in the path if there is one. */
  served(path: ServedPath): boolean;
  /** Registers a listener for each resource that stops being served. */
  onRemoved(listener: (removed: GroupVersionResource) => void): void;
  /** The handler behind the filters. Rejects with a StatusError for an invalid request. */
  route(context: RequestContext): Promise<HttpResponse> | HttpResponse;
}

/** The parts of a path that identify the requested resource. */
export interface ServedPath extends GroupVersionResource {
  /** Empty for the object itself. */
  readonly subresource: string;
}

/** Maximum length of a client's Audit-Id. */
const MAX_AUDIT_ID = 128;

/**
 * Everything between the wire and the endpoints, in upstream's order: audit id, errors, authentication, impersonation, authorization, body,
 * size, requests in flight, timeout; and on the way back warnings, headers, compression, metrics.
 */
export function buildHandlerChain(options: HandlerChainOptions): HttpHandler {
  const { clock, random, logger, afterTurn } = options;
  const inFlight = new MaxInFlight(options.limits);
  const metrics = new RequestMetrics(options.metrics, inFlight);
  options.onRemoved((removed) => metrics.forget(removed));

  const pass = async (context: RequestContext): Promise<HttpResponse> => {
    const user = authenticate(context, options.authentication);
    context.user = user instanceof Promise ? await user : user;
    const asked = impersonate(context, options.authorizer);
    if (asked !== context.user) context.impersonator = context.user;
    context.user = asked;
    authorize(context, options.authorizer);
    const { load } = context.request;
    if (load !== undefined) {
      const loaded = await load();
      if (loaded === 'refused') return tooManyRequests();
      // The client is gone, so nobody reads the answer.
      if (loaded === 'aborted') throw newBadRequest('the body of the request did not come');
    }
    limitBody(context);
    const kind = inFlightKind(context);
    const timeoutMs = requestTimeout(context, kind);
    if (!inFlight.enter(kind, context)) return tooManyRequests();
    try {
      if (timeoutMs === undefined) return await options.route(context);
      return await withTimeout(() => options.route(context), { context, clock, timeoutMs });
    } finally {
      inFlight.leave(kind, context);
    }
  };

  const note = (context: RequestContext, code: number, times: AuditTimes & { readonly seconds: number }): void => {
    const { info } = context;
    options.audit.record(context, code, times);
    metrics.observe(context, {
      code,
      seconds: times.seconds,
      served: info.type === 'resource' && options.served(info),
    });
  };

  return async (request) => {
    const started = clock.monotonic();
    const received = clock.now();
    const { context, decodable } = contextOf(request, random);
    let response: HttpResponse;
    try {
      if (!decodable) throw newBadRequest(`invalid URL escape in path ${JSON.stringify(context.path)}`);
      const compressed = compress(await pass(context), context);
      response = compressed instanceof Promise ? await compressed : compressed;
    } catch (error) {
      response = await errorResponse(error, context, logger);
    }
    const answered = clock.now();
    const seconds = (clock.monotonic() - started) / 1000;
    afterTurn.add(() => note(context, response.status, { received, answered, seconds }));
    if (request.remote !== true) afterTurn.run();
    return withHeaders(response, context);
  };
}

interface OpenedRequest {
  readonly context: RequestContext;
  /** False if the path is not valid percent-encoding. */
  readonly decodable: boolean;
}

function contextOf(request: HttpRequest, random: Random): OpenedRequest {
  const { path, query, info } = requestLine(request.method, request.target);
  const context = new RequestContext({
    request,
    path,
    query,
    info: info ?? { type: 'nonResource', path, verb: request.method.toLowerCase() },
    auditId: auditId(request, random),
  });
  return { context, decodable: info !== undefined };
}

/** The id that the client set, or a new one (API-009). */
function auditId({ headers }: HttpRequest, random: Random): string {
  const given = headers['audit-id'];
  return typeof given === 'string' && given !== '' && given.length <= MAX_AUDIT_ID ? given : random.uuid();
}

function withHeaders(response: HttpResponse, context: RequestContext): HttpResponse {
  const { warnings } = context;
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': context.auditId,
    'cache-control': 'no-cache, private',
  };
  if (warnings.length > 0) headers['warning'] = warnings.map(warningHeader);
  for (const name in response.headers) headers[name] = response.headers[name]!;
  return { status: response.status, headers, body: response.body };
}

/** A larger body gets 413 (API-007). */
const BODY_LIMIT = 3 * 1024 * 1024;

/** The listener keeps at most one byte more than the limit, so a body that is too large is detected without being stored. */
function limitBody({ request }: RequestContext): void {
  if ((request.body?.length ?? 0) > BODY_LIMIT) throw newRequestEntityTooLarge(`limit is ${BODY_LIMIT}`);
}
