import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEBUG_BASES } from '../../src/collector/observation/debug-handler.ts';
import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { type Fault, refuse } from './faults.ts';
import { isIntake } from './recorder.ts';
import { configMap, refTo, secret, widget } from './kinds.ts';
import { Rig, type RunningCollector } from './rig.ts';

/** The collector compares its graph with fresh lists (ANCHORS' self-check), on demand and again and again. */
let rig: Rig;
const PERIOD_MS = 3_600_000;
/** The two looks of a check are so far apart. */
const CHECK_MS = 11_000;

/** Events that a proxy cuts out of a watch. */
let lost: RegExp | undefined;

beforeEach(async () => {
  lost = undefined;
  rig = await Rig.start();
  rig.weather = async (request, next) => {
    const response = await next(request);
    return response.body instanceof Uint8Array ? response : { ...response, body: withoutLost(response.body) };
  };
  await rig.startCollector({ selfCheckPeriodMs: PERIOD_MS });
});
afterEach(() => rig.stop());

async function* withoutLost(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body)
    if (lost === undefined || !lost.test(Buffer.from(chunk).toString('latin1'))) yield chunk;
}

const errors = (): string[] => rig.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
const checks = (outcome: string): number =>
  rig.metrics.value('kubegc_collector_consistency_checks_total', { outcome }) ?? 0;
const differences = (resource: string, difference: string): number =>
  rig.metrics.value('kubegc_collector_consistency_differences_total', { resource, difference }) ?? 0;

async function ask(method: HttpRequest['method'], page: string, base: string = DEBUG_BASES[0]) {
  const answering = rig.collector.debugHandler({ method, target: `${base}/${page}`, headers: {} });
  await rig.advance(CHECK_MS);
  const { status, body } = await answering;
  const text = Buffer.from(body as Uint8Array).toString();
  return { status, answer: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown[]>) };
}

describe('the self-check', () => {
  it('finds nothing while the watches work, costs one list a resource, and no more when it is not asked for', async () => {
    await rig.create(configMap, 'a');
    rig.recorder.clear();
    await rig.advance(PERIOD_MS - 60_000);
    expect(checks('equal')).toBe(0);
    const watched = new Set(rig.recorder.intake.map(({ path }) => path)).size;
    rig.recorder.clear();
    await rig.advance(60_000 + CHECK_MS);
    expect(checks('equal')).toBe(1);
    const lists = rig.recorder.all.filter((call) => isIntake(call) && call.query['watch'] === undefined);
    expect(lists.length).toBeGreaterThanOrEqual(9);
    expect(new Set(lists.map(({ path }) => path)).size).toBe(lists.length);
    expect(watched).toBeGreaterThanOrEqual(9);
    expect(errors()).toEqual([]);
  });

  it('COL-047 reports an owner whose deletion was lost, lists its resource anew, and its dependents are deleted', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'owned', { owners: [refTo(owner)] });
    lost = /DELETED/;
    await rig.delete(configMap, 'owner');
    await rig.advance(60_000);
    lost = undefined;
    expect(await rig.names(secret)).toEqual(['owned']);
    await rig.advance(PERIOD_MS + CHECK_MS);
    expect(errors()).toEqual(['the ownership graph differs from the server, and the resource is listed anew']);
    expect(differences('configmaps', 'extra')).toBe(1);
    expect(checks('different')).toBe(1);
    expect(await rig.names(secret)).toEqual([]);
    await rig.advance(PERIOD_MS + CHECK_MS);
    expect([checks('different'), checks('equal')]).toEqual([1, 1]);
  });

  it.each(['references', 'missing'] as const)('finds %s that were lost', async (difference) => {
    const owner = await rig.create(configMap, 'owner');
    if (difference === 'references') await rig.create(secret, 'owned');
    lost = /owned/;
    if (difference === 'missing') await rig.create(secret, 'owned', { owners: [refTo(owner)] });
    else await rig.patch(secret, 'owned', { ownerReferences: [refTo(owner)] });
    await rig.settle();
    lost = undefined;
    const { status, answer } = await ask('POST', 'consistency');
    expect(status).toBe(200);
    expect(answer).toMatchObject({ differences: [{ resource: '/v1/secrets (Secret)', difference }], unread: [] });
    expect(await ask('POST', 'consistency')).toMatchObject({
      answer: { complete: true, differences: [], inconsistencies: [] },
    });
  });

  it('takes what is only late for no difference', async () => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    rig.weather = async (request, next) => {
      const response = await next(request);
      return response.body instanceof Uint8Array ? response : { ...response, body: after(held, response.body) };
    };
    rig.streams.cut(/configmaps/);
    await rig.settle();
    await rig.create(configMap, 'late');
    const asking = rig.collector.debugHandler({ method: 'POST', target: `${DEBUG_BASES[1]}/consistency`, headers: {} });
    await rig.advance(5000);
    letGo();
    await rig.advance(CHECK_MS);
    expect(Buffer.from((await asking).body as Uint8Array).toString()).toContain('"differences":[]');
    expect(errors()).toEqual([]);
  });

  it('COL-048 a resource that can not be listed is named, and counts as no difference', async () => {
    rig.faults.on({ target: /secrets\?limit/ }, () => Promise.reject(new Error('no route')));
    expect(await ask('POST', 'consistency')).toMatchObject({
      answer: { complete: false, differences: [], unread: ['/v1/secrets (Secret)'] },
    });
    expect(checks('incomplete')).toBe(1);
    expect(errors()).toEqual([]);
  });

  it('COL-048 is not complete while a monitor has not seen its resource yet', async () => {
    // The monitor asks for a watch that begins with a list, a comparison for the list alone.
    rig.faults.on({ target: /widgets\?.*watch/ }, refuse(500, 'InternalError'));
    rig.serve(widget);
    await rig.advance(31_000);
    const { answer } = await ask('POST', 'consistency');
    expect(answer).toMatchObject({ complete: false, differences: [], unread: [] });
    expect(checks('incomplete')).toBe(1);
    rig.faults.clear();
    await rig.advance(60_000);
    expect((await ask('POST', 'consistency')).answer).toMatchObject({ complete: true });
  });
});

