import { messageOf } from '../base/errors/thrown.ts';
import type { FieldError } from './field-error.ts';
import { formatFieldError } from './field-error.ts';
import type { GroupKind, GroupResource } from './meta/group-version-kind.ts';
import { formatGroupKind, formatGroupResource } from './meta/group-version-kind.ts';
import { quoted } from './meta/quoted.ts';

/**
 * Every API error is a `Status` (API-042). The texts below are part of the protocol: clients, kubectl and the conformance tests match them
 * literally.
 */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  /** Absent for the core group (API-040). */
  group?: string;
  /** The plural resource for storage and authorization errors, the Kind for validation and preconditions (API-040). */
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  /** Also sent as the `Retry-After` header (API-041). */
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  /** HTTP status. A success may omit it (API-043). */
  code?: number;
}

interface Failure {
  readonly code: number;
  readonly message: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly continueToken?: string;
}

/** Fields in the API server's order, without empty ones. */
function failureStatus(failure: Failure): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: failure.continueToken === undefined ? {} : { continue: failure.continueToken },
    status: 'Failure',
    message: failure.message,
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(failure.details === undefined ? {} : { details: compactDetails(failure.details) }),
    code: failure.code,
  };
}

function compactDetails(details: StatusDetails): StatusDetails {
  const out: StatusDetails = {};
  if (details.name) out.name = details.name;
  if (details.group) out.group = details.group;
  if (details.kind) out.kind = details.kind;
  if (details.uid) out.uid = details.uid;
  if (details.causes !== undefined && details.causes.length > 0) out.causes = details.causes;
  if (details.retryAfterSeconds) out.retryAfterSeconds = details.retryAfterSeconds;
  return out;
}

/** The error that every API call of the client throws. Its `message` is the message of the Status. */
export class StatusError extends Error {
  /** The name of the class. */
  override readonly name = 'StatusError';
  /** The Status as the server sent it. */
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? '', options);
    this.status = status;
  }

  /** HTTP status; 500 if the Status has none. */
  get code(): number {
    return this.status.code ?? 500;
  }

  /** Empty if the Status has none. */
  get reason(): string {
    return this.status.reason ?? '';
  }

  /** The object of the error, and its causes. */
  get details(): StatusDetails {
    return this.status.details ?? {};
  }

  /** Seconds until a retry makes sense, if the server said so. */
  get retryAfterSeconds(): number {
    return this.details.retryAfterSeconds ?? 0;
  }

  /**
   * Converts any thrown value to an API error: a StatusError stays, a `Status` body is wrapped, and everything else becomes a 500 with its
   * text and without a reason (apiserver `responsewriters.ErrorToAPIStatus`).
   */
  static from(value: unknown): StatusError {
    if (value instanceof StatusError) return value;
    if (isStatus(value)) return new StatusError(value);
    return new StatusError(failureStatus({ code: 500, message: messageOf(value) }), { cause: value });
  }
}

/** True for a decoded `Status` body of either spelling of its version. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  return kind === 'Status' && (apiVersion === 'v1' || apiVersion === 'meta.k8s.io/v1');
}

function statusError(failure: Failure): StatusError {
  return new StatusError(failureStatus(failure));
}

function resourceDetails(gr: GroupResource, name: string): StatusDetails {
  return { name, group: gr.group, kind: gr.resource };
}

/** A status with any code and reason, for statuses without a function of their own. */
export function newStatusError(
  code: number,
  message: string,
  extra: { readonly reason?: string; readonly details?: StatusDetails } = {},
): StatusError {
  return statusError({ code, message, ...extra });
}

export function newBadRequest(message: string): StatusError {
  return statusError({ code: 400, reason: 'BadRequest', message });
}

