import { newBadRequest, newInternalError, newStatusError, type StatusError } from '../../../api/status-error.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { ReviewResult } from './admission-review.ts';

/** API-352: what a webhook that denies has said, as an error of the API; never with a status that would mean success. */
export function deniedBy(webhook: string, result: ReviewResult | undefined): StatusError {
  const { message = '', reason = '', code = 0, details } = result ?? {};
  const denied = `admission webhook ${quoted(webhook)} denied the request`;
  const why = message !== '' ? `: ${message}` : reason !== '' ? `: ${reason}` : ' without explanation';
  // Above 999 is no HTTP status.
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

/** API-353. `cause` begins with what failed: `failed to call webhook: …`, `received invalid webhook response: …`. */
export function callFailed(webhook: string, cause: string): StatusError {
  return newInternalError(`failed calling webhook ${quoted(webhook)}: ${cause}`);
}
