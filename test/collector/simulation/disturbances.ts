import type { Random } from '../../../src/base/random/random.ts';
import type { CollectorPlan, FaultStep, Step, StreamStep } from './plan.ts';
import type { PlanStyle } from './plan-style.ts';

/** The disturbances of a history, beside its clients. */
export class Disturbances {
  readonly #random: Random;
  readonly #style: PlanStyle;
  readonly #kinds: readonly string[];
  readonly #collectors: readonly CollectorPlan[];
  readonly #running: boolean[];

  constructor(random: Random, style: PlanStyle, kinds: readonly string[], collectors: readonly CollectorPlan[]) {
    this.#random = random;
    this.#style = style;
    this.#kinds = kinds;
    this.#collectors = collectors;
    this.#running = collectors.map(() => true);
  }

  wait(): Step {
    return { do: 'wait', ms: 1 + this.#random.integer(this.#random.pick(this.#style.waits)) };
  }

  fault(): FaultStep {
    const random = this.#random;
    // More than the collector tries by itself (COL-153).
    if (random.integer(16) === 0)
      return { do: 'fault', fault: 'conflict', on: random.pick(['patch', 'delete']), times: 6 };
    const on = random.pick(this.#style.requests);
    const times = random.pick([1, 1, 2, 3, 6]);
    return { do: 'fault', fault: random.pick(this.#style.faults), on, ...this.#kind(4), times };
  }

  stream(): StreamStep {
    const random = this.#random;
    const stream = random.pick(this.#style.streams);
    const kind = random.integer(3) === 0 ? {} : { kind: random.pick(this.#kinds) };
    const ms = stream === 'hold' ? { ms: 1 + random.integer(random.pick([50, 500, 5000])) } : {};
    return { do: 'stream', stream, ...kind, ...ms };
  }

  process(): Step[] {
    const random = this.#random;
    const collector = random.integer(this.#collectors.length);
    const { role } = this.#collectors[collector]!;
    if (this.#running[collector] === false) {
      this.#running[collector] = true;
      return [{ do: 'start', collector }];
    }
    if (role === 'standby' && random.integer(3) > 0) {
      return [{ do: 'lead', collector, overlapMs: random.pick([0, 0, 10, 1000]) }];
    }
    const choice = random.integer(5);
    if (choice === 0) return [{ do: 'partition', collector, ms: 1 + random.integer(20_000) }];
    const end: Step = { do: choice < 3 ? 'crash' : 'stop', collector };
    // Soon back, or later, or only when all is over.
    if (random.integer(2) === 0) return [end, { do: 'start', collector }];
    this.#running[collector] = false;
    return [end];
  }

  /** Returns the steps between two steps of clients. */
  between(): Step[] {
    switch (this.#random.integer(8)) {
      case 0:
      case 1:
        return [this.wait()];
      case 2:
        return this.process();
      case 3:
        return [this.fault()];
      case 4:
        return [this.slow()];
      case 5:
        return [this.stream()];
      default:
        return this.#blind();
    }
  }

  /**
   * From some point of a motif on the collector sees nothing, or is another one, and what it had begun before takes long: what it
   * decides rests on what was, or is newer than all that it has seen.
   */
  plot(beats: readonly Step[]): Step[] {
    const random = this.#random;
    const from = random.integer(beats.length);
    const slowFrom = random.integer(2) === 0 ? -1 : Math.max(0, from - random.integer(2));
    const steps = beats.flatMap((beat, index): Step[] => [
      ...(index === slowFrom ? [this.slow()] : []),
      ...(index === from ? (random.integer(6) === 0 ? this.process() : this.#blind()) : []),
      beat,
      ...(index >= from ? this.#meanwhile(beat) : []),
    ]);
    return random.integer(3) === 0 ? [...steps, { do: 'wait', ms: 30_000 }] : steps;
  }

  /** Less than it takes until the collector sees again, or what it has begun is done, or more. */
  #meanwhile(beat: Step): Step[] {
    const random = this.#random;
    switch (random.integer(6)) {
      case 0:
      case 1:
        return [{ do: 'wait', ms: 1 + random.integer(random.pick([20, 300, 1500, 6000])) }];
      case 2:
        // Another version of the same.
        return 'at' in beat ? [{ do: 'label', at: beat.at, value: String(random.integer(1000)) }] : [];
      default:
        return [];
    }
  }

  /** The collector sees nothing for a while, and then a list. */
  #blind(): Step[] {
    const kind = this.#kind(2);
    const gone: Step = { do: 'stream', stream: 'gone', ...kind };
    if (this.#random.integer(2) === 0) return [gone];
    const times = 1 + this.#random.integer(4);
    return [
      { do: 'fault', fault: this.#random.pick(['unavailable', 'answerLost']), on: 'intake', ...kind, times },
      this.#random.integer(3) === 0 ? { do: 'stream', stream: 'cut', ...kind } : gone,
    ];
  }

  /** The next requests of the collector take longer than the steps of clients meanwhile. */
  slow(): FaultStep {
    const random = this.#random;
    const on = random.pick(['read', 'delete', 'patch', 'write', 'write', 'intake'] as const);
    return { do: 'fault', fault: random.pick(['requestSlow', 'answerSlow']), on, times: random.pick([1, 1, 2, 4]) };
  }

  #kind(oneIn: number): { readonly kind?: string } {
    return this.#random.integer(oneIn) === 0 ? { kind: this.#random.pick(this.#kinds) } : {};
  }
}
