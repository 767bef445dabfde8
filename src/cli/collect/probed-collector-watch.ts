import { isAbortError } from '../../base/time/abort-error.ts';
import { linkSignals, untilAborted } from '../../base/time/abort.ts';
import { exponentialBackoff } from '../../base/time/backoff.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { CollectorProbe } from './collector-probe.ts';
import type { OtherCollector } from './other-collector.ts';

/** Watches a lease until aborted, and reports its holder. */
export type WatchLease = (signal: AbortSignal, onChange: (verdict: OtherCollector) => void) => Promise<void>;

interface ProbedCollectorWatchOptions {
  readonly probe: Pick<CollectorProbe, 'run'>;
  /** The lease of kube-controller-manager. */
  readonly watchOther: WatchLease;
  /** The lease that instances of kubegc share; undefined without leader election. */
  readonly watchPeers: WatchLease | undefined;
  readonly clock: Clock;
  readonly onChange: (verdict: OtherCollector) => void;
}

/** Interval between probes while another collector runs, ms. */
const AGAIN_MS = 10 * 60_000;
/** Interval between probes while the result is unknown, doubled each time up to {@link AGAIN_MS}, ms. */
const SOON_MS = 5000;
/** Number of consecutive refusals that count as permanent. A server that has just started refuses requests until it has read its roles. */
const LASTING_REFUSALS = 3;

/**
 * Finds out by a probe whether another collector runs. A new holder of the lease is the reason to probe again. The lease alone decides only
 * where the server refuses the probe permanently. Any other failure is temporary and proves nothing, so this process observes meanwhile.
 * Where an instance of kubegc leads, it has probed already and would collect this probe too, so this process stands by.
 */
export class ProbedCollectorWatch {
  readonly #options: ProbedCollectorWatchOptions;
  #lease: OtherCollector | undefined;
  /** The holder of the lease; undefined before it was read, empty if there is none. */
  #holder: string | undefined;
  #verdict: OtherCollector | undefined;
  /** Refused probes in a row. */
  #refusals = 0;
  readonly #pauses = exponentialBackoff({ baseMs: SOON_MS, capMs: AGAIN_MS });
  #askAgain: () => void = () => undefined;

  constructor(options: ProbedCollectorWatchOptions) {
    this.#options = options;
  }

  /** Resolves when aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const watching = this.#options.watchOther(signal, (verdict) => this.#noteLease(verdict));
    try {
      while (!signal.aborted) {
        const holder = this.#holder;
        const verdict = await this.#judge(signal);
        this.#tell(verdict);
        if (verdict.runs !== 'unknown') this.#pauses.reset();
        // Another process acquired the lease during the probe, which may have been too short for it.
        const changed = holder !== undefined && this.#holder !== holder && this.#holder !== '';
        if (!changed) await this.#untilDue(signal);
      }
    } catch (error) {
      if (!isAbortError(error) && !signal.aborted) throw error;
    }
    await watching;
  }

  #noteLease(verdict: OtherCollector): void {
    this.#lease = verdict;
    if (verdict.runs === 'unknown' && verdict.why !== 'firstLook' && verdict.why !== 'noLease') return;
    const holder = verdict.runs === 'no' ? '' : (verdict.holder ?? '');
    if (holder === this.#holder) return;
    const first = this.#holder === undefined;
    this.#holder = holder;
    // A holder that disappears is no reason to stop.
    if (!first && (holder !== '' || this.#verdict?.runs !== 'no')) this.#askAgain();
  }

  async #judge(signal: AbortSignal): Promise<OtherCollector> {
    if (await this.#peerLeads(signal)) return { runs: 'no', why: 'peerLeads' };
    // A process that collects must stop before the probe exists; one that observes has nothing to stop.
    if (this.#verdict === undefined || this.#verdict.runs === 'no') {
      this.#tell({ runs: 'unknown', why: 'probing', detail: 'a probe shows whether somebody collects it' });
    }
    const outcome = await this.#options.probe.run(signal);
    this.#refusals = outcome.probe === 'refused' ? this.#refusals + 1 : 0;
    switch (outcome.probe) {
      case 'collected':
        // An instance of kubegc that became the leader meanwhile may have removed it.
        if (await this.#peerLeads(signal)) return { runs: 'no', why: 'peerLeads' };
        return { runs: 'yes', why: 'probeCollected', holder: this.#holder ?? '' };
      case 'kept':
        return { runs: 'no', why: 'probeKept' };
      case 'refused':
      case 'failed': {
        const failed = { runs: 'unknown', why: 'probeFailed', detail: outcome.detail } as const;
        return this.#refusals < LASTING_REFUSALS ? failed : (this.#lease ?? failed);
      }
    }
  }

  /** True if another instance of kubegc renews the lease. */
  async #peerLeads(signal: AbortSignal): Promise<boolean> {
    const { watchPeers } = this.#options;
    if (watchPeers === undefined) return false;
    using looking = linkSignals(signal);
    let leads = false;
    await watchPeers(looking.signal, (verdict) => {
      const undecided = verdict.runs === 'unknown' && verdict.why === 'firstLook' && verdict.holder !== '';
      if (undecided) return;
      leads = verdict.runs === 'yes';
      looking.abort();
    });
    return leads;
  }

  /** Waits until the lease has another holder, or the next probe is due. A process that collects cannot probe. */
  async #untilDue(signal: AbortSignal): Promise<void> {
    using waiting = linkSignals(signal);
    this.#askAgain = () => waiting.abort();
    try {
      const runs = this.#verdict?.runs;
      if (runs === 'no') await untilAborted(waiting.signal);
      else await sleep(this.#options.clock, runs === 'yes' ? AGAIN_MS : this.#pauses.next(), waiting.signal);
    } catch (error) {
      if (!isAbortError(error)) throw error;
    } finally {
      this.#askAgain = () => undefined;
    }
  }

  #tell(verdict: OtherCollector): void {
    const before = this.#verdict;
    this.#verdict = verdict;
    if (before?.runs !== verdict.runs || before.why !== verdict.why) this.#options.onChange(verdict);
  }
}
