import type { FieldError } from '../field-error.ts';

/** Maximum number of findings, because each costs memory and readers need no more. */
const MAX_FINDINGS = 1000;

/** The findings of a validation and the number of its checks. If several alternatives failed, the one with the most checks is reported. */
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

  /** True if no more findings are kept, so that checks may stop. */
  get full(): boolean {
    return this.#errors.size >= MAX_FINDINGS;
  }

  /** Adds a finding. Equal findings are kept once. */
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
