import type { FieldError } from '../field-error.ts';

/** Findings that are kept: nobody reads more, and each costs a text. */
const MAX_FINDINGS = 1000;

/** The findings of a validation so far, and the number of its checks: the failed alternative with most checks is shown. */
export class Findings {
  readonly #errors = new Map<string, FieldError>();
  #matches: number;

  constructor(matches = 0) {
    this.#matches = matches;
  }

  get errors(): readonly FieldError[] {
    return [...this.#errors.values()];
  }

  get valid(): boolean {
    return this.#errors.size === 0;
  }

  get matches(): number {
    return this.#matches;
  }

  match(): this {
    this.#matches++;
    return this;
  }

  /** No more is kept, so that nothing more need be checked. */
  get full(): boolean {
    return this.#errors.size >= MAX_FINDINGS;
  }

  /** The same finding is kept once. */
  add(error: FieldError): this {
    if (this.full) return this;
    const key = `${error.field}\n${error.message}`;
    if (!this.#errors.has(key)) this.#errors.set(key, error);
    return this;
  }

  merge(other: Findings | undefined): this {
    if (other === undefined) return this;
    this.#matches += other.#matches;
    if (!this.full) for (const error of other.#errors.values()) this.add(error);
    return this;
  }
}
