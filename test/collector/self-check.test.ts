import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEBUG_BASES } from '../../src/collector/debug-handler.ts';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { isIntake } from './recorder.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** The collector compares its graph with fresh lists (ANCHORS' self-check), on demand and again and again. */
let rig: Rig;
const PERIOD_MS = 3_600_000;
/** The two looks of a check are so far apart. */
const CHECK_MS = 11_000;

/** What a proxy loses that cuts events out of a watch. */
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

  it('COL-047 tells of an owner whose end was lost, lists its resource anew, and what it owned goes', async () => {
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
    expect(await ask('POST', 'consistency')).toMatchObject({ answer: { differences: [], inconsistencies: [] } });
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
      answer: { differences: [], unread: ['/v1/secrets (Secret)'] },
    });
    expect(checks('incomplete')).toBe(1);
    expect(errors()).toEqual([]);
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

  it.each(['GET', 'PUT'] as const)('COL-18A is not done by %s', async (method) => {
    expect((await ask(method, 'rescan')).status).toBe(404);
    expect((await ask(method, 'consistency')).status).toBe(404);
    expect((await ask('POST', 'graph')).status).toBe(404);
  });
});

async function* after(
  held: Promise<void>,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    await held;
    yield chunk;
  }
}
