import type { Logger } from '../base/logs/logger.ts';
import type { EventRecorder } from '../client/events/event-recorder.ts';
import type { DropAbsentOwnerEffect, NoteAbsentOwnerEffect } from './graph/effect.ts';
import type { CollectorMetrics } from './observation/collector-metrics.ts';
import type { OnQueued, Queues } from './queues/queues.ts';
import { workKey, type WorkKey } from './queues/work-key.ts';
import type { Identity } from './types/identity.ts';
import { type QueueReason, sentenceOf } from './types/reasons.ts';

interface DecisionJournalOptions {
  readonly logger: Logger;
  readonly metrics: CollectorMetrics;
  readonly recorder: Pick<EventRecorder, 'event'>;
  /** `kept`: {@link DecisionJournal.takeReason} returns reasons, because somebody receives the decisions. */
  readonly reasons: 'kept' | 'dropped';
}

/**
 * The reasons why keys are queued and references are removed. They are counted, logged, and kept until a worker takes the key. Bound: the
 * keys in the queues.
 */
export class DecisionJournal {
  readonly #options: DecisionJournalOptions;
  /** One map for each queue: an object may wait in both, for different reasons. */
  readonly #queuedFor: Readonly<Record<keyof Queues, Map<WorkKey, QueueReason>>> = {
    attemptToDelete: new Map(),
    attemptToOrphan: new Map(),
  };

  constructor(options: DecisionJournalOptions) {
    this.#options = options;
  }

  /** A newer reason replaces the older one. */
  readonly queued: OnQueued = (queued, reason) => {
    this.#options.metrics.queued.inc({ reason });
    if (this.#options.reasons === 'dropped') return;
    this.#queuedFor[queued.queue].set(workKey(queued.uid, queued.as), reason);
  };

  /** Returns the last reason why the key was queued, and forgets it. Undefined for a key that is tried again. */
  takeReason(queue: keyof Queues, key: WorkKey): QueueReason | undefined {
    const reason = this.#queuedFor[queue].get(key);
    this.#queuedFor[queue].delete(key);
    return reason;
  }

  readonly absence = (effect: NoteAbsentOwnerEffect | DropAbsentOwnerEffect): void => {
    const { reason } = effect;
    const about = effect.effect === 'noteAbsentOwner' ? effect.identity : { uid: effect.uid };
    this.#options.logger.debug(sentenceOf(reason), { ...about, reason });
  };

  readonly releasedLate = (dependent: Identity, references: number): void => {
    const { metrics, logger, recorder } = this.#options;
    metrics.lateReferences.inc({}, references);
    const reason = 'OrphanedOwnerReferenceReleased';
    const message = sentenceOf(reason);
    logger.info(message, { dependent, references, reason });
    recorder.event(dependent, { type: 'Normal', reason, message });
  };
}
