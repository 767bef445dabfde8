import { orAborted, TimeoutError } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import type { ClientCertificate, Credentials } from './connect-options.ts';
import { abortedTransportError } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/** The headers of the credentials. Rejects if the request is aborted, because a credential program may take long or hang. */
export function credentialHeaders(
  credentials: Credentials | undefined,
  signal: AbortNotice | undefined,
): Promise<HttpHeaders | undefined> | HttpHeaders | undefined {
  return orGivenUp(credentials?.headers(), signal);
}

/** The same for the client certificate of the request's connection. */
export function credentialCertificate(
  credentials: Credentials | undefined,
  signal: AbortNotice | undefined,
): Promise<ClientCertificate | undefined> | ClientCertificate | undefined {
  return orGivenUp(credentials?.certificate?.(), signal);
}

function orGivenUp<T>(wanted: Promise<T> | T, signal: AbortNotice | undefined): Promise<T> | T {
  if (!(wanted instanceof Promise)) return wanted;
  // An aborted request does not wait for the credentials.
  return orAborted(wanted, signal, signal?.aborted === true ? abortedTransportError : givenUp);
}

/** The request was not sent, so the error is neither a `timeout`, which would indicate load, nor `aborted`. */
function givenUp(signal: AbortNotice): TransportError {
  const reason: unknown = signal.reason;
  if (!(reason instanceof TimeoutError)) return abortedTransportError(signal);
  return new TransportError('refused', `no credentials came before the request ${reason.message}`, { cause: reason });
}
