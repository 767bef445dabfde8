import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { TimeoutError } from '../../base/time/abort.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { TransportError } from './transport.ts';

/** The error of an aborted request: `timeout` if a deadline aborted it, otherwise `aborted`. */
export function abortedTransportError(signal: AbortNotice): TransportError {
  const reason: unknown = signal.reason;
  return reason instanceof TimeoutError
    ? new TransportError('timeout', `request ${reason.message}`, { cause: reason })
    : new TransportError('aborted', 'the request was aborted', { cause: reason });
}

/** The error of a request on a closed transport. `cause` is the error of a request in progress. */
export function closedError(cause?: unknown): TransportError {
  return new TransportError('aborted', 'the transport is closed', { cause });
}

const REFUSED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'EADDRNOTAVAIL']);
const TIMED_OUT = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);
const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH|ERR_OSSL)/;
const PROTOCOL =
  /^(HPE_(?!INVALID_EOF_STATE)|UND_ERR_HEADERS_OVERFLOW|ERR_HTTP2_(?!STREAM_CANCEL|SESSION_ERROR|GOAWAY))/;

/** Converts an error of Node's sockets, TLS or HTTP parsers to a {@link TransportError}. */
export function transportErrorOf(error: unknown, signal?: AbortNotice): TransportError {
  if (error instanceof TransportError) return error;
  if (signal?.aborted === true) return abortedTransportError(signal);
  // OpenSSL's messages end with a line feed.
  const message = messageOf(error).trim();
  const code = codeOf(error);
  return new TransportError(classify(code), message === '' ? code : message, { cause: error });
}

/** undici's parser has numeric errors; one of them is the end of a connection inside an answer. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.name !== 'HTTPParserError') return 'code' in error ? String(error.code) : '';
  return error.message.includes('Invalid EOF state') ? 'HPE_INVALID_EOF_STATE' : 'HPE_INVALID_CONSTANT';
}

function classify(code: string): TransportError['code'] {
  if (REFUSED.has(code)) return 'refused';
  if (TIMED_OUT.has(code)) return 'timeout';
  if (TLS.test(code)) return 'tls';
  if (PROTOCOL.test(code)) return 'protocol';
  return 'reset';
}
