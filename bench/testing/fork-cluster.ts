import { startCluster } from '../../src/testing/testing.ts';
import { type Benchmark, levelOf, median } from '../result.ts';

/**
 * FORK: a cluster from a snapshot of ten thousand objects, half of them with an owner, until it has answered a read; and until a delete
 * has been carried out and its cluster has settled. The baseline creates the same objects in a new cluster.
 */
export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 200 : 10_000;
  const rounds = smoke ? 2 : 9;
  const objects = Array.from({ length: count }, (_, n) => ({
    apiVersion: 'v1',
    kind: n % 2 === 0 ? 'ConfigMap' : 'Secret',
    metadata: {
      name: `object-${n}`,
      namespace: 'default',
      ...(n % 2 === 0 ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: `object-${n - 1}` }] }),
    },
  }));
  const began = performance.now();
  const cluster = await startCluster({ objects });
  const loading = performance.now() - began;
  const from = await cluster.snapshot();
  await cluster.stop();
  const reads: number[] = [];
  const settled: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const fork = await startCluster({ from });
    await fork.client.get(objects[1] ?? {});
    reads.push(performance.now() - start);
    await fork.client.delete(objects[0] ?? {});
    await fork.settled({ timeoutMs: 60_000 });
    settled.push(performance.now() - start);
    if ((await fork.client.find(objects[1] ?? {})) !== undefined) throw new Error('the dependent was not collected');
    await fork.stop();
  }
  const result = (id: string, metric: string, values: readonly number[], demands: { good: number; great: number }) => {
    const value = median(values);
    return {
      id,
      workload: `a cluster from a snapshot of ${count} objects`,
      metric,
      value,
      baseline: { what: 'a cluster that creates them', value: loading },
      ratio: loading / value,
      level: levelOf(value, { ...demands, better: 'less' }),
      demands: { good: `<= ${demands.good} ms`, great: `<= ${demands.great} ms` },
    };
  };
  return [
    result('FORK (read)', 'ms to the first read', reads, { good: 100, great: 50 }),
    result('FORK (settled)', 'ms to a cascade that has settled', settled, { good: 600, great: 300 }),
  ];
};
