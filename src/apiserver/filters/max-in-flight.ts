import type { HttpResponse } from '../../base/http-message.ts';
import { GROUP_MASTERS } from '../authentication/user-info.ts';
import { plainText } from '../endpoints/response/plain-text.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';

export interface InFlightLimits {
  readonly reads: number;
  readonly writes: number;
}

/** Upstream's defaults (API-012). */
export const defaultInFlightLimits: InFlightLimits = { reads: 400, writes: 200 };

export type InFlightKind = 'read' | 'write' | 'long';

/**
 * Limits concurrent requests (API-012). Watches and other long-running requests do not count. A request beyond the limit is refused at
 * once, not queued.
 */
export class MaxInFlight {
  readonly #limits: InFlightLimits;
  #reads = 0;
  #writes = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  get reads(): number {
    return this.#reads;
  }

  get writes(): number {
    return this.#writes;
  }

  /** False if the limit is reached. Administrators count but are never refused, so that they can examine an overload. */
  enter(kind: InFlightKind, context: RequestContext): boolean {
    if (!isCounted(kind, context)) return true;
    const full = kind === 'read' ? this.#reads >= this.#limits.reads : this.#writes >= this.#limits.writes;
    if (full && !context.user.groups.includes(GROUP_MASTERS)) return false;
    if (kind === 'read') this.#reads++;
    else this.#writes++;
    return true;
  }

  leave(kind: InFlightKind, context: RequestContext): void {
    if (!isCounted(kind, context)) return;
    if (kind === 'read') this.#reads--;
    else this.#writes--;
  }
}

/** In-process clients have as many requests in flight as they have workers, and do not count. */
function isCounted(kind: InFlightKind, { request }: RequestContext): boolean {
  return kind !== 'long' && request.remote === true;
}

export function inFlightKind({ info, request }: RequestContext): InFlightKind {
  if (info.type === 'resource' && info.verb === 'watch') return 'long';
  return request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
}

export function tooManyRequests(): HttpResponse {
  return plainText(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
}
