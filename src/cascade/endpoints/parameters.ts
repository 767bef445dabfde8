import { newBadRequest } from '../../api/status-error.ts';
import type { CascadePolicy } from '../documents/cascade-plan.ts';

/** Parameters of the API server itself, which every path may have. */
const COMMON: ReadonlySet<string> = new Set(['timeout', 'pretty']);
/** Maximum number of objects that one request names. */
const MOST_OBJECTS = 1000;

const POLICIES: Readonly<Record<string, CascadePolicy>> = {
  background: 'Background',
  foreground: 'Foreground',
  orphan: 'Orphan',
};

/** An object as kubectl names it: `deployments.apps/web`. */
export interface TypedName {
  readonly type: string;
  readonly name: string;
}

/** The parameters of one request. Each method throws a 400 that names the parameter and the values that it may have. */
export class Parameters {
  readonly #query: URLSearchParams;

  /** @param known the parameters of the path; a request with another one is refused, because a mistyped one would change the answer */
  constructor(query: URLSearchParams, known: readonly string[]) {
    for (const name of query.keys()) {
      if (known.includes(name) || COMMON.has(name)) continue;
      throw newBadRequest(`unknown parameter ${JSON.stringify(name)}; there are ${known.join(', ')}`);
    }
    this.#query = query;
  }

  text(name: string): string | undefined {
    const values = this.#query.getAll(name);
    if (values.length > 1) throw newBadRequest(`parameter ${name} is given ${values.length} times`);
    const [value] = values;
    return value === '' ? undefined : value;
  }

  /** Values of `object`, each `TYPE/NAME`. */
  objects(): TypedName[] {
    const values = this.#query.getAll('object');
    if (values.length > MOST_OBJECTS)
      throw newBadRequest(`${values.length} objects; at most ${MOST_OBJECTS} are named`);
    return values.map((text) => {
      const [type = '', name = '', ...rest] = text.split('/');
      if (type !== '' && name !== '' && rest.length === 0) return { type, name };
      throw newBadRequest(`invalid object ${JSON.stringify(text)}; give TYPE/NAME, for example deployments.apps/web`);
    });
  }

  oneOf<T extends string>(name: string, values: readonly T[], otherwise: T): T {
    const text = this.text(name);
    if (text === undefined) return otherwise;
    const value = values.find((each) => each === text);
    if (value === undefined)
      throw newBadRequest(`invalid ${name} ${JSON.stringify(text)}; give one of ${values.join(', ')}`);
    return value;
  }

  policy(): CascadePolicy | undefined {
    const text = this.text('cascade');
    if (text === undefined) return undefined;
    const policy = POLICIES[text.toLowerCase()];
    if (policy !== undefined) return policy;
    throw newBadRequest(`invalid cascade ${JSON.stringify(text)}; give one of ${Object.keys(POLICIES).join(', ')}`);
  }

  wholeNumber(name: string, { least, most }: { readonly least: number; readonly most: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw newBadRequest(`invalid ${name} ${JSON.stringify(text)}; give a whole number from ${least} to ${most}`);
  }
}
