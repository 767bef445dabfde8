import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { formatMicroTime } from '../../api/meta/time.ts';
import { assert } from '../../base/errors/assert.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import { queryBoolean, requestLine, type ResourceRequestInfo } from '../endpoints/request/request-info.ts';
import { type AuditRecord, AuditRecords, type AuditTimes } from './audit-records.ts';

/** The path of the events. A reader needs the right to `get` it. */
export const AUDIT_PATH = '/debug/audit';

/** Maximum number of events that are kept for later and slow readers. */
const KEPT_EVENTS = 4096;
/** Maximum number of events in one piece of a stream. */
const PIECE = 256;

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
/** Resources that are created only as a question, such as reviews. */
const QUESTIONS: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** `audit.k8s.io/v1` Event, level Metadata, stage ResponseComplete, without its times. One for each write, including refused ones. */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: 'Metadata';
  readonly auditID: string;
  readonly stage: 'ResponseComplete';
  readonly requestURI: string;
  readonly verb: string;
  readonly user: UserInfo;
  readonly impersonatedUser?: UserInfo;
  readonly userAgent?: string;
  readonly objectRef: Readonly<Record<string, string>>;
  readonly responseStatus: { readonly metadata: object; readonly code: number };
  /** The annotations of admission. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Every write, as a stream for consoles and people (API-379). The newest {@link KEPT_EVENTS} are kept: a slower reader loses the rest, and
 * receives their number.
 */
export class AuditLog {
  readonly #records = new AuditRecords({ bound: KEPT_EVENTS });
  #waiting = new Set<() => void>();
  #state: 'open' | 'stopped' = 'open';

  /** The caller calls it once the answer is known. */
  record(context: RequestContext, code: number, times: AuditTimes): void {
    const { info } = context;
    if (info.type !== 'resource' || !WRITES.has(info.verb) || QUESTIONS.has(info.group)) return;
    const { auditId, createdName, user, impersonator } = context;
    const { method, target } = context.request;
    const annotations = context.annotations && Object.fromEntries(context.annotations);
    const userAgent = context.header('user-agent');
    this.#records.add({
      auditId,
      method,
      target,
      createdName,
      user,
      impersonator,
      userAgent,
      annotations,
      code,
      times,
    });
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Ends the streams. */
  stop(): void {
    this.#state = 'stopped';
    for (const wake of this.#waiting) wake();
  }

  /** The newest events, one a line. With `watch`, later events follow until the client closes the stream. */
  handle({ query, request }: RequestContext): HttpResponse {
    const { oldest, next } = this.#records;
    const { signal } = request;
    const follow = queryBoolean(query, 'watch');
    return {
      status: 200,
      headers: { 'content-type': 'application/x-ndjson' },
      body: follow ? this.#follow(oldest, signal) : this.#piece(oldest, next),
    };
  }

  async *#follow(from: number, signal: AbortNotice | undefined): AsyncGenerator<Uint8Array> {
    let position = from;
    while (this.#isRead(signal)) {
      const { oldest, next } = this.#records;
      if (position < oldest) {
        yield Buffer.from(`${JSON.stringify({ kind: 'Lost', events: oldest - position })}\n`);
        position = oldest;
      }
      const end = Math.min(next, position + PIECE);
      if (end > position) {
        yield this.#piece(position, end);
        position = end;
      } else {
        await this.#more(signal);
      }
    }
  }

  #isRead(signal: AbortNotice | undefined): boolean {
    return this.#state === 'open' && signal?.aborted !== true;
  }

  /** Resolves with the next event, or when the stream ends. */
  #more(signal: AbortNotice | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  #piece(from: number, to: number): Uint8Array {
    let text = '';
    for (let n = from; n < to; n++) text += lineOf(this.#records.read(n));
    return Buffer.from(text);
  }
}

function lineOf(record: AuditRecord): string {
  const { times } = record;
  const timestamps = {
    requestReceivedTimestamp: formatMicroTime(times.received),
    stageTimestamp: formatMicroTime(times.answered),
  };
  return `${stringifyExactJson({ ...eventOf(record), ...timestamps })}\n`;
}

function eventOf(record: AuditRecord): AuditEvent {
  const { auditId, target, user, impersonator, userAgent, annotations, code } = record;
  const { info } = requestLine(record.method, target);
  assert(info?.type === 'resource', 'what is recorded is about a resource');
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: auditId,
    stage: 'ResponseComplete',
    requestURI: target,
    verb: info.verb,
    user: impersonator ?? user,
    ...(impersonator === undefined ? {} : { impersonatedUser: user }),
    ...(userAgent === undefined ? {} : { userAgent }),
    objectRef: objectRef(info, record.createdName),
    responseStatus: { metadata: {}, code },
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function objectRef(info: ResourceRequestInfo, createdName: string): Record<string, string> {
  const { resource, namespace, group: apiGroup, version: apiVersion, subresource } = info;
  const name = info.name === '' ? createdName : info.name;
  const fields = { resource, namespace, name, apiGroup, apiVersion, subresource };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
