import { relative, resolve } from 'node:path';
import { BaseSequencer, createVitest, type Reporter, type TestSpecification, type Vitest } from 'vitest/node';
import { applyFault, type Fault } from './fault.ts';
import { nearestFirst } from './nearest-first.ts';
import { judge, type Outcome, type Run } from './verdict.ts';

const root = resolve(import.meta.dirname, '../..');

/** The fault that is put in for one run of the tests. */
export interface Trial {
  /** Without one the program is tested as it is. */
  readonly fault: Fault | undefined;
  /** The test file that runs before all others, if there is one. */
  readonly finder: string | undefined;
}

interface Hearing {
  readonly tests: Run['tests'][number][];
  readonly errors: string[];
}

const messageOf = (error: unknown): string => (error as { message?: string }).message ?? String(error);

/**
 * Takes down what is reported, and prints nothing. The result of a run does not do: it has the files of all runs before it, those that
 * were cut short with what they came to then.
 */
function hearing({ tests, errors }: Hearing): Reporter {
  return {
    onTestCaseResult(test) {
      const file = relative(root, test.module.moduleId);
      tests.push({ file, name: test.fullName.replaceAll(' > ', ' '), state: test.result().state });
    },
    onTestSuiteResult: (suite) => void errors.push(...suite.errors().map(messageOf)),
    onTestModuleEnd: (module) => void errors.push(...module.errors().map(messageOf)),
  };
}

/**
 * The tests of the collector, the controllers and node collection, for one fault in the program after the other. The fault is put in as the source is read, no file
 * changes; all else stays compiled, and a thread of its own reads it anew for each trial.
 */
export class Tester {
  readonly #trial: { current: Trial };
  readonly #heard: Hearing;
  readonly #vitest: Vitest;
  readonly #all: TestSpecification[];

  private constructor(trial: { current: Trial }, heard: Hearing, vitest: Vitest, all: TestSpecification[]) {
    this.#trial = trial;
    this.#heard = heard;
    this.#vitest = vitest;
    this.#all = all;
  }

  /** `tests`: files that are tried besides those of the rooms, as paths from the root. */
  static async open(tests: readonly string[]): Promise<Tester> {
    const trial = { current: { fault: undefined, finder: undefined } as Trial };
    const heard: Hearing = { tests: [], errors: [] };
    class NearestFirst extends BaseSequencer {
      override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
        return nearestFirst(trial.current.fault?.file ?? '', files, ({ moduleId }) => relative(root, moduleId));
      }
    }

    const vitest = await createVitest(
      'test',
      {
        root,
        config: false,
        watch: false,
        reporters: [hearing(heard)],
        include: [
          'src/collector/**/*.test.ts',
          // Only the quick tests of the controllers: decisions are pure, so that a test without a cluster finds what is wrong with them.
          'src/lifecycle/**/!(*.slow).test.ts',
          'src/client/election/leader-elect*.test.ts',
          'test/collector/**/*.test.ts',
          'src/nodegc/**/*.test.ts',
          'test/nodegc/**/*.test.ts',
          // Those that found a fault elsewhere, such as in the API server.
          ...tests,
        ],
        // Measures the memory of its process, which is here that of all tests.
        exclude: ['src/collector/monitors/come-and-go.slow.test.ts'],
        setupFiles: ['test/property-seed.ts'],
        pool: 'threads',
        // One after the other, each module read once: most of the time would go into reading them anew.
        maxWorkers: 1,
        isolate: false,
        fileParallelism: false,
        sequence: { sequencer: NearestFirst },
        bail: 1,
        testTimeout: 180_000,
        hookTimeout: 180_000,
      },
      {
        plugins: [
          {
            name: 'fault',
            enforce: 'pre',
            transform(code, id) {
              const { fault } = trial.current;
              if (fault === undefined || id.split('?')[0] !== resolve(root, fault.file)) return undefined;
              return { code: applyFault(fault, code), map: null };
            },
          },
        ],
      },
    );
    await vitest.standalone();
    return new Tester(trial, heard, vitest, await vitest.globTestSpecifications());
  }

  /** One trial at a time. Ends at the first test that fails, or when all have passed. */
  async run(trial: Trial): Promise<Outcome> {
    // The file that was faulty is read again as it is, the one that is to be faulty is read with the fault.
    for (const { fault } of [this.#trial.current, trial]) {
      if (fault !== undefined) this.#vitest.invalidateFile(resolve(root, fault.file));
    }
    this.#trial.current = trial;
    // By itself: a run that is cut short still reads all the files that it was given.
    const first = this.#all.filter(({ moduleId }) => relative(root, moduleId) === trial.finder);
    if (first.length > 0) {
      const outcome = await this.#runFiles(first);
      if (outcome.outcome !== 'passed') return outcome;
    }
    return this.#runFiles(this.#all);
  }

  async #runFiles(files: readonly TestSpecification[]): Promise<Outcome> {
    this.#heard.tests.length = 0;
    this.#heard.errors.length = 0;
    const { unhandledErrors } = await this.#vitest.runTestSpecifications([...files], true);
    return judge({ ...this.#heard, errors: [...this.#heard.errors, ...unhandledErrors.map(messageOf)] });
  }

  close(): Promise<void> {
    return this.#vitest.close();
  }
}
