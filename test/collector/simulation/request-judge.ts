import type { HttpRequest } from '../../../src/base/http-message.ts';

interface WriteBody {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** What a collector may ask for, whatever becomes of it (COL-003, COL-150, COL-165). */
export class RequestJudge {
  readonly #wrong: string[];

  constructor(wrong: string[]) {
    this.#wrong = wrong;
  }

  /** The server is about to see it. */
  readonly sees = (request: HttpRequest): void => {
    const { method, target } = request;
    if (method === 'GET' || target.includes('/events')) return;
    if (method !== 'DELETE' && method !== 'PATCH') return this.#isWrong(request, 'a write that no collector makes');
    const { preconditions, metadata } = bodyOf(request);
    if ((preconditions?.uid ?? metadata?.uid ?? metadata?.resourceVersion) === undefined) {
      this.#isWrong(request, 'a write without precondition');
    }
    // While it is on its way the object may get an owner that lives (designs/0009).
    if (method === 'DELETE' && preconditions?.uid !== undefined && preconditions.resourceVersion === undefined) {
      this.#isWrong(request, 'a delete of any version');
    }
  };

  #isWrong({ method, target, body }: HttpRequest, what: string): void {
    this.#wrong.push(`${what}: ${method} ${target} ${Buffer.from(body ?? []).toString()}`);
  }
}

function bodyOf({ body }: HttpRequest): WriteBody {
  return JSON.parse(Buffer.from(body ?? []).toString() || '{}') as WriteBody;
}
