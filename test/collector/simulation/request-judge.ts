import type { HttpRequest } from '../../../src/base/http-message.ts';

interface WriteBody {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** What a collector may ask for, whatever becomes of it (COL-003, COL-150, COL-151, COL-165). */
export class RequestJudge {
  /** Uids that were deleted whatever their version: between the look at it and the delete a client may have deleted it as well. */
  readonly deletedAnyhow = new Set<string>();
  readonly #wrong: string[];
  /** Deletes with both preconditions that met a conflict. */
  readonly #conflicts = new Set<string>();

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
    if (method !== 'DELETE' || preconditions?.uid === undefined || preconditions.resourceVersion !== undefined) return;
    this.deletedAnyhow.add(preconditions.uid);
    if (!this.#conflicts.has(preconditions.uid)) this.#isWrong(request, 'a delete of any version without a conflict');
  };

  /** The collector got this answer. */
  readonly answered = (request: HttpRequest, status: number): void => {
    if (status !== 409 || request.method !== 'DELETE') return;
    const { preconditions } = bodyOf(request);
    if (preconditions?.uid !== undefined) this.#conflicts.add(preconditions.uid);
  };

  #isWrong({ method, target, body }: HttpRequest, what: string): void {
    this.#wrong.push(`${what}: ${method} ${target} ${Buffer.from(body ?? []).toString()}`);
  }
}

function bodyOf({ body }: HttpRequest): WriteBody {
  return JSON.parse(Buffer.from(body ?? []).toString() || '{}') as WriteBody;
}
