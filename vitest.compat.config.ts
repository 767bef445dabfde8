import { defineConfig } from 'vitest/config';

// Real programs against the built dist: slow, and in need of kubectl. `.ci/run` starts it; so can you, see CONTRIBUTING.md.
export default defineConfig({
  test: {
    include: ['test/compat/**/*.test.ts', 'test/crash/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
