import type { HttpResponse } from '../../../src/base/http-message.ts';
import { answer, statusBody } from '../faults.ts';
import type { VersionName, VersionPlan } from './plan.ts';

/** From 1.20 on a collector may rely on it that preconditions are read in a query (designs/0008). */
const READS_QUERY: ReadonlySet<VersionName> = new Set(['1.20', '1.36']);

/** `/version`, as one process of a collector finds it. */
export class ToldVersion {
  readonly #says: VersionName;
  readonly #onTold: (what: VersionTold) => void;
  #refusals: number;
  #isLate = false;
  #queryIsRead = false;

  constructor({ says, refusals = 0 }: VersionPlan, onTold: (what: VersionTold) => void) {
    this.#says = says;
    this.#refusals = refusals;
    this.#onTold = onTold;
  }

  /** The process may know that the query is read, because it has received the version. */
  get queryIsRead(): boolean {
    return this.#queryIsRead;
  }

  ask(): HttpResponse {
    if (this.#refusals > 0) {
      this.#refusals--;
      this.#isLate = true;
      return answer(503, statusBody(503, 'ServiceUnavailable'));
    }
    this.#queryIsRead = READS_QUERY.has(this.#says);
    this.#onTold(this.#says);
    if (this.#isLate) this.#onTold('late');
    return answers[this.#says]();
  }
}

export type VersionTold = VersionName | 'late';

const answers: Readonly<Record<VersionName, () => HttpResponse>> = {
  '1.36': () => answer(200, { major: '1', minor: '36' }),
  '1.20': () => answer(200, { major: '1', minor: '20' }),
  '1.19': () => answer(200, { major: '1', minor: '19+' }),
  nothing: () => answer(200, {}),
  forbidden: () => answer(403, statusBody(403, 'Forbidden')),
};
