import { parseTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';

/** Consecutive failures of a Job's pods; times in epoch ms. */
export interface BackOffRecord {
  readonly failures: number;
  readonly lastFailureAt: number | undefined;
}

export const NO_FAILURES: BackOffRecord = { failures: 0, lastFailureAt: undefined };
const FIRST_MS = 10_000;
const MAX_MS = 600_000;

/** The record after pods have finished. A success resets it (`pkg/controller/job/backoff_utils.go`). */
export function afterEnds(
  record: BackOffRecord,
  ends: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] },
  now: number,
): BackOffRecord {
  const at = (pod: Pod): number => endOf(pod) ?? now;
  const lastSuccess = ends.succeeded.length === 0 ? undefined : Math.max(...ends.succeeded.map(at));
  const later = ends.failed.map(at).filter((time) => lastSuccess === undefined || time > lastSuccess);
  const failures = (lastSuccess === undefined ? record.failures : 0) + later.length;
  if (failures === 0) return NO_FAILURES;
  const known = lastSuccess === undefined ? record.lastFailureAt : undefined;
  return { failures, lastFailureAt: Math.max(...later, ...(known === undefined ? [] : [known])) };
}

/** Milliseconds until a pod may be created again: 10 s after the first failure, doubling up to 10 min. */
export function remainingBackOff({ failures, lastFailureAt }: BackOffRecord, now: number): number {
  if (failures === 0 || lastFailureAt === undefined) return 0;
  const wait = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(0, Math.min(wait, lastFailureAt + wait - now));
}

function endOf({ metadata, status }: Pod): number | undefined {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt ?? ''));
  const known = ends.filter((time) => time !== undefined);
  if (known.length > 0) return Math.max(...known);
  const ready = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'False');
  return parseTime(ready?.lastTransitionTime ?? '') ?? parseTime(metadata?.deletionTimestamp ?? '');
}
