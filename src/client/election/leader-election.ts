import { formatMicroTime } from '../../api/meta/time.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** `spec` of a `coordination.k8s.io/v1` Lease, with times as MicroTime text. Unknown fields are kept. */
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

/** A lease as it was last read, and the time since which it is unchanged, by the clock of this process. */
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

/** The current time. `wall` is written to the lease for people; decisions use `monotonic`. Both in ms. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * The observed lease after another read. The observation time stays while the spec is the same: the age of a lease is the time
 * without an observed change, and does not use the times in it, because the clocks of candidates need not agree (client-go
 * `tools/leaderelection`). A change of labels is not a renewal.
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

/** Decides whether to acquire, renew or wait for a lease (COL-214; client-go `tryAcquireOrRenew`). */
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

/** The spec that lets the next candidate acquire it at once: no holder, and a duration of one second. */
export function releasedLease(old: LeaseSpec, now: Moment): LeaseSpec {
  const time = formatMicroTime(now.wall);
  return { ...old, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

export interface LeaseTimes {
  /** Time that others wait after the last renewal they saw, ms; whole seconds. */
  readonly leaseDurationMs: number;
  /** Time that a leader acts after it sent the last successful renewal, ms. */
  readonly renewDeadlineMs: number;
  /** Interval between two attempts, ms. */
  readonly retryPeriodMs: number;
}

/** The defaults of kube-controller-manager (COL-200). */
export const defaultLeaseTimes: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/**
 * Waiting candidates read the lease again after the retry period plus a random part of it up to this factor, so that they do not coincide.
 */
export const ACQUIRE_JITTER = 1.2;

/** The problem of the times, in client-go's words; undefined if they are valid. */
export function invalidLeaseTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaseTimes): string | undefined {
  if (leaseDurationMs < 1000) return 'leaseDuration must be greater than zero';
  if (leaseDurationMs % 1000 !== 0) return 'leaseDuration must be whole seconds';
  if (retryPeriodMs <= 0) return 'retryPeriod must be greater than zero';
  if (leaseDurationMs <= renewDeadlineMs) return 'leaseDuration must be greater than renewDeadline';
  if (renewDeadlineMs <= ACQUIRE_JITTER * retryPeriodMs)
    return 'renewDeadline must be greater than retryPeriod*JitterFactor';
  return undefined;
}
