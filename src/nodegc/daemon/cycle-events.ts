import type { NodeEvent } from '../images/image-cycle.ts';

/**
 * Which failures of cycles become events. The image loop keeps quiet at the first failure after a success, because statistics may not be
 * there yet (NODE-121); the container loop reports every one (NODE-120).
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

  /** @param error of the cycle; undefined for success. `recovered`: the first success after failures. */
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