export function newUnauthorized(): StatusError {
  return statusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

/** Without a name, the message lacks the quoted name; without a resource, it begins with `forbidden`. */
export function newForbidden(gr: GroupResource, name: string, why: string): StatusError {
  const resource = formatGroupResource(gr);
  const message =
    resource === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${resource} is forbidden: ${why}`
        : `${resource} ${quoted(name)} is forbidden: ${why}`;
  return statusError({ code: 403, reason: 'Forbidden', message, details: resourceDetails(gr, name) });
}

/** 403 for creating content in a terminating namespace, with the cause that clients check (API-303). */
export function newNamespaceTerminating(gr: GroupResource, name: string, namespace: string): StatusError {
  const resource = formatGroupResource(gr);
  const subject = name === '' ? resource : `${resource} ${quoted(name)}`;
  return statusError({
    code: 403,
    reason: 'Forbidden',
    message: `${subject} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    details: {
      ...resourceDetails(gr, name),
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}

/** The 404 for a missing object. Its details name the object, which makes it a proof of absence (COL-116). */
export function newNotFound(gr: GroupResource, name: string): StatusError {
  return statusError({
    code: 404,
    reason: 'NotFound',
    message: `${formatGroupResource(gr)} ${quoted(name)} not found`,
    details: resourceDetails(gr, name),
  });
}

/** The 404 for an unknown path in a served group (API-004). Its details are empty, so it proves no absence. */
export function newPathNotFound(): StatusError {
  return statusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** 405 of built-in paths (API-005). */
export function newMethodNotSupported(): StatusError {
  return statusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

/** 405 of custom resource paths (API-005). */
export function newVerbNotSupported(gr: GroupResource, verb: string): StatusError {
  return statusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${verb} is not supported on resources of kind ${quoted(formatGroupResource(gr))}`,
    details: resourceDetails(gr, ''),
  });
}

export function newNotAcceptable(message: string): StatusError {
  return statusError({ code: 406, reason: 'NotAcceptable', message });
}

/** `terminating` means that the existing object is being deleted (API-153). */
export function newAlreadyExists(
  gr: GroupResource,
  name: string,
  options: { readonly terminating?: boolean } = {},
): StatusError {
  const prefix = options.terminating === true ? 'object is being deleted: ' : '';
  return statusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${prefix}${formatGroupResource(gr)} ${quoted(name)} already exists`,
    details: resourceDetails(gr, name),
  });
}

/** Every generated name was already taken (API-061). */
export function newGenerateNameConflict(gr: GroupResource, name: string): StatusError {
  return statusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${formatGroupResource(gr)} ${quoted(name)} already exists, the server was not able to generate a unique name for the object`,
    details: { ...resourceDetails(gr, name), retryAfterSeconds: 1 },
  });
}

const OPTIMISTIC_LOCK = 'the object has been modified; please apply your changes to the latest version and try again';

export function newConflict(gr: GroupResource, name: string, why: string = OPTIMISTIC_LOCK): StatusError {
  return statusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${formatGroupResource(gr)} ${quoted(name)}: ${why}`,
    details: resourceDetails(gr, name),
  });
}

/** The conflict of server-side apply with other managers, with one cause `FieldManagerConflict` per field. */
export function newApplyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return statusError({ code: 409, reason: 'Conflict', message, details: { causes: [...causes] } });
}

/**
 * Maximum number of reported errors. A request of 3 MiB can have a million errors, and an answer of 180 MiB would take seconds to build.
 */
export const MOST_CAUSES_TOLD = 10_000;

/** Maximum size of all causes together, in characters. A finding may contain the invalid value, which can be most of the request. */
export const MOST_TEXT_TOLD = 2 ** 20;

/** The first errors that fit, at least one. */
function toldOf(errors: readonly FieldError[]): readonly FieldError[] {
  let text = 0;
  const end = errors.findIndex(({ field, message }, index) => {
    text += field.length + message.length;
    return index > 0 && (index === MOST_CAUSES_TOLD || text > MOST_TEXT_TOLD);
  });
  return end === -1 ? errors : errors.slice(0, end);
}

/**
 * The message has each text once, the causes have all (API-072). Beyond ten thousand errors, or a mebibyte of them, only the first ones and
 * a count of the rest are kept.
 */
export function newInvalid(gk: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const told = toldOf(errors);
  const texts = [...new Set(told.map(formatFieldError))];
  if (told.length < errors.length) texts.push(`and ${errors.length - told.length} more`);
  const subject = `${formatGroupKind(gk)} ${quoted(name)} is invalid`;
  const message =
    texts.length === 0 ? subject : `${subject}: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`;
  return statusError({
    code: 422,
    reason: 'Invalid',
    message,
    details: {
      name,
      group: gk.group,
      kind: gk.kind,
      causes: told.map((error) => ({ reason: error.reason, message: error.message, field: error.field })),
    },
  });
}

