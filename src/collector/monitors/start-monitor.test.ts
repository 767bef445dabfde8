import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpHandler, HttpResponse } from '../../base/http-message.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { applied } from '../graph/apply.ts';
import { OwnershipGraph } from '../graph/ownership-graph.ts';
import { MonitorIntake } from '../monitor-intake.ts';
import { ObjectReader } from './object-reader.ts';
import { startMonitor } from './start-monitor.ts';

const widgets = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  verbs: [],
};

const refusal = (code: number, reason: string): HttpResponse => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ kind: 'Status', reason, code })),
});

/** Sends the end of an empty enumeration, nothing, or an ERROR. Then the stream ends or stays open. */
async function* stream(
  then: 'ends' | 'ends at once' | 'stays' | 'fails',
  signal?: Parameters<HttpHandler>[0]['signal'],
): AsyncGenerator<Buffer> {
  if (then === 'ends at once') return;
  if (then === 'fails') {
    const object = { kind: 'Status', reason: 'InternalError', code: 500 };
    yield Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    return;
  }
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  yield Buffer.from(
    `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1', annotations } } })}\n`,
  );
  if (then === 'stays') await new Promise<void>((over) => signal?.addEventListener('abort', () => over()));
}

const follow = (...args: Parameters<typeof stream>): Promise<HttpResponse> =>
  Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: stream(...args) });

const answers = {
  follows: ({ signal }) => follow('stays', signal),
  ends: () => follow('ends'),
  'ends at once': () => follow('ends at once'),
  'fails after its head': () => follow('fails'),
  'is not there': () => Promise.resolve(refusal(404, 'NotFound')),
  'is forbidden': () => Promise.resolve(refusal(403, 'Forbidden')),
  'is expired': () => Promise.resolve(refusal(410, 'Expired')),
  'has failed': () => Promise.resolve(refusal(500, 'InternalError')),
  'cannot be reached': () => Promise.reject(new Error('refused')),
  'does not answer': () => new Promise(() => {}),
} satisfies Record<string, HttpHandler>;

type Answer = keyof typeof answers;

async function setUp(script: readonly Answer[], graph = new OwnershipGraph()) {
  const clock = new FakeClock();
  const asked = { count: 0 };
  const logger = new MemoryLogger();
  const server: HttpHandler = (request) => answers[script[asked.count++] ?? 'does not answer'](request);
  const client = new RestClient({ transport: inProcessTransport(server), clock, userAgent: 'test' });
  const nothing = (): void => {};
  const intake = new MonitorIntake({
    client,
    clock,
    logger,
    writer: { lookAgain: nothing, touched: nothing, wakeAll: nothing },
    lists: { listed: nothing },
    outages: { watchFailed: nothing, watchBroke: nothing, watchRecovered: nothing, historyReset: nothing },
    resourceSync: () => ({ sooner: nothing }),
  });
  const monitor = startMonitor(widgets, {
    client,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    reader: new ObjectReader(graph),
    apply: (event) => applied(graph, event).outcome,
    tell: intake.of(widgets),
  });
  await clock.settle();
  return {
    clock,
    monitor,
    asked,
    told: () => logger.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message),
  };
}

describe('a monitor', () => {
  it.each<{ readonly script: readonly Answer[]; readonly absent: boolean }>([
    { script: ['is not there'], absent: true },
    { script: ['ends', 'is not there'], absent: true },
    { script: ['ends', 'ends at once'], absent: true },
    { script: ['ends', 'is expired'], absent: true },
    { script: ['ends', 'is forbidden'], absent: false },
    { script: ['is forbidden'], absent: false },
    { script: ['has failed'], absent: false },
    { script: ['cannot be reached'], absent: false },
    { script: ['does not answer'], absent: false },
    { script: ['follows'], absent: false },
  ])('BETTER-3 COL-048 $script: absent is $absent', async ({ script, absent }) => {
    const { monitor } = await setUp(script);
    expect(monitor.absent).toBe(absent);
    await monitor.stop();
  });

  it('COL-048 one whose answers begin and then fail is reported once a minute, and not as one that works again', async () => {
    const script: Answer[] = ['ends', ...Array.from({ length: 100 }, () => 'fails after its head' as const)];
    const { clock, monitor, asked, told } = await setUp([...script, 'follows']);
    await clock.advanceAsync(600_000);
    expect(asked.count).toBeGreaterThan(12);
    expect(new Set(told())).toEqual(new Set(['watches fail and are tried again']));
    expect(told().length).toBeLessThanOrEqual(10);
    while (asked.count < script.length + 1) await clock.advanceAsync(1000);
    expect(told().at(-1)).toBe('watches resumed');
    await monitor.stop();
  });

  it('COL-022 is refused where the graph has no place for one more resource of the kind, and asks for nothing', async () => {
    const graph = new OwnershipGraph();
    const others = { apiVersion: 'example.com/v1', kind: 'Widget' };
    for (let i = 0; i < 256; i++) applied(graph, { type: 'listStarted', resource: { ...others, resource: `w${i}` } });
    await expect(setUp(['follows'], graph)).rejects.toThrow('more than 256 resources of kind Widget');
    applied(graph, { type: 'resourceVanished', resource: { ...others, resource: 'w7' } });
    const { monitor } = await setUp(['follows'], graph);
    expect(monitor.synced).toBe(true);
    await monitor.stop();
  });

  it('BETTER-3 that is absent asks again when it is woken, and is not absent while it does', async () => {
    const { clock, monitor, asked } = await setUp(['is not there', 'is not there', 'follows']);
    monitor.wake('anew');
    await clock.settle();
    expect([asked.count, monitor.absent, monitor.synced]).toEqual([2, true, false]);
    monitor.wake('asBefore');
    await clock.settle();
    expect([asked.count, monitor.absent, monitor.synced]).toEqual([3, false, true]);
    await monitor.stop();
    expect(monitor.absent).toBe(false);
  });
});
