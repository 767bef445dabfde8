import { relative } from 'node:path';

/** What the tests said about the program with a fault in it. */
export type Outcome =
  /** A test failed: the first one that did. */
  | { readonly outcome: 'found'; readonly file: string; readonly test: string }
  | { readonly outcome: 'passed'; readonly tests: number }
  /** Nothing was proved: the program did not load, did not end, or the report is missing. */
  | { readonly outcome: 'broken'; readonly why: string };

/** As vitest's JSON reporter writes it, which is as jest's does. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export interface Run {
  /** Of the test runner; `killed` when it did not end in time. */
  readonly exit: number | null | 'killed';
  readonly report: string | undefined;
  /** What it wrote to standard error. */
  readonly said: string;
}

/**
 * A test that fails is the only thing that counts as having found a fault. One that does not compile, or hangs until the
 * clock kills it, would be found by everything, and tells nothing about the tests.
 */
export function judge({ exit, report, said }: Run, root: string): Outcome {
  if (exit === 'killed') return { outcome: 'broken', why: 'the tests did not end in time' };
  if (report === undefined) return { outcome: 'broken', why: `no report: ${lastLine(said)}` };
  const files = (JSON.parse(report) as Report).testResults;
  for (const { name, assertionResults } of files) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed !== undefined) return { outcome: 'found', file: relative(root, name), test: failed.fullName };
  }
  const passed = files.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'passed');
  if (exit === 0) return { outcome: 'passed', tests: passed.length };
  const message = files.map((file) => file.message ?? '').find((text) => text !== '') ?? lastLine(said);
  return { outcome: 'broken', why: `no test failed, but the run did: ${message.split('\n')[0]}` };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
