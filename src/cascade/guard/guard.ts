import type { Clock } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { readNeed } from '../preview/preview.ts';
import { readSnapshot } from '../snapshot/read-snapshot.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { DeletionLedger } from './budget.ts';
import type { GuardRequest } from './guard-request.ts';
import { type GuardRules, type GuardVerdict, judge } from './judge.ts';

export interface GuardOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly rules: GuardRules;
  /** Whether a user has the verb `unprotect` on the object of a request. */
  readonly mayUnprotect: (request: GuardRequest, signal?: AbortSignal) => Promise<boolean>;
}

/** Maximum number of facts that one answer may request, one after the other. */
const MOST_QUESTIONS = 16;

/**
 * Answers requests: gives `judge` the facts that it asks for. Keeps no copy of the cluster: each answer rests on lists that were begun
 * after the request came, so that nothing protected a moment ago is missed. Requests that wait together share one reading.
 */
export class Guard {
  readonly #options: GuardOptions;
  readonly #ledger = new DeletionLedger();
  #next: Promise<Snapshot> | undefined;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Rejects when the cluster cannot be read; the caller decides what follows from that. */
  async answer(request: GuardRequest, signal?: AbortSignal): Promise<GuardVerdict> {
    const { rules, clock, client, mayUnprotect } = this.#options;
    let right: boolean | undefined;
    let snapshot: Snapshot | undefined;
    for (let questions = 0; questions < MOST_QUESTIONS; questions++) {
      const now = clock.now();
      const step = judge(request, {
        rules,
        now,
        spent: this.#ledger.spent(request.user.username, now),
        ...(right === undefined ? {} : { mayUnprotect: right }),
        ...(snapshot === undefined ? {} : { snapshot }),
      });
      if ('verdict' in step) {
        if (step.deletes.total > 0 && !request.dryRun) this.#ledger.note(request.user.username, step.deletes, now);
        return step;
      }
      if (step.need === 'right') right = await mayUnprotect(request, signal);
      else if (step.need === 'snapshot') snapshot = await this.#freshSnapshot();
      else await Promise.all(step.bodies.map((need) => readNeed(client.abortedBy(signal), snapshot!, need)));
    }
    throw new Error('the guard asked for facts without an end');
  }

  /** Returns one snapshot at a time. Requests that came before it began share it; later ones share the next one. */
  #freshSnapshot(): Promise<Snapshot> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<Snapshot> {
    const before = this.#reading;
    // A request that comes before the earlier reading has ended joins this one.
    await before.catch(() => undefined);
    this.#next = undefined;
    const { client, clock } = this.#options;
    const reading = readSnapshot({ client, clock, detail: 'protections' });
    this.#reading = reading;
    return reading;
  }
}
