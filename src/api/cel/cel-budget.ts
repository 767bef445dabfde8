/** Maximum cost of one evaluation (`apis/cel.PerCallLimit`). One unit is about 50 ns upstream. */
export const CEL_CALL_LIMIT = 1_000_000;
/** Maximum cost of all rules for one object (`apis/cel.RuntimeCELCostBudget`). */
export const CEL_OBJECT_LIMIT = 10_000_000;

export interface CelBudgetOptions {
  /** In cost units. */
  readonly perCall?: number;
  readonly total?: number;
}

/** The remaining budget for the expressions about one object. Bounds every loop inside expressions. */
export class CelBudget {
  readonly perCall: number;
  #remaining: number;

  constructor({ perCall = CEL_CALL_LIMIT, total = CEL_OBJECT_LIMIT }: CelBudgetOptions = {}) {
    this.perCall = perCall;
    this.#remaining = total;
  }

  get remaining(): number {
    return this.#remaining;
  }

  /** Returns false and spends everything if the remaining budget is smaller. */
  spend(cost: number): boolean {
    const affordable = cost <= this.#remaining;
    this.#remaining = affordable ? this.#remaining - cost : 0;
    return affordable;
  }
}
