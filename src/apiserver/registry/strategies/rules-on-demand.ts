/** Rules of a kind that compile expressions: much code, which a server without such an object does not load. */
export interface RulesOnDemand<T> {
  /** For preparation, which comes before validation and may wait. */
  readonly load: () => Promise<void>;
  /** For validation, which may not. */
  readonly loaded: () => T;
}

export function rulesOnDemand<T>(importRules: () => Promise<T>): RulesOnDemand<T> {
  let rules: T | undefined;
  return {
    async load() {
      rules ??= await importRules();
    },
    loaded() {
      if (rules === undefined) throw new Error('an object is validated before it was prepared');
      return rules;
    },
  };
}
