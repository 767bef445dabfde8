import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * One of two things to compare, in a process of its own: the garbage of one is never collected while the other is timed, and the memory of
 * each is measured alone. The two take turns, because both cores of a small machine heat, and neighbours come and go.
 */
export class Side {
  readonly #child;

  /** Starts `side-process.ts` with the `sides[name]` of a benchmark file (a URL), made with `options`. */
  constructor(file: string, name: string, options: object) {
    this.#child = fork(
      fileURLToPath(new URL('side-process.ts', import.meta.url)),
      [file, name, JSON.stringify(options)],
      {
        execArgv: ['--expose-gc', '--max-old-space-size=8192', '--import', 'tsx'],
      },
    );
  }

  /** Does the step of this number, and returns what it measured. */
  step(number: number): Promise<Measured> {
    return this.#ask({ step: number });
  }

  async stop(): Promise<void> {
    const ended = new Promise((settle) => this.#child.once('exit', settle));
    this.#child.disconnect();
    await ended;
  }

  #ask(message: object): Promise<Measured> {
    return new Promise((settle, reject) => {
      const failed = (code: number | null): void => reject(new Error(`a side ended with ${code}`));
      this.#child.once('exit', failed);
      this.#child.once('message', (answer) => {
        this.#child.off('exit', failed);
        settle(answer as Measured);
      });
      this.#child.send(message);
    });
  }
}

export interface Measured {
  /** Microseconds, all threads of the process. */
  readonly cpu: number;
  /** The result of the side's `report` after the step. */
  readonly report: Readonly<Record<string, number>>;
}

/** A side that a benchmark file exports in `sides`: it is made once, then asked for its steps in turn. */
export interface Stepper {
  /** Not timed. */
  prepare(step: number): void;
  /** Timed. */
  work(step: number): void | Promise<void>;
  /** Not timed. Throws if the work was done wrong. */
  report(): Readonly<Record<string, number>>;
}

export type Sides = Readonly<Record<string, (options: never) => Stepper>>;
