/** Rules of a kind that compile expressions, which is much code. It is loaded with the first such object. */
export interface RulesOnDemand<T> {
  /** For preparation, which runs before validation and may wait. */
  readonly load: () => Promise<void>;
  /** For validation, which may not wait. */
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
