import { expect, it } from 'vitest';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { jsonOnly } from '../../src/cli/collect/collect-content-type.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { ReplayedServer } from './replayed-server.ts';

/** Real milliseconds: modules are loaded at their first use. */
const realMillisecond = (): Promise<void> => new Promise((settle) => setTimeout(settle, 1));

/**
 * The server had an owner that was being orphaned, one deleted in foreground, one that was gone, one alive, each with dependents among
 * ConfigMaps, Secrets and custom resources.
 */
it.each([
  ['protobuf', []],
  ['json', [jsonOnly]],
] as const)('BETTER-13 COL-040 collects at a recorded kube-apiserver 1.36 in %s', async (encoding, interceptors) => {
  const server = new ReplayedServer(`collector-${encoding}.jsonl`);
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const transport = { send: server.handler, close: async () => {} };
  const client = new RestClient({ transport, clock, userAgent: 'test', interceptors, defaultTimeoutMs: 30_000 });
  const random = seededRandom(1);
  const metrics = new MemoryMetrics();
  const collector = new GarbageCollector({
    client,
    clock,
    random,
    logger,
    metrics,
    identity: 'certain',
    orphanRecords: 'memory',
  });
  const aborter = new AbortController();
  const done = collector.run(aborter.signal);
  const recorded = server.recordedWrites.toSorted();
  for (let round = 0; round < 2000 && (server.writes.length < recorded.length || !collector.atRest); round++) {
    await realMillisecond();
    await clock.advanceAsync(10);
  }
  expect(server.writes.toSorted()).toEqual(recorded);
  expect(server.unknown).toEqual([]);
  expect(logger.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  expect(collector.consistency.invariants()).toEqual([]);
  aborter.abort();
  await clock.settle();
  await done;
});
