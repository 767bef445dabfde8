/** The module behind `kubegc/testing/vitest`: importing it registers the matchers and their types. */
import { expect, test } from 'vitest';
import { type ClusterOptions, startCluster, type TestCluster } from './cluster.ts';
import { type KubegcMatchers, kubegcMatchers } from './matchers.ts';

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-explicit-any -- vitest declares it so
  interface Matchers<T = any> extends KubegcMatchers<T> {}
}

expect.extend(kubegcMatchers);

/** The fixtures that a test of {@link clusterTest} is given. */
export interface ClusterFixtures {
  /** How the cluster starts: `clusterTest.extend({ clusterOptions: { crds, objects } })`. */
  readonly clusterOptions: ClusterOptions;
  /** Started for each test that names it, and stopped after it, whether it passes or fails. */
  readonly cluster: TestCluster;
}

/** vitest's `test` with a cluster: `clusterTest('…', async ({ cluster }) => { … })`. */
export const clusterTest = test.extend<ClusterFixtures>({
  clusterOptions: {},
  // oxlint-disable-next-line typescript/unbound-method -- vitest calls it so
  cluster: async ({ clusterOptions }, use) => {
    await using cluster = await startCluster(clusterOptions);
    await use(cluster);
  },
});
