import type { HttpRequest } from '../../../src/base/http-message.ts';
import type { Armed } from './network.ts';
import type { FaultName } from './plan.ts';

type Target = Pick<HttpRequest, 'method' | 'target'>;

/** Which of its requests a fault strikes. */
interface Waiting {
  readonly fault: FaultName;
  readonly isMeantFor: (request: Target) => boolean;
  left: number;
}

/** Faults that wait for their requests. The oldest that is meant for a request strikes it. */
export class ArmedFaults implements Armed {
  readonly #waiting: Waiting[] = [];

  /** @param times how many requests the fault strikes */
  arm(
    { fault, times }: { readonly fault: FaultName; readonly times: number },
    isMeantFor: (request: Target) => boolean,
  ): void {
    this.#waiting.push({ fault, isMeantFor, left: times });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  strike(request: Target): FaultName | undefined {
    const index = this.#waiting.findIndex(({ isMeantFor }) => isMeantFor(request));
    const entry = this.#waiting[index];
    if (entry === undefined) return undefined;
    if (--entry.left === 0) this.#waiting.splice(index, 1);
    return entry.fault;
  }
}
