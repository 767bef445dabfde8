import { TimeoutError } from '../base/abort.ts';
import { TransportError } from './transport.ts';

/** What an aborted request rejects with: `timeout` when a deadline did it, else `aborted`. */
export function abortedTransportError(signal: AbortSignal): TransportError {
  const reason: unknown = signal.reason;
  return reason instanceof TimeoutError
    ? new TransportError('timeout', `request ${reason.message}`, { cause: reason })
    : new TransportError('aborted', 'the request was aborted', { cause: reason });
}

const REFUSED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'EADDRNOTAVAIL']);
const TIMED_OUT = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT']);
const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH|ERR_OSSL)/;
const PROTOCOL = /^(HPE_|ERR_HTTP2_(?!STREAM_CANCEL|SESSION_ERROR|GOAWAY))/;

/** An error of Node's sockets, TLS or HTTP parsers in the words of {@link TransportError}. */
export function transportErrorOf(error: unknown, signal?: AbortSignal): TransportError {
  if (error instanceof TransportError) return error;
  if (signal?.aborted === true) return abortedTransportError(signal);
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new TransportError(classify(code), message === '' ? code : message, { cause: error });
}

function classify(code: string): TransportError['code'] {
  if (REFUSED.has(code)) return 'refused';
  if (TIMED_OUT.has(code)) return 'timeout';
  if (TLS.test(code)) return 'tls';
  if (PROTOCOL.test(code)) return 'protocol';
  return 'reset';
}
