import type { HttpRequest, HttpResponse } from '../../../src/base/http-message.ts';
import type { Send } from '../../../src/client/rest/interceptor.ts';

/** Which writes wait at a closed {@link Gate}. */
export interface Held {
  readonly method: 'POST' | 'PATCH';
  readonly resource: string;
  /** So many pass before. */
  readonly after: number;
}

/** Holds writes of a controller back, between what it has read and the server. */
export class Gate {
  #closed: Held | undefined;
  #passed = 0;
  #waiting: (() => void)[] = [];
  #underWay = 0;

  /** A write waits. */
  get holds(): boolean {
    return this.#waiting.length > 0;
  }

  /** No write is without an answer. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  close(held: Held): void {
    this.#closed = held;
    this.#passed = 0;
  }

  open(): void {
    this.#closed = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const release of waiting) release();
  }

  async pass(request: HttpRequest, next: Send): Promise<HttpResponse> {
    this.#underWay++;
    try {
      if (this.#isHeld(request)) await new Promise<void>((release) => this.#waiting.push(release));
      return await next(request);
    } finally {
      this.#underWay--;
    }
  }

  #isHeld({ method, target }: HttpRequest): boolean {
    const closed = this.#closed;
    if (closed === undefined || method !== closed.method || !target.includes(`/${closed.resource}`)) return false;
    return this.#passed++ >= closed.after;
  }
}
