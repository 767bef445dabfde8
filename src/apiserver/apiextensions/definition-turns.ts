import type { Clock } from '../../base/time/clock.ts';

/** Each costs about a millisecond of processor time, with its validation, its write and what then follows the store. */
const DEFINITIONS_OF_A_TURN = 10;

/**
 * Lets some definitions pass in each turn of the event loop, in the order in which they came. Otherwise a hundred that come together hold
 * the loop until all of them are served.
 */
export class DefinitionTurns {
  readonly #clock: Pick<Clock, 'defer'>;
  /** Definitions that have passed in this turn. */
  #passed = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(clock: Pick<Clock, 'defer'>) {
    this.#clock = clock;
  }

  async pass(): Promise<void> {
    while (this.#passed >= DEFINITIONS_OF_A_TURN) await this.#turn();
    if (this.#passed++ === 0) void this.#turn();
  }

  #turn(): Promise<void> {
    this.#nextTurn ??= new Promise((resolve) =>
      this.#clock.defer(() => {
        this.#passed = 0;
        this.#nextTurn = undefined;
        resolve();
      }),
    );
    return this.#nextTurn;
  }
}
