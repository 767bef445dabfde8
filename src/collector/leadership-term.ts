import { setMaxListeners } from 'node:events';
import { linkSignals, untilAborted } from '../base/time/abort.ts';
import { type Clock, sleepUnlessAborted } from '../base/time/clock.ts';
import type { Logger } from '../base/logs/logger.ts';
import { LeaseLostError } from '../client/election/leader-elector.ts';
import type { EventRecorder } from '../client/events/event-recorder.ts';
import type { HeldDeletions } from './breaker/held-deletions.ts';
import type { InvalidNamespaceReports } from './observation/invalid-namespace-reports.ts';
import type { Backlog } from './workers/backlog.ts';
import type { OrphanRecords } from './workers/orphan-records.ts';
import type { WorkGate } from './workers/work-gate.ts';

interface LeadershipTermOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly gate: WorkGate;
  readonly orphanRecords: OrphanRecords;
  readonly invalidNamespaces: InvalidNamespaceReports;
  readonly breaker: Pick<HeldDeletions, 'endTerm'> | undefined;
  readonly recorder: EventRecorder;
  /** `withheld`: another process writes, and reports. */
  readonly writes: 'allowed' | 'withheld';
  /** Whether the workers have been started. */
  readonly started: () => boolean;
  /** One backlog for each queue. */
  readonly backlogs: readonly Backlog[];
}

/** Requests under way at a stop may take this long, then they are aborted (COL-215), ms. */
const SHUTDOWN_GRACE_MS = 10_000;
/** Interval between sweeps of the backlog while another process leads, ms. */
const BACKLOG_SWEEP_MS = 10_000;

/**
 * A term of leadership. Opens the gate of the workers for its time, loads the orphan records, and runs the reports that belong to a term.
 */
export class LeadershipTerm {
  readonly #options: LeadershipTermOptions;

  constructor(options: LeadershipTermOptions) {
    this.#options = options;
  }

  /** Leads until aborted. Resolves when nothing is under way any more; may be called again after that. */
  async lead(signal: AbortSignal): Promise<void> {
    const { clock, logger, gate, orphanRecords, invalidNamespaces, writes, started } = this.#options;
    using stopping = linkSignals(signal);
    const calls = new AbortController();
    setMaxListeners(0, stopping.signal, calls.signal);
    // Orphaned owners of the past must be known before anything is treated as garbage (LIFE-561).
    await orphanRecords.load(stopping.signal);
    if (stopping.signal.aborted) return;
    const acts = writes !== 'withheld';
    if (acts) invalidNamespaces.beginTerm();
    const recorder = acts ? this.#options.recorder.run(stopping.signal) : undefined;
    gate.open({ stopping: stopping.signal, calls: calls.signal });
    // If the workers have not started, nothing is collected yet, and the collector logs their start.
    if (started() && acts) logger.info('collecting from now on');
    await untilAborted(stopping.signal);
    if (signal.reason instanceof LeaseLostError) calls.abort(signal.reason);
    const graceOver = clock.setTimer(SHUTDOWN_GRACE_MS, () => calls.abort());
    await gate.close();
    graceOver.cancel();
    await recorder;
    this.#options.breaker?.endTerm();
    if (acts) invalidNamespaces.endTerm();
  }

  /** Bounds the queues while another process leads, because no worker here takes the keys. */
  async sweepBacklog(signal: AbortSignal): Promise<void> {
    const { clock, gate, backlogs } = this.#options;
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, BACKLOG_SWEEP_MS, signal);
      if (signal.aborted) return;
      if (!gate.isOpen) for (const backlog of backlogs) backlog.sweep();
    }
  }
}
