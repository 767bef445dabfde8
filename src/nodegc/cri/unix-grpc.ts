import { connect } from 'node:net';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { messageOf } from '../../base/errors/thrown.ts';
import { formatDuration } from '../config/go-duration.ts';
import { type RuntimeFailure, RuntimeCallError } from '../inventory/runtime.ts';

/** The largest message that is accepted. Lists of a full node take some MiB (NODE-230). */
const READ_LIMIT_BYTES = 64 << 20;

const NANOSECONDS_PER_MS = 1_000_000n;

/** Path of `unix:///run/containerd/containerd.sock`. */
export function socketPath(endpoint: string): string {
  return endpoint.replace(/^unix:\/\//, '');
}

/** gRPC over a unix socket, on one HTTP/2 connection. It opens at the first use, and again after it broke. */
export class UnixGrpc {
  readonly endpoint: string;
  readonly transport: Transport;
  readonly #session: Http2SessionManager;

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    const path = socketPath(endpoint);
    // No pings: a Go gRPC server closes connections that ping more often than every 5 minutes.
    this.#session = new Http2SessionManager('http://localhost', {}, { createConnection: () => connect(path) });
    this.transport = createGrpcTransport({
      baseUrl: 'http://localhost',
      sessionManager: this.#session,
      readMaxBytes: READ_LIMIT_BYTES,
      writeMaxBytes: READ_LIMIT_BYTES,
      acceptCompression: [],
    });
  }

  /** Closes the connection and aborts every call on it. */
  close(): void {
    this.#session.abort();
  }
}

/** The system's error code in an error or in one of its causes: `ENOENT`, `EACCES`. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ('code' in cause && typeof cause.code === 'string' && /^E[A-Z]+$/.test(cause.code)) return cause.code;
  }
  return undefined;
}

/** True when the answer says that the object does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.NotFound;
}

export function isUnimplemented(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unimplemented;
}

function failureOf(error: unknown): RuntimeFailure {
  if (systemCodeOf(error) !== undefined) return 'unreachable';
  if (!(error instanceof ConnectError)) return 'failed';
  switch (error.code) {
    case Code.Unavailable:
    case Code.DeadlineExceeded:
    case Code.Canceled:
    case Code.Aborted:
      return 'unreachable';
    case Code.Unimplemented:
      return 'unsupported';
    case Code.PermissionDenied:
    case Code.Unauthenticated:
    case Code.FailedPrecondition:
      return 'refused';
    default:
      return 'failed';
  }
}

/** The library's message when our own time limit for a call has passed. */
const LIMIT_PASSED = 'the operation timed out';

/**
 * Turns the error of a call into the error that callers see. The message is the runtime's own, unless the call was not answered within
 * `timeoutMs`.
 */
export function callError(operation: string, error: unknown, timeoutMs?: number): RuntimeCallError {
  if (error instanceof RuntimeCallError) return error;
  if (timeoutMs !== undefined && error instanceof ConnectError && error.rawMessage === LIMIT_PASSED) {
    const limit = formatDuration(BigInt(timeoutMs) * NANOSECONDS_PER_MS);
    const message = `no answer to ${operation} within ${limit}: context deadline exceeded`;
    return new RuntimeCallError(operation, 'unreachable', message, { cause: error });
  }
  const said = error instanceof ConnectError ? error.rawMessage : messageOf(error);
  const code = systemCodeOf(error);
  const message = said === '' || said === 'internal error' ? (code ?? 'the runtime gave no reason') : said;
  return new RuntimeCallError(operation, failureOf(error), message, { cause: error });
}
