import {
  isStatus,
  newStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
} from '../../api/status-error.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import { hasEnvelope, openEnvelope, tagOf, WireCursor } from './wire-format.ts';

/** A header that must have a single value. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** The seconds of `Retry-After`. API servers never use the date form, so it is ignored. */
export function retryAfterSecondsOf(headers: HttpHeaders): number | undefined {
  const value = headerOf(headers, 'retry-after');
  return value !== undefined && /^\d{1,9}$/.test(value.trim()) ? Number(value) : undefined;
}

/** The error for an HTTP status without a Status body (client-go `NewGenericServerResponse`). */
const GENERIC: ReadonlyMap<number, readonly [reason: string, message: string]> = new Map([
  [400, ['BadRequest', 'the server rejected our request for an unknown reason']],
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [403, ['Forbidden', 'the server has refused the request']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [406, ['NotAcceptable', 'the server was unable to respond with a content type that the client supports']],
  [409, ['Conflict', 'the server reported a conflict']],
  [410, ['Gone', 'the requested resource is gone']],
  [413, ['RequestEntityTooLarge', 'the request is too large']],
  [415, ['UnsupportedMediaType', 'the body of the request was in an unknown format']],
  [422, ['Invalid', 'the server rejected our request due to an error in our request']],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
  [500, ['InternalError', 'an error on the server has prevented the request from succeeding']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
  [504, ['Timeout', 'the server was unable to return a response in the time allotted']],
]);

/** Maximum bytes of a body without a Status in an error. */
const EXCERPT_BYTES = 2048;

/** The error of an answer without a Status: from a proxy, or plain text of the server. */
export class NoStatusError extends StatusError {
  /** The body, or its beginning. */
  readonly text: string;
  /** True if an API server answered (API-009), and not a proxy. */
  readonly audited: boolean;

  constructor(error: StatusError, answer: { readonly text: string; readonly audited: boolean }) {
    super(error.status);
    this.text = answer.text;
    this.audited = answer.audited;
  }
}

/**
 * The error of an answer with a failing HTTP status. A Status body is used unchanged. Any other body (a proxy, a plain text 404) becomes an
 * error that names no object, so that it never proves an absence (COL-116).
 */
export function statusErrorOf(httpStatus: number, headers: HttpHeaders, body: Uint8Array): StatusError {
  const retryAfter = retryAfterSecondsOf(headers);
  const status = decodeStatus(body, 0, body.length);
  if (status === undefined || status.status === 'Success') {
    const [reason, message] = GENERIC.get(httpStatus) ?? [
      '',
      `the server responded with the status code ${httpStatus}`,
    ];
    const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, EXCERPT_BYTES)).toString('utf8');
    const error = newStatusError(httpStatus, message, {
      ...(reason === '' ? {} : { reason }),
      details: {
        causes: [{ reason: 'UnexpectedServerResponse', message: text }],
        ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
      },
    });
    return new NoStatusError(error, { text, audited: headerOf(headers, 'audit-id') !== undefined });
  }
  status.code ??= httpStatus;
  if (retryAfter !== undefined && status.details?.retryAfterSeconds === undefined) {
    status.details = { ...status.details, retryAfterSeconds: retryAfter };
  }
  return new StatusError(status);
}

/** A `Status` as JSON text or enveloped protobuf; undefined for any other data. */
export function decodeStatus(bytes: Uint8Array, start: number, end: number): Status | undefined {
  try {
    if (hasEnvelope(bytes, start, end)) return decodeProtobufStatus(bytes, start, end);
    const value: unknown = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'),
    );
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function decodeProtobufStatus(bytes: Uint8Array, start: number, end: number): Status | undefined {
  const cursor = new WireCursor().point(bytes, start, end);
  if (envelopedKind(cursor, start, end) !== 'Status') return undefined;
  openEnvelope(cursor, start, end);
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
  while (cursor.more) {
    const tag = cursor.varint();
    if (tag === tagOf(1)) inside(cursor, () => readListMeta(cursor, status.metadata));
    else if (tag === tagOf(2)) status.status = cursor.text() === 'Success' ? 'Success' : 'Failure';
    else if (tag === tagOf(3)) status.message = cursor.text();
    else if (tag === tagOf(4)) setText(cursor.text(), (reason) => (status.reason = reason));
    else if (tag === tagOf(5)) {
      const details: StatusDetails = {};
      inside(cursor, () => readDetails(cursor, details));
      status.details = details;
    } else if (tag === 6 << 3) status.code = cursor.varint();
    else cursor.skip(tag);
  }
  if (status.code === 0) delete status.code;
  return status;
}

/** `typeMeta.kind` of an envelope. */
function envelopedKind(cursor: WireCursor, start: number, end: number): string {
  let kind = '';
  cursor.at = start + 4;
  while (cursor.more) {
    const tag = cursor.varint();
    if (tag !== tagOf(1)) {
      cursor.skip(tag);
      continue;
    }
    inside(cursor, () => {
      const inner = cursor.varint();
      if (inner === tagOf(2)) kind = cursor.text();
      else cursor.skip(inner);
    });
  }
  cursor.point(cursor.bytes, start, end);
  return kind;
}

/** Calls `field` for each field of the nested message at the cursor. */
function inside(cursor: WireCursor, field: () => void): void {
  const outer = cursor.end;
  cursor.end = cursor.delimited();
  while (cursor.more) field();
  cursor.end = outer;
}

/** Go writes empty strings, which JSON leaves out. */
function setText(value: string, set: (value: string) => void): void {
  if (value !== '') set(value);
}

function readListMeta(cursor: WireCursor, meta: Status['metadata']): void {
  const tag = cursor.varint();
  if (tag === tagOf(2)) setText(cursor.text(), (v) => (meta.resourceVersion = v));
  else if (tag === tagOf(3)) setText(cursor.text(), (v) => (meta.continue = v));
  else cursor.skip(tag);
}

function readDetails(cursor: WireCursor, details: StatusDetails): void {
  const tag = cursor.varint();
  if (tag === tagOf(1)) setText(cursor.text(), (v) => (details.name = v));
  else if (tag === tagOf(2)) setText(cursor.text(), (v) => (details.group = v));
  else if (tag === tagOf(3)) setText(cursor.text(), (v) => (details.kind = v));
  else if (tag === tagOf(4)) {
    const cause: StatusCause = {};
    inside(cursor, () => readCause(cursor, cause));
    (details.causes ??= []).push(cause);
  } else if (tag === 5 << 3) {
    const seconds = cursor.varint();
    if (seconds > 0) details.retryAfterSeconds = seconds;
  } else if (tag === tagOf(6)) setText(cursor.text(), (v) => (details.uid = v));
  else cursor.skip(tag);
}

function readCause(cursor: WireCursor, cause: StatusCause): void {
  const tag = cursor.varint();
  if (tag === tagOf(1)) setText(cursor.text(), (v) => (cause.reason = v));
  else if (tag === tagOf(2)) setText(cursor.text(), (v) => (cause.message = v));
  else if (tag === tagOf(3)) setText(cursor.text(), (v) => (cause.field = v));
  else cursor.skip(tag);
}
