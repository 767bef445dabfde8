import {
  type DeleteOptions,
  deleteOptionsFromBody,
  deleteOptionsFromQuery,
} from '../../src/api/deletion/delete-options.ts';
import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { improperWrite } from './allowed-writes.ts';

/** One request as it was sent, with the status of its answer; 0 when none came. */
export interface Call {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: HttpRequest['headers'];
  readonly body: unknown;
  status: number;
  /** The reason of a Status in the answer. */
  reason: string;
}

/** The options of a DELETE, in its body or in its query. */
export function deleteOptionsOf(call: Call | undefined): DeleteOptions {
  if (call?.body !== undefined) return deleteOptionsFromBody(call.body);
  return deleteOptionsFromQuery(new URLSearchParams(call?.query));
}

const DISCOVERY = /^\/(?:api|apis)(?:\/[^/]+(?:\/[^/]+)?)?$/;

/** `/api/v1`, `/apis/apps/v1`, but not `/api/v1/pods`. */
export function isDiscovery(path: string): boolean {
  return DISCOVERY.test(path) && !/^\/api\/[^/]+\/./.test(path);
}

/** Lists and watches of whole resources. */
export function isIntake({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  const parts = path.split('/').filter((part) => part !== '');
  return method === 'GET' && parts.length === (parts[0] === 'api' ? 3 : 4);
}

/** A list of one namespace: only the barrier before an orphaned owner goes makes them (BETTER-13). */
function isBarrierList({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  return method === 'GET' && /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/namespaces\/[^/]+\/[^/]+$/.test(path);
}

/** Writes down every exchange of the client that it is in, and how many are under way. */
export class Recorder {
  readonly all: Call[] = [];
  /** Writes that no collector may send; the function that stops the rig checks it. {@link clear} keeps it. */
  readonly improper: string[] = [];
  #underWay = 0;

  /** Requests without an answer so far. Watches are answered when they begin. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Everything but discovery, lists, watches and the question for the version: what the decisions cost. */
  get calls(): Call[] {
    return this.all.filter(
      (call) => !(call.path === '/version' || isDiscovery(call.path) || isIntake(call) || isBarrierList(call)),
    );
  }

  get barrierLists(): Call[] {
    return this.all.filter(isBarrierList);
  }

  get intake(): Call[] {
    return this.all.filter(isIntake);
  }

  get discoveries(): Call[] {
    return this.all.filter(({ path }) => isDiscovery(path));
  }

  /** The calls that may change something; Events are no part of the decisions. */
  get writes(): Call[] {
    return this.calls.filter(
      ({ method, path }) => method !== 'GET' && !path.endsWith('/events') && !path.includes('/events/'),
    );
  }

  /** `DELETE /api/v1/namespaces/default/configmaps/a 200`, in the order in which they were sent. */
  get lines(): string[] {
    return this.calls.map(({ method, path, status }) => `${method} ${path} ${status}`);
  }

  /** How many calls of each method. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { method } of this.calls) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }

  clear(): void {
    this.all.length = 0;
  }

  readonly intercept: Interceptor = async (request, next) => {
    const url = new URL(request.target, 'http://server.invalid');
    const call: Call = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: jsonOf(request.body),
      status: 0,
      reason: '',
    };
    this.all.push(call);
    const improper = improperWrite(call);
    if (improper !== undefined) this.improper.push(improper);
    this.#underWay++;
    try {
      const response = await next(request);
      call.status = response.status;
      call.reason = reasonOf(response);
      return response;
    } finally {
      this.#underWay--;
    }
  };
}

function jsonOf(body: Uint8Array | undefined): unknown {
  return body === undefined || body.length === 0 ? undefined : (JSON.parse(Buffer.from(body).toString()) as unknown);
}

function reasonOf({ status, body }: HttpResponse): string {
  if (status < 400 || !(body instanceof Uint8Array)) return '';
  try {
    return (JSON.parse(Buffer.from(body).toString()) as { reason?: string }).reason ?? '';
  } catch {
    return '';
  }
}
