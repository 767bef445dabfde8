import { formatMicroTime } from '../../api/meta/time.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** `spec` of a `coordination.k8s.io/v1` Lease; times are MicroTime text. Fields unknown to us are kept as they are. */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** A lease as it was last read, and since when it has looked like that on the clock of this process. */
export interface ObservedLease {
  readonly lease: Lease;
  /** Monotonic ms. */
  readonly observedAt: number;
}

export interface Candidate {
  readonly identity: string;
  readonly leaseDurationSeconds: number;
}

/** The action for a lease, and its reason. */
export type LeaseDecision =
  | { readonly decision: 'create'; readonly reason: 'absent'; readonly spec: LeaseSpec }
  | { readonly decision: 'update'; readonly reason: 'held' | 'released' | 'expired'; readonly spec: LeaseSpec }
  | {
      readonly decision: 'wait';
      readonly reason: 'heldByAnother';
      readonly holder: string;
      readonly expiresInMs: number;
    };

/** When it is: `wall` goes into the lease for people to read, `monotonic` is what decisions rest on. Both ms. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * The knowledge after another read of the lease. The time of observation stays as long as the spec is the same: a lease ages
 * by how long it was not seen to change, never by the times in it, because the clocks of candidates need not agree
 * (client-go `tools/leaderelection`). A change of labels is no renewal.
 */
export function observeLease(
  previous: ObservedLease | undefined,
  lease: Lease | undefined,
  monotonic: number,
): ObservedLease | undefined {
  if (lease === undefined) return undefined;
  const same = previous !== undefined && JSON.stringify(previous.lease.spec) === JSON.stringify(lease.spec);
  return { lease, observedAt: same ? previous.observedAt : monotonic };
}

/** Whether to take, renew or wait for a lease (COL-214; client-go `tryAcquireOrRenew`). */
export function decideLease(observed: ObservedLease | undefined, candidate: Candidate, now: Moment): LeaseDecision {
  const { identity, leaseDurationSeconds } = candidate;
  const time = formatMicroTime(now.wall);
  const spec = { holderIdentity: identity, leaseDurationSeconds, acquireTime: time, renewTime: time };
  if (observed === undefined) {
    return { decision: 'create', reason: 'absent', spec: { ...spec, leaseTransitions: 0 } };
  }
  const { spec: old = {} } = observed.lease;
  const holder = old.holderIdentity ?? '';
  const transitions = old.leaseTransitions ?? 0;
  if (holder === identity) {
    const kept = { acquireTime: old.acquireTime ?? time, leaseTransitions: transitions };
    return { decision: 'update', reason: 'held', spec: { ...old, ...spec, ...kept } };
  }
  const expiresInMs = observed.observedAt + (old.leaseDurationSeconds ?? 0) * 1000 - now.monotonic;
  if (holder !== '' && expiresInMs > 0) return { decision: 'wait', reason: 'heldByAnother', holder, expiresInMs };
  const reason = holder === '' ? 'released' : 'expired';
  return { decision: 'update', reason, spec: { ...old, ...spec, leaseTransitions: transitions + 1 } };
}

/** The spec that lets the next candidate in at once: nobody holds it, and for a second only. */
export function releasedLease(old: LeaseSpec, now: Moment): LeaseSpec {
  const time = formatMicroTime(now.wall);
  return { ...old, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

export interface LeaseTimes {
  /** How long others wait after they last saw a renewal, ms; whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader acts after it sent the last renewal that succeeded, ms. */
  readonly renewDeadlineMs: number;
  /** Between two attempts, ms. */
  readonly retryPeriodMs: number;
}

/** COL-200. */
export const defaultLeaseTimes: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/** Candidates that wait read the lease again after the retry period and up to this part of it more, so that they do not come together. */
export const ACQUIRE_JITTER = 1.2;

/** The problem of the times, in client-go's words; undefined when nothing is. */
export function invalidLeaseTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaseTimes): string | undefined {
  if (leaseDurationMs < 1000) return 'leaseDuration must be greater than zero';
  if (leaseDurationMs % 1000 !== 0) return 'leaseDuration must be whole seconds';
  if (retryPeriodMs <= 0) return 'retryPeriod must be greater than zero';
  if (leaseDurationMs <= renewDeadlineMs) return 'leaseDuration must be greater than renewDeadline';
  if (renewDeadlineMs <= ACQUIRE_JITTER * retryPeriodMs)
    return 'renewDeadline must be greater than retryPeriod*JitterFactor';
  return undefined;
}
