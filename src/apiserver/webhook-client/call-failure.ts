import { isIP } from 'node:net';
import type { HttpHeaders } from '../../base/http-message.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { statusErrorOf } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import { WebhookCallError } from './webhook-call-error.ts';

/** Why a call got no answer, in the words of Go's HTTP client: `Post "<url>": <cause>`. */
export function transportFailure(error: unknown, url: string): WebhookCallError {
  const failure = error instanceof TransportError && error.code === 'timeout' ? 'timeout' : 'transport';
  return new WebhookCallError(failure, `Post ${JSON.stringify(url)}: ${causeOf(error)}`, { cause: error });
}

const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

interface SocketFailure {
  readonly code?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

function causeOf(error: unknown): string {
  if (!(error instanceof TransportError)) return messageOf(error);
  if (error.code === 'timeout') return 'context deadline exceeded';
  if (error.code === 'aborted') return 'context canceled';
  const { code = '', address = '', port = 0, hostname = '' } = (error.cause ?? {}) as SocketFailure;
  if (code === 'ECONNREFUSED') return `dial tcp ${hostPort(address, port)}: connect: connection refused`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  // The connection was closed in good order before an answer.
  if (code === 'UND_ERR_SOCKET') return 'EOF';
  if (code === 'ECONNRESET') return 'connection reset by peer';
  if (UNTRUSTED.has(code)) {
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: ${misnamed(error.cause)}`;
  if (code === 'CERT_HAS_EXPIRED') {
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
  }
  return error.message;
}

/** The certificate is valid, but for other names: Go's text lists them. */
function misnamed(cause: unknown): string {
  const { host = '', cert } = cause as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } };
  const kind = isIP(host) === 0 ? 'DNS:' : 'IP Address:';
  const names = (cert?.subjectaltname ?? '')
    .split(', ')
    .filter((name) => name.startsWith(kind))
    .map((name) => name.slice(kind.length));
  if (names.length > 0) return `certificate is valid for ${names.join(', ')}, not ${host}`;
  return isIP(host) === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
}

function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** An answer with a failing status, in client-go's words. A body that is a Status is used unchanged. */
export function statusFailure(status: number, headers: HttpHeaders, body: Uint8Array): WebhookCallError {
  const error = statusErrorOf(status, headers, body);
  const said = error.status.details?.causes?.find(({ reason }) => reason === 'UnexpectedServerResponse')?.message;
  const unreadable = said !== undefined && status >= 500 && status !== 503 && status !== 504;
  const message = unreadable
    ? `an error on the server (${JSON.stringify(said === '' ? 'unknown' : said.trim())}) has prevented the request from succeeding`
    : said !== undefined && status === 403 && said !== ''
      ? said.trim()
      : error.message;
  return new WebhookCallError('status', message, { cause: error });
}
