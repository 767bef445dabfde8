import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Suites that need real programs (kubectl, a built dist, kill -9) live in test/compat and test/crash and are
    // started by name from .ci/run, so that `npm test` needs nothing but Node.
    exclude: ['**/node_modules/**', 'test/compat/**', 'test/crash/**'],
    setupFiles: ['test/property-seed.ts'],
    pool: 'threads',
    maxWorkers: 2,
    // They only end what hangs: a machine with much else to do takes several times as long as usual.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
