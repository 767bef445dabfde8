import { orAborted, TimeoutError } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import type { ClientCertificate, Credentials } from './connect-options.ts';
import { abortedTransportError } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/**
 * The headers that a request gets from the credentials. Rejects when the request is given up: a program that prints them may take long, or hang.
 */
export function credentialHeaders(
  credentials: Credentials | undefined,
  signal: AbortNotice | undefined,
): Promise<HttpHeaders | undefined> | HttpHeaders | undefined {
  return orGivenUp(credentials?.headers(), signal);
}

/** The same of the certificate that a connection for the request presents. */
export function credentialCertificate(
  credentials: Credentials | undefined,
  signal: AbortNotice | undefined,
): Promise<ClientCertificate | undefined> | ClientCertificate | undefined {
  return orGivenUp(credentials?.certificate?.(), signal);
}

function orGivenUp<T>(wanted: Promise<T> | T, signal: AbortNotice | undefined): Promise<T> | T {
  if (!(wanted instanceof Promise)) return wanted;
  // A request that ended before did not wait for them.
  return orAborted(wanted, signal, signal?.aborted === true ? abortedTransportError : givenUp);
}

/** Nothing was sent: its time says nothing of the load of the server (`timeout`), and nobody took it back (`aborted`). */
function givenUp(signal: AbortNotice): TransportError {
  const reason: unknown = signal.reason;
  if (!(reason instanceof TimeoutError)) return abortedTransportError(signal);
  return new TransportError('refused', `no credentials came before the request ${reason.message}`, { cause: reason });
}
