import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import type { Interceptor, Send } from '../../src/client/rest/interceptor.ts';
import { TransportError } from '../../src/client/http/transport.ts';

/** Right before the call reaches the server, or right after it took effect and before the answer. */
export type Moment = 'before' | 'after';

export interface Death {
  /** Index of the call. */
  readonly call: number;
  readonly moment: Moment;
}

/** The wire of one process: it ends with the process, and nothing gets through any more. */
export class MortalWire {
  /** Method and path of what was sent, in order. */
  readonly calls: string[] = [];
  readonly #death: Death | undefined;
  #state: 'alive' | 'dead' | 'buried' = 'alive';
  #bury: (() => void)[] = [];

  constructor(death?: Death) {
    this.#death = death;
  }

  get dead(): boolean {
    return this.#state !== 'alive';
  }

  /** Rejects each request that waits for an answer, so that a test can end the dead process. */
  bury(): void {
    this.#state = 'buried';
    for (const each of this.#bury.splice(0)) each();
  }

  readonly intercept: Interceptor = async (request, next) => {
    if (this.dead) return this.#silence();
    const call = this.calls.length;
    this.calls.push(`${request.method} ${request.target.split('?')[0]}`);
    if (call !== this.#death?.call) return this.#answered(request, next);
    if (this.#death.moment === 'after') {
      const { body } = await next(request);
      if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.();
    }
    this.#state = 'dead';
    return this.#silence();
  };

  /** The process may have died while the server was at work. */
  async #answered(request: HttpRequest, next: Send): Promise<HttpResponse> {
    const response = await next(request);
    return this.dead ? this.#silence() : response;
  }

  #silence(): Promise<never> {
    return new Promise((_, reject) => {
      const lost = (): void => reject(new TransportError('reset', 'the process is dead'));
      if (this.#state === 'buried') lost();
      else this.#bury.push(lost);
    });
  }
}
