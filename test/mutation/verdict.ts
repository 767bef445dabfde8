/** The result of the tests for the program with a fault in it. */
export type Outcome =
  /** A test failed: the first one that did. */
  | { readonly outcome: 'found'; readonly file: string; readonly test: string }
  | { readonly outcome: 'passed'; readonly tests: number }
  /** Nothing was proved: the program did not load, or a run did not end. */
  | { readonly outcome: 'broken'; readonly why: string };

/** The result of one run of the tests. */
export interface Run {
  /** In the order in which they ran. */
  readonly tests: readonly {
    /** Relative to the root of the repository. */
    readonly file: string;
    readonly name: string;
    readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  }[];
  /** Errors outside of tests: a file that does not load, a hook, a rejection that nobody caught. */
  readonly errors: readonly string[];
}

/**
 * Only a failed test counts as having found a fault. A fault that does not compile, or works without end, would be found by every test, and
 * would prove nothing about the tests.
 */
export function judge({ tests, errors }: Run): Outcome {
  const failed = tests.find(({ state }) => state === 'failed');
  if (failed !== undefined) return { outcome: 'found', file: failed.file, test: failed.name };
  const error = errors[0]?.split('\n')[0];
  if (error !== undefined) return { outcome: 'broken', why: `no test failed, but the run did: ${error}` };
  const passed = tests.filter(({ state }) => state === 'passed').length;
  return passed === 0 ? { outcome: 'broken', why: 'no test ran' } : { outcome: 'passed', tests: passed };
}