/** 422 without subject or causes: a patch that cannot be applied (API-194). */
export function newUnprocessable(): StatusError {
  return statusError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

export function newUnsupportedMediaType(message: string): StatusError {
  return statusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

/** `message` is the part after `Request entity too large: `. */
export function newRequestEntityTooLarge(message: string): StatusError {
  return statusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: ${message}`,
  });
}

/** 410 for an expired version. With a token, a client can continue its list at the same position, without consistency (API-099). */
export function newExpired(message: string, continueToken?: string): StatusError {
  return statusError({
    code: 410,
    reason: 'Expired',
    message,
    ...(continueToken === undefined ? {} : { continueToken }),
  });
}

/** 504 for a version that the server has not reached (API-094). */
export function newTooLargeResourceVersion(requested: number | string, current: number | string): StatusError {
  return statusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

export function newTooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return statusError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } });
}

export function newInternalError(message: string): StatusError {
  return statusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** 500 without a reason and with the bare text (API-060, 139, 196, 223, 464). */
export function newUntypedInternal(message: string): StatusError {
  return statusError({ code: 500, message });
}

/** 500 that asks the client to retry. Upstream puts the verb in place of the name. */
export function newServerTimeout(gr: GroupResource, verb: string, retryAfterSeconds = 0): StatusError {
  return statusError({
    code: 500,
    reason: 'ServerTimeout',
    message: `The ${verb} operation against ${formatGroupResource(gr)} could not be completed at this time, please try again.`,
    details: { ...resourceDetails(gr, verb), retryAfterSeconds },
  });
}

export function newServiceUnavailable(message: string): StatusError {
  return statusError({ code: 503, reason: 'ServiceUnavailable', message });
}

/** `message` is the part after `Timeout: `. */
export function newTimeout(message: string, retryAfterSeconds = 0): StatusError {
  return statusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: { retryAfterSeconds },
  });
}

/** The answer of DELETE when the object is gone (API-043). `kind` is the plural. */
export function successStatus(details: StatusDetails): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: compactDetails(details),
  };
}

/** Reasons that decide alone. With any other reason or none, the HTTP status decides (upstream `ReasonForError`). */
const KNOWN_REASONS: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StoreReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

function matches(error: unknown, reason: string, code?: number): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  if (error.reason === reason) return true;
  return code !== undefined && error.code === code && !KNOWN_REASONS.has(error.reason);
}

/** True for any 404, which proves nothing about an object: see {@link isObjectNotFound}. */
export function isNotFound(error: unknown): error is StatusError {
  return matches(error, 'NotFound', 404);
}

/**
 * True for a proof that the object of this name does not exist: reason NotFound and the name in the details. A 404 for a path (no such API,
 * a proxy) lacks the name and proves nothing (COL-116).
 */
export function isObjectNotFound(error: unknown, name: string): error is StatusError {
  return error instanceof StatusError && error.reason === 'NotFound' && name !== '' && error.details.name === name;
}

/** True if the name is taken (409 AlreadyExists). */
export function isAlreadyExists(error: unknown): error is StatusError {
  return matches(error, 'AlreadyExists');
}

/** True if the object has changed meanwhile, or a precondition failed (409 Conflict). */
export function isConflict(error: unknown): error is StatusError {
  return matches(error, 'Conflict', 409);
}

/** True if the object is invalid (422); the causes name its fields. */
export function isInvalid(error: unknown): error is StatusError {
  return matches(error, 'Invalid', 422);
}

/** True if the version is too old (410 Gone). */
export function isGone(error: unknown): error is StatusError {
  return matches(error, 'Gone', 410);
}

/** True for a resource version or continue token older than the kept history; the client must list again. */
export function isExpired(error: unknown): error is StatusError {
  return matches(error, 'Expired');
}

/** True if the user lacks the permission (403). */
export function isForbidden(error: unknown): error is StatusError {
  return matches(error, 'Forbidden', 403);
}

export function isBadRequest(error: unknown): error is StatusError {
  return matches(error, 'BadRequest', 400);
}

export function isMethodNotSupported(error: unknown): error is StatusError {
  return matches(error, 'MethodNotAllowed', 405);
}

export function isNotAcceptable(error: unknown): error is StatusError {
  return matches(error, 'NotAcceptable', 406);
}

export function isUnsupportedMediaType(error: unknown): error is StatusError {
  return matches(error, 'UnsupportedMediaType', 415);
}

export function hasStatusCause(error: unknown, reason: string): boolean {
  return error instanceof StatusError && (error.details.causes ?? []).some((cause) => cause.reason === reason);
}
