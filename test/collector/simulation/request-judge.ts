import type { HttpRequest } from '../../../src/base/http-message.ts';
import { KINDS } from './simulated-kinds.ts';

interface WriteBody {
  readonly preconditions?: Preconditions;
  readonly metadata?: { readonly uid?: string };
}

interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** Where the options of a DELETE stand. */
export type OptionsPlace = 'body' | 'query';

/** Judges the requests of a collector by the rules for all of them, whatever their answer is (COL-003, COL-150, COL-165). */
export class RequestJudge {
  /** Where the deletions that the server has seen had their options. */
  readonly optionsSeenIn = new Set<OptionsPlace>();
  readonly #wrong: string[];

  constructor(wrong: string[]) {
    this.#wrong = wrong;
  }

  /**
   * The server is about to see the request. `queryIsRead`: the server has reported to the sender a version that reads the options of a
   * DELETE there.
   */
  readonly sees = (request: HttpRequest, queryIsRead: boolean): void => {
    const { method, target } = request;
    if (method === 'GET' || target.includes('/events')) return;
    if (method === 'DELETE') return this.#seesDelete(request, queryIsRead);
    if (method !== 'PATCH') return this.#isWrong(request, 'a write that no collector makes');
    const { metadata } = bodyOf(request);
    if (metadata?.uid === undefined) this.#isWrong(request, 'a write without precondition');
  };

  #seesDelete(request: HttpRequest, queryIsRead: boolean): void {
    const { place, uid, resourceVersion } = preconditionsOf(request);
    this.optionsSeenIn.add(place);
    if (uid === undefined) this.#isWrong(request, 'a write without precondition');
    // While it is on its way the object may get an owner that lives (designs/0009).
    else if (resourceVersion === undefined) this.#isWrong(request, 'a delete of any version');
    // Whoever does not look there deletes without preconditions (designs/0008).
    if (place === 'query' && !(queryIsRead && isServedByKubeApiserver(request))) {
      this.#isWrong(request, 'options in a query that may not be read');
    }
  }

  #isWrong({ method, target, body }: HttpRequest, what: string): void {
    this.#wrong.push(`${what}: ${method} ${target} ${Buffer.from(body ?? []).toString()}`);
  }
}

/** The uid and version that a DELETE is limited to. A body counts alone, even if the query says something else (API-240). */
export function preconditionsOf(request: HttpRequest): Preconditions & { readonly place: OptionsPlace } {
  if ((request.body?.length ?? 0) > 0) return { ...bodyOf(request).preconditions, place: 'body' };
  const mark = request.target.indexOf('?');
  if (mark < 0) return { place: 'body' };
  const query = new URLSearchParams(request.target.slice(mark));
  return {
    uid: query.get('uid') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    place: 'query',
  };
}

/** A custom resource looks the same as a resource of an extension server, which may be of any age. */
function isServedByKubeApiserver({ target }: HttpRequest): boolean {
  return BUILTIN_PATHS.some((path) => target.startsWith(path));
}

const BUILTIN_PATHS: readonly string[] = [...KINDS.values()]
  .filter(({ origin }) => origin === 'builtin')
  .map(({ gvr: { group, version } }) => (group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`));

function bodyOf({ body }: HttpRequest): WriteBody {
  return JSON.parse(Buffer.from(body ?? []).toString() || '{}') as WriteBody;
}
