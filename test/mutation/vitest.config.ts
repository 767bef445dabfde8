import { relative, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { applyFault, CACHE_VARIABLE, FAULT_VARIABLE, FINDER_VARIABLE, readFaults } from './fault.ts';
import { nearestFirst } from './nearest-first.ts';

// The tests of the collector with one fault in the program, put in as the sources are read: no file changes. Started by run.ts.
const root = resolve(import.meta.dirname, '../..');
const name = process.env[FAULT_VARIABLE];
const cache = process.env[CACHE_VARIABLE];
const fault = readFaults().find((each) => each.name === name);
if (name !== undefined && fault === undefined) throw new Error(`there is no fault ${name}`);

const plugin: Plugin = {
  name: 'fault',
  enforce: 'pre',
  transform(code, id) {
    if (fault === undefined || id.split('?')[0] !== resolve(root, fault.file)) return undefined;
    return { code: applyFault(fault, code), map: null };
  },
  configureVitest({ experimental_defineCacheKeyGenerator: defineCacheKey }) {
    // The runs share what they have compiled, but not this file.
    defineCacheKey(({ id }) =>
      fault !== undefined && id.split('?')[0] === resolve(root, fault.file) ? false : undefined,
    );
  },
};

class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const pathOf = ({ moduleId }: TestSpecification): string => relative(root, moduleId);
    const sorted = nearestFirst(fault?.file ?? '', files, pathOf);
    const finder = process.env[FINDER_VARIABLE];
    return sorted.toSorted((a, b) => Number(pathOf(b) === finder) - Number(pathOf(a) === finder));
  }
}

export default defineConfig({
  root,
  plugins: [plugin],
  test: {
    include: ['src/collector/**/*.test.ts', 'src/client/leader-elect*.test.ts', 'test/collector/**/*.test.ts'],
    // Measures the memory of its process, which is here that of all tests.
    exclude: ['src/collector/monitors/come-and-go.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    pool: 'threads',
    // One after the other, each module read once: most of the time would go into reading them anew.
    maxWorkers: 1,
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: NearestFirst },
    bail: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    experimental: cache === undefined ? {} : { fsModuleCache: true, fsModuleCachePath: cache },
  },
});
