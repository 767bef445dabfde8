import { isForbidden, isObjectNotFound } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { type Lease, observeLease, type ObservedLease } from '../../client/election/leader-election.ts';
import { LEASES } from '../../client/election/leader-elector.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

/** Whether another collector runs, with the evidence: its lease, or the result of a probe. */
export type OtherCollector =
  /**
   * `peerLeads` means that an instance of kubegc leads and has found no other collector. `asked` means that `--mode collect` skips the
   * check.
   */
  | { readonly runs: 'no'; readonly why: 'notRenewed' | 'probeKept' | 'peerLeads' | 'asked' }
  /** `holder` of the lease; empty if there is none. `embedded` means that the API server is kubegc with its own collector. */
  | { readonly runs: 'yes'; readonly why: 'renewed' | 'probeCollected' | 'embedded'; readonly holder: string }
  /** Too little is known so far, or it cannot be known. `noLease` proves nothing, because a collector without leader election has none. */
  | {
      readonly runs: 'unknown';
      readonly why: 'firstLook' | 'noLease' | 'forbidden' | 'unreadable' | 'probing' | 'probeFailed';
      readonly detail: string;
      /** The holder of the lease at its last read. */
      readonly holder?: string;
    };

/** A lease that was not renewed for this many of its durations is abandoned, because its holder had time to come back or be replaced. */
const SILENT_DURATIONS = 2;
/** A released lease has a duration of one second, which does not show how soon the next holder acquires it. */
const LEAST_DURATION_MS = 15_000;
const LOOK_EVERY_MS = 2000;
const TIMEOUT_MS = 5000;

/** The state between two polls. */
interface Sighting {
  readonly observed: ObservedLease | undefined;
  /** True if the lease was seen to appear or to change. */
  readonly renewedOnce: boolean;
}

/** The state after another poll of the lease, which is undefined if there is none. */
function nextSighting(previous: Sighting | undefined, lease: Lease | undefined, monotonic: number): Sighting {
  const observed = observeLease(previous?.observed, lease, monotonic);
  const changed = previous !== undefined && observed?.observedAt !== previous.observed?.observedAt;
  return { observed, renewedOnce: observed !== undefined && (changed || previous?.renewedOnce === true) };
}

/** The lease could not be read, so the wait starts again: its holder may not reach the server either. */
function unseen(sighting: Sighting | undefined, monotonic: number): Sighting | undefined {
  if (sighting?.observed === undefined) return sighting;
  return { ...sighting, observed: { ...sighting.observed, observedAt: monotonic } };
}

/** Decides whether the other collector runs by observed changes of the lease, never by the times in the lease. */
function judgeOther({ observed, renewedOnce }: Sighting, monotonic: number): OtherCollector {
  if (observed === undefined) {
    return { runs: 'unknown', why: 'noLease', holder: '', detail: 'a collector without leader election has no lease' };
  }
  const { holderIdentity = '', leaseDurationSeconds = 0 } = observed.lease.spec ?? {};
  const silentMs = SILENT_DURATIONS * Math.max(leaseDurationSeconds * 1000, LEAST_DURATION_MS);
  if (monotonic - observed.observedAt >= silentMs) return { runs: 'no', why: 'notRenewed' };
  if (renewedOnce) return { runs: 'yes', why: 'renewed', holder: holderIdentity };
  return {
    runs: 'unknown',
    why: 'firstLook',
    holder: holderIdentity,
    detail: `waiting up to ${silentMs / 1000} s to see whether it is renewed`,
  };
}

interface OtherCollectorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Called with the first verdict and every change of it. */
  readonly onChange: (verdict: OtherCollector) => void;
}

/** Polls the lease to see whether another collector runs. Only reads. */
export class OtherCollectorWatch {
  readonly #options: OtherCollectorOptions;
  #sighting: Sighting | undefined;
  #verdict: OtherCollector | undefined;

  constructor(options: OtherCollectorOptions) {
    this.#options = options;
  }

  /** Resolves when aborted. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.#tell(await this.#look(signal));
        await sleep(this.#options.clock, LOOK_EVERY_MS, signal);
      }
    } catch (error) {
      if (!isAbortError(error) && !signal.aborted) throw error;
    }
  }

  async #look(signal: AbortSignal): Promise<OtherCollector> {
    const { client, clock, namespace, name } = this.#options;
    try {
      const lease = await client
        .get<Lease>({ gvr: LEASES, namespace, name }, { signal, timeoutMs: TIMEOUT_MS })
        .catch((error: unknown) => {
          if (isObjectNotFound(error, name)) return undefined;
          throw error;
        });
      this.#sighting = nextSighting(this.#sighting, lease, clock.monotonic());
      return judgeOther(this.#sighting, clock.monotonic());
    } catch (error) {
      if (signal.aborted) throw error;
      if (isForbidden(error)) return { runs: 'unknown', why: 'forbidden', detail: error.message };
      this.#sighting = unseen(this.#sighting, clock.monotonic());
      const detail = messageOf(error);
      return this.#verdict ?? { runs: 'unknown', why: 'unreadable', detail };
    }
  }

  #tell(verdict: OtherCollector): void {
    const previous = this.#verdict;
    this.#verdict = verdict;
    const same =
      previous?.runs === verdict.runs &&
      previous.why === verdict.why &&
      (verdict.runs !== 'yes' || (previous.runs === 'yes' && previous.holder === verdict.holder));
    if (!same) this.#options.onChange(verdict);
  }
}
