import { describe, expect, it } from 'vitest';
import { newForbidden, newNotFound } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { seededRandom } from '../../base/random/random.ts';
import { EventRecorder, MAX_QUEUED_EVENTS } from './event-recorder.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { RestClient } from '../rest/rest-client.ts';
import { type Answer, answerJson, ScriptedServer } from '../rest/scripted-server.fixture.ts';

function setUp(...answers: Answer[]) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 12, 0, 0, 345));
  const server = new ScriptedServer(...answers);
  const client = new RestClient({ transport: inProcessTransport(server.handler), clock, userAgent: 'test' });
  const recorder = new EventRecorder({
    client,
    clock,
    random: seededRandom(1),
    component: 'garbage-collector-controller',
  });
  const controller = new AbortController();
  const run = (): Promise<void> => recorder.run(controller.signal);
  const bodies = () =>
    server.requests.map((r) => JSON.parse(Buffer.from(r.body ?? []).toString()) as Record<string, unknown>);
  return { clock, server, recorder, run, stop: () => controller.abort(), bodies };
}

const dependent = { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u-1' };
const event = { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message: 'ownerRef …' } as const;

describe('EventRecorder', () => {
  it('COL-144 writes a core/v1 Event with exactly these fields', async () => {
    const { clock, server, recorder, run, bodies } = setUp(answerJson({}, 201));
    recorder.event(dependent, event);
    void run();
    await clock.settle();
    expect(server.lines).toEqual(['POST /api/v1/namespaces/ns/events']);
    const nanos = String((bodies()[0]!['metadata'] as { name: string }).name).replace(/^p\./, '');
    expect(BigInt(`0x${nanos}`) / 1_000_000n).toBe(BigInt(clock.now()));
    expect(bodies()[0]).toEqual({
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: `p.${nanos}`, namespace: 'ns' },
      involvedObject: dependent,
      reason: 'OwnerRefInvalidNamespace',
      message: 'ownerRef …',
      source: { component: 'garbage-collector-controller' },
      firstTimestamp: '2026-11-21T12:00:00Z',
      lastTimestamp: '2026-11-21T12:00:00Z',
      count: 1,
      type: 'Warning',
      reportingComponent: 'garbage-collector-controller',
      reportingInstance: '',
    });
  });

  it('COL-144 puts events on cluster-scoped objects into default', async () => {
    const { clock, server, recorder, run, bodies } = setUp(answerJson({}, 201));
    recorder.event({ ...dependent, namespace: '', fieldPath: '' }, event);
    void run();
    await clock.settle();
    expect(server.lines).toEqual(['POST /api/v1/namespaces/default/events']);
    expect(bodies()[0]!['involvedObject']).toEqual({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u-1' });
  });

  it('COL-145 counts a repetition up by PATCH, and writes a new Event when the old one is gone', async () => {
    const gone = answerJson(newNotFound({ group: '', resource: 'events' }, 'x').status, 404);
    const { clock, server, recorder, run, bodies } = setUp(
      answerJson({}, 201),
      answerJson({}),
      gone,
      answerJson({}, 201),
      answerJson({}),
    );
    void run();
    recorder.event(dependent, event);
    await clock.settle();
    const { name } = bodies()[0]!['metadata'] as { name: string };
    for (let i = 0; i < 3; i++) {
      await clock.advanceAsync(60_000);
      recorder.event(dependent, event);
    }
    await clock.settle();
    const { name: second } = bodies()[3]!['metadata'] as { name: string };
    expect(server.lines.slice(1)).toEqual([
      `PATCH /api/v1/namespaces/ns/events/${name}`,
      `PATCH /api/v1/namespaces/ns/events/${name}`,
      'POST /api/v1/namespaces/ns/events',
      `PATCH /api/v1/namespaces/ns/events/${second}`,
    ]);
    expect(server.requests[1]?.headers['content-type']).toBe('application/strategic-merge-patch+json');
    expect(bodies()[1]).toEqual({ count: 2, lastTimestamp: '2026-11-21T12:01:00Z', message: 'ownerRef …' });
    expect(bodies()[3]).toMatchObject({
      count: 3,
      firstTimestamp: '2026-11-21T12:00:00Z',
      lastTimestamp: '2026-11-21T12:02:00Z',
    });
    expect(second).not.toBe(name);
  });

  it('COL-146 does not repeat a rejected event', async () => {
    const rejected = answerJson(newForbidden({ group: '', resource: 'events' }, '', 'no').status, 403);
    const { clock, server, recorder, run } = setUp(rejected, answerJson({}, 201));
    void run();
    recorder.event(dependent, event);
    recorder.event({ ...dependent, name: 'q' }, event);
    await clock.settle();
    expect(server.lines).toHaveLength(2);
  });

  it('COL-146 tries twelve times to reach the server, 10 s apart after a random first wait, and then goes on', async () => {
    const { clock, server, recorder, run } = setUp(
      ...Array.from({ length: 12 }, () => new Error('refused')),
      answerJson({}, 201),
    );
    void run();
    const times: number[] = [];
    const handler = server.answers.map((answer) => () => {
      times.push(clock.monotonic());
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answerJson({}, 201));
    });
    server.answers.splice(0, Infinity, ...handler);
    recorder.event(dependent, event);
    recorder.event({ ...dependent, name: 'q' }, event);
    await clock.advanceAsync(600_000);
    const gaps = times.slice(1, 12).map((t, i) => t - times[i]!);
    expect(gaps[0]).toBeLessThan(10_000);
    expect(gaps.slice(1)).toEqual(Array.from({ length: 10 }, () => 10_000));
    expect([server.lines.length, times[12]]).toEqual([13, times[11]]);
  });

  it('COL-146 keeps a thousand and drops the rest, without ever delaying the caller', async () => {
    const { clock, server, recorder, run } = setUp(...Array.from({ length: 2000 }, () => answerJson({}, 201)));
    for (let i = 0; i < MAX_QUEUED_EVENTS + 5; i++) recorder.event({ ...dependent, name: `p${i}` }, event);
    expect([recorder.dropped, server.lines.length]).toEqual([5, 0]);
    void run();
    await clock.settle();
    while (server.lines.length < MAX_QUEUED_EVENTS) await clock.settle();
    expect(new Set(server.requests.map((r) => Buffer.from(r.body ?? []).toString())).size).toBe(1000);
  });

  it('COL-146 returns the waiting events, and not what it has written or is about to', async () => {
    const { clock, server, recorder, run } = setUp(answerJson({}, 201), new Error('refused'), answerJson({}, 201));
    void run();
    const record = (name: string): void => recorder.event({ ...dependent, name }, event);
    record('written');
    await clock.settle();
    for (const name of ['tried again', 'waiting', 'waiting, too']) record(name);
    await clock.settle();
    expect(recorder.takeWaiting().map(({ involvedObject }) => involvedObject.name)).toEqual([
      'waiting',
      'waiting, too',
    ]);
    expect(recorder.takeWaiting()).toEqual([]);
    await clock.advanceAsync(60_000);
    expect(server.lines).toHaveLength(3);
  });

  it('stops while it waits, writes or has nothing to do', async () => {
    const idle = setUp();
    const done = idle.run();
    idle.stop();
    await done;
    const writing = setUp();
    const written = writing.run();
    writing.recorder.event(dependent, event);
    await writing.clock.settle();
    writing.stop();
    await written;
    const waiting = setUp(new Error('refused'));
    const waited = waiting.run();
    waiting.recorder.event(dependent, event);
    await waiting.clock.settle();
    waiting.stop();
    await waited;
    expect(waiting.clock.pendingTimers).toBe(0);
  });
});
