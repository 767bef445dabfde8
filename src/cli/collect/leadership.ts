import { type LinkedSignal, linkSignals, untilAborted } from '../../base/time/abort.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { LeaderElector } from '../../client/election/leader-elector.ts';
import type { CollectFlags } from './collect-options.ts';
import { otherCollectorsLease } from './collect-settings.ts';
import type { OtherCollector } from './other-collector.ts';

export interface LeadershipOptions {
  readonly mode: CollectFlags['mode'];
  /** Undefined if there is no election. */
  readonly elector: LeaderElector | undefined;
  /** Reports whether another collector runs, until aborted. Nothing is collected before the first report. */
  readonly watchOther: (signal: AbortSignal, onChange: (verdict: OtherCollector) => void) => Promise<void>;
  /** Works until aborted. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Decides when this process may collect: in `observe` never; otherwise while it holds its lease and `watchOther` reports that no other
 * collector runs. In `collect`, only a collector inside the API server counts as another one.
 */
export class Leadership {
  readonly #options: LeadershipOptions;
  /** True if no reason against collecting is known. */
  #allowed = false;
  #acting = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    options.metrics.gauge({
      name: 'kubegc_collector_acting',
      help: '1 while this process decides and writes, 0 while it only observes',
      collect: (gauge) => gauge.set(this.mayWrite ? 1 : 0),
    });
  }

  /** True while this process may write. Check this directly before each write. */
  get mayWrite(): boolean {
    return this.#allowed && this.#acting && (this.#options.elector?.leading ?? true);
  }

  /** Resolves once it was aborted and nothing is in progress. */
  async run(parent: AbortSignal): Promise<void> {
    const { mode, logger } = this.#options;
    if (mode === 'observe') {
      logger.info('observing only, nothing is written; --mode collect or --mode auto collects');
      return untilAborted(parent);
    }
    using own = linkSignals(parent);
    let term: LinkedSignal | undefined;
    let competing = Promise.resolve();
    let failure: { readonly error: unknown } | undefined;
    const onChange = (verdict: OtherCollector): void => {
      this.#tell(verdict);
      this.#allowed = verdict.runs === 'no';
      if (!this.#allowed) {
        term?.abort();
        term = undefined;
      } else if (term === undefined) {
        const next = linkSignals(own.signal);
        term = next;
        competing = competing
          .then(() => (next.signal.aborted ? undefined : this.#compete(next.signal)))
          .catch((error: unknown) => {
            failure = { error };
            own.abort();
          });
      }
    };
    await this.#options.watchOther(own.signal, onChange);
    await competing;
    if (failure !== undefined) throw failure.error;
  }

  async #compete(signal: AbortSignal): Promise<void> {
    const { elector, lead } = this.#options;
    const work = async (leading: AbortSignal): Promise<void> => {
      this.#acting = true;
      try {
        await lead(leading);
      } finally {
        this.#acting = false;
      }
    };
    await (elector === undefined ? work(signal) : elector.run(signal, work));
  }

  #tell(verdict: OtherCollector): void {
    const { logger } = this.#options;
    const lease = `${otherCollectorsLease.namespace}/${otherCollectorsLease.name}`;
    const reason = verdict.why;
    switch (verdict.runs) {
      case 'yes':
        if (verdict.why === 'renewed') {
          return logger.info('another collector runs, observing only; --mode collect if its collector is turned off', {
            lease,
            holder: verdict.holder,
            reason,
          });
        }
        return logger.info('another collector runs, observing only', { why: YES_WORDS[verdict.why], reason });
      case 'unknown':
        return logger.info('not known whether another collector runs, observing only', {
          lease,
          why: verdict.detail,
          advice: verdict.why === 'noLease' ? NO_PROOF : undefined,
          reason,
        });
      case 'no':
        if (verdict.why !== 'asked') {
          logger.info('no other collector runs', { lease, why: NO_WORDS[verdict.why], reason });
        }
    }
  }
}

const NO_PROOF = '--probe NAMESPACE lets kubegc find out; --mode collect collects without proof';
const YES_WORDS = {
  probeCollected: 'somebody deleted the probe',
  embedded:
    "the API server is kubegc and collects itself; start it with --controllers '*,-garbage-collector-controller'",
} as const;
const NO_WORDS = {
  notRenewed: 'the lease is not renewed any more',
  probeKept: 'nobody deleted the probe',
  peerLeads: 'an instance of kubegc leads, and would have found it',
} as const;
