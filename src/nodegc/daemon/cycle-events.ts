import type { NodeEvent } from '../images/image-cycle.ts';

/**
 * Decides which failures of cycles become Events. The image loop reports no Event for the first failure after a success, because statistics
 * may not exist yet (NODE-121). The container loop reports every failure (NODE-120).
 */
export class CycleEvents {
  #imageFailures = 0;
  #containerFailures = 0;

  /** @param error of the cycle; undefined for success */
  imageCycle(error: string | undefined): NodeEvent[] {
    if (error === undefined) {
      this.#imageFailures = 0;
      return [];
    }
    this.#imageFailures++;
    return this.#imageFailures === 1 ? [] : [{ reason: 'ImageGCFailed', message: error }];
  }

  /** @param error of the cycle; undefined for success. `recovered` is true for the first success after failures. */
  containerCycle(error: string | undefined): { readonly events: readonly NodeEvent[]; readonly recovered: boolean } {
    if (error === undefined) {
      const recovered = this.#containerFailures > 0;
      this.#containerFailures = 0;
      return { events: [], recovered };
    }
    this.#containerFailures++;
    return { events: [{ reason: 'ContainerGCFailed', message: error }], recovered: false };
  }
}
