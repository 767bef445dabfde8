import { configDefaults, defineConfig } from 'vitest/config';

// Two tiers (CONTRIBUTING.md, "Tests"): `npm test` runs the projects pure, rooms and quick, `npm run test:all` also the slow files.
// Suites that need real programs live in test/compat and test/crash; .ci/run starts them by vitest.compat.config.ts.
const programs = ['test/compat/**', 'test/crash/**'];
const slow = '**/*.slow.test.ts';

/** Rooms without I/O, timers and state. */
const pure = [
  'src/base',
  'src/api',
  'src/workqueue',
  'src/collector/types',
  'src/collector/graph',
  'src/collector/caches',
  'src/collector/queues',
  'src/collector/decide',
].map((room) => `${room}/**/*.test.ts`);

/** Slow files that hold much memory, or measure the process: each has a thread to itself. */
const large = [
  'src/cascade/preview/million-objects.slow.test.ts',
  'src/cascade/undo/undo.slow.test.ts',
  'test/cascade/preview-truth.slow.test.ts',
  'src/collector/monitors/come-and-go.slow.test.ts',
  'test/apiserver/hostile-requests.slow.test.ts',
  'test/collector/large-cascade.slow.test.ts',
  'test/collector/simulation/*.slow.test.ts',
];

export default defineConfig({
  test: {
    setupFiles: ['test/property-seed.ts'],
    pool: 'threads',
    maxWorkers: 2,
    // Files share a process: to read the modules anew for each of them would take minutes of the processor.
    isolate: false,
    // They only end what hangs: a machine with much else to do takes several times as long as usual.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: pure, exclude: [...configDefaults.exclude, slow] },
      },
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['src/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...pure, slow],
        },
      },
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...programs, slow],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [`{src,test}/${slow}`],
          exclude: [...configDefaults.exclude, ...programs, ...large],
        },
      },
      {
        extends: true,
        test: { name: 'large', include: large, isolate: true },
      },
    ],
  },
});