describe('a rescan on demand', () => {
  it('lists every monitored resource anew', async () => {
    rig.recorder.clear();
    const { status, answer } = await ask('POST', 'rescan');
    expect(status).toBe(202);
    expect(answer?.['listing']).toContain('/v1/configmaps (ConfigMap)');
    expect(new Set(rig.recorder.intake.map(({ path }) => path)).size).toBe(answer?.['listing']?.length);
  });

  it('COL-042 puts right what was lost', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'owned', { owners: [refTo(owner)] });
    lost = /DELETED/;
    await rig.delete(configMap, 'owner');
    await rig.advance(1000);
    lost = undefined;
    await ask('POST', 'rescan');
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each(['GET', 'PUT'] as const)('is not done by %s, which gets an error, nor is a comparison', async (method) => {
    for (const page of ['rescan', 'consistency']) {
      const target = `${DEBUG_BASES[0]}/${page}`;
      const { status, headers, body } = await rig.collector.debugHandler({ method, target, headers: {} });
      expect([status, headers['allow'], Buffer.from(body as Uint8Array).toString()]).toEqual([
        405,
        'POST',
        `/${page} is asked for with POST\n`,
      ]);
    }
    expect((await ask('POST', 'graph')).status).toBe(404);
  });
});

describe('COL-215 a stop while a comparison is under way', () => {
  let timers: number;
  let running: RunningCollector;
  let lists: number;

  /** A collector of its own whose graph differs, so that its comparison waits for a second look. */
  async function begin(selfCheckPeriodMs: number | undefined): Promise<void> {
    await rig.stop();
    rig = await Rig.start();
    timers = rig.clock.pendingTimers;
    await rig.create(configMap, 'differs');
    rig.weather = async (request, next) => {
      const response = await next(request);
      return response.body instanceof Uint8Array ? response : { ...response, body: withoutLost(response.body) };
    };
    running = await rig.startCollector({ selfCheckPeriodMs });
    await rig.advance(60_000);
    lost = /DELETED/;
    await rig.delete(configMap, 'differs');
    await rig.settle();
  }

  /** Without any time passing: else the rig gives up. */
  async function stop(): Promise<void> {
    lists = rig.recorder.all.length;
    const at = rig.clock.monotonic();
    await running.stop();
    expect(rig.clock.monotonic()).toBe(at);
    expect(rig.clock.pendingTimers).toBe(timers);
    await rig.advance(CHECK_MS);
    expect(rig.recorder.all).toHaveLength(lists);
    expect([checks('equal'), checks('incomplete'), checks('different')]).toEqual([0, 0, 0]);
  }

  const post = (signal?: AbortSignal): Promise<HttpResponse> =>
    running.collector.debugHandler({ method: 'POST', target: `${DEBUG_BASES[0]}/consistency`, headers: {}, signal });
  const wordsOf = ({ body }: HttpResponse): string => Buffer.from(body as Uint8Array).toString();

  it.each([PERIOD_MS, undefined])('waits for no second look that was asked for, with a period of %s ms', async (ms) => {
    await begin(ms);
    const asking = post();
    await rig.advance(1000);
    await stop();
    expect(await rig.wait(asking)).toMatchObject({ status: 503 });
    expect(wordsOf(await asking)).toBe('the collector is stopped\n');
  });

  it('nor when the periodic comparison came due meanwhile', async () => {
    await begin(62_000);
    const asking = post();
    await rig.advance(5000);
    await stop();
    expect(await rig.wait(asking)).toMatchObject({ status: 503 });
  });

  it('answers who joined the periodic one', async () => {
    await begin(60_500);
    await rig.advance(1000);
    const asking = post();
    await rig.advance(1000);
    await stop();
    expect(await rig.wait(asking)).toMatchObject({ status: 503 });
  });

  it('cuts a list under way, and counts no comparison that has not seen everything', async () => {
    await begin(undefined);
    lost = undefined;
    running.collector.consistency.rescan();
    await rig.settle();
    rig.faults.on({ target: /secrets\?limit/ }, untilAborted);
    const asking = post();
    await rig.advance(1000);
    await stop();
    expect(await rig.wait(asking)).toMatchObject({ status: 503 });
  });

  it.each([PERIOD_MS, undefined])('waits for what cannot be cut, with a period of %s ms', async (ms) => {
    await begin(ms);
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    rig.faults.on({ target: /secrets\?limit/ }, async () => {
      await held;
      throw new Error('cut at last');
    });
    const asking = post();
    await rig.advance(1000);
    let stopped = false;
    const stopping = running.stop().then(() => (stopped = true));
    await rig.settle();
    expect(stopped).toBe(false);
    letGo();
    await rig.wait(stopping);
    expect(await asking).toMatchObject({ status: 503 });
  });

  it('after it nothing is begun any more', async () => {
    await begin(undefined);
    await stop();
    for (const page of ['consistency', 'rescan']) {
      const target = `${DEBUG_BASES[0]}/${page}`;
      const response = await running.collector.debugHandler({ method: 'POST', target, headers: {} });
      expect([response.status, wordsOf(response)]).toEqual([503, 'the collector is stopped\n']);
    }
    expect(rig.clock.pendingTimers).toBe(timers);
    expect(rig.recorder.all).toHaveLength(lists);
  });

  it('nor before it runs', async () => {
    const { clock, logger, metrics } = rig;
    const collector = new GarbageCollector({
      identity: 'certain',
      client: rig.clientWith('collector'),
      clock,
      random: seededRandom(1),
      logger,
      metrics,
    });
    for (const page of ['consistency', 'rescan']) {
      const target = `${DEBUG_BASES[0]}/${page}`;
      const response = await collector.debugHandler({ method: 'POST', target, headers: {} });
      expect([response.status, wordsOf(response)]).toEqual([503, 'the collector does not run yet\n']);
    }
  });

  it('a client that asked and went away ends it for nobody else', async () => {
    await begin(undefined);
    const gone = new AbortController();
    const first = post(gone.signal);
    const stays = new AbortController();
    const second = post(stays.signal);
    await rig.advance(1000);
    gone.abort();
    expect(await rig.wait(first)).toMatchObject({ status: 503 });
    await rig.advance(CHECK_MS);
    expect(await rig.wait(second)).toMatchObject({ status: 200 });
    expect(getEventListeners(stays.signal, 'abort')).toEqual([]);
    expect(wordsOf(await second)).toContain('"difference":"extra"');
    expect(checks('different')).toBe(1);
    expect(await rig.wait(post(gone.signal))).toMatchObject({ status: 503 });
    expect(checks('equal')).toBe(0);
  });
});

const untilAborted: Fault = (request) =>
  new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(new Error('cut'))));

async function* after(
  held: Promise<void>,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    await held;
    yield chunk;
  }
}
