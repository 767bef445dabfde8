import { newBadRequest, newInternalError, newStatusError, type StatusError } from '../../../api/status-error.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { ReviewResult } from './admission-review.ts';

/** The denial of a webhook as an API error (API-352), never with a status that means success. */
export function deniedBy(webhook: string, result: ReviewResult | undefined): StatusError {
  const { message = '', reason = '', code = 0, details } = result ?? {};
  const denied = `admission webhook ${quoted(webhook)} denied the request`;
  const why = message !== '' ? `: ${message}` : reason !== '' ? `: ${reason}` : ' without explanation';
  // Numbers above 999 are not HTTP statuses.
  const status = Number.isInteger(code) && code >= 400 && code <= 999 ? code : 400;
  return newStatusError(status, denied + why, {
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
  });
}

/** The refusal of a dry run by a webhook with side effects (API-357). */
export function dryRunUnsupported(webhook: string): StatusError {
  return newBadRequest(`admission webhook ${quoted(webhook)} does not support dry run`);
}

/**
 * The error of a failed call (API-353). `cause` begins with the failed step: `failed to call webhook: …`, `received invalid webhook
 * response: …`.
 */
export function callFailed(webhook: string, cause: string): StatusError {
  return newInternalError(`failed calling webhook ${quoted(webhook)}: ${cause}`);
}
