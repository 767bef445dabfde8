import { configDefaults, defineConfig } from 'vitest/config';

/** Measures what the machine can take, so nothing else runs beside it. */
const alone = 'test/compat/load.test.ts';

// Real programs against the built dist: slow, and in need of kubectl. `.ci/run` starts it; so can you, see CONTRIBUTING.md.
// Mostly they wait for each other, so two files run at a time.
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    maxConcurrency: 11,
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/compat/**/*.test.ts', 'test/crash/**/*.test.ts'],
          exclude: [...configDefaults.exclude, alone],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'load', include: [alone], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
