import {
  newInternalError,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
  newUntypedInternal,
  StatusError,
} from '../../api/status-error.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { errorFormat, statusResponse } from '../endpoints/negotiation/body-format.ts';
import { JSON_TYPE, wantsPretty } from '../endpoints/negotiation/negotiation.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import {
  StoreClosedError,
  StoreFailedError,
  StoreFullError,
  StoreOutcomeUnknownError,
  StoreOverloadedError,
  StoreRefusedError,
  StoreTooLargeError,
  StoreUnavailableError,
} from '../storage/store-errors.ts';

/** The answer for a thrown value. An unexpected error becomes a 500 and a log line with its stack, never a dropped connection. */
export async function errorResponse(error: unknown, context: RequestContext, logger: Logger): Promise<HttpResponse> {
  const known = knownError(error);
  if (known === undefined) {
    logger.error('request failed unexpectedly', {
      method: context.request.method,
      path: context.path,
      auditId: context.auditId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const { status } = known ?? newInternalError(messageOf(error));
  const pretty = wantsPretty(context.query, context.header('user-agent'));
  try {
    return await statusResponse(status, errorFormat(context.header('accept'), pretty));
  } catch {
    return statusResponse(status, { mediaType: JSON_TYPE, pretty });
  }
}

function knownError(error: unknown): StatusError | undefined {
  if (error instanceof StatusError) return error;
  if (error instanceof StoreOverloadedError) return newTooManyRequests(error.message, 1);
  if (error instanceof StoreClosedError) return newServiceUnavailable('the server is shutting down');
  if (error instanceof StoreFailedError || error instanceof StoreUnavailableError || error instanceof StoreFullError) {
    return newServiceUnavailable(error.message);
  }
  if (error instanceof StoreOutcomeUnknownError) return newTimeout(error.message);
  // The answer of kube-apiserver if etcd refuses a request.
  if (error instanceof StoreTooLargeError || error instanceof StoreRefusedError)
    return newUntypedInternal(error.message);
  return undefined;
}
