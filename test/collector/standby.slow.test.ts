import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/client/election/leader-elector.ts';
import type { Decision } from '../../src/collector/workers/decision.ts';
import type { Fault } from './faults.ts';
import { configMap, pod, refTo, secret } from './kinds.ts';
import type { Call } from './recorder.ts';
import { Rig, type RunningCollector } from './rig.ts';

/** A collector that watches while another one leads, and what happens when leadership changes hands. */
let rig: Rig;
let standby: RunningCollector;
let decisions: Decision[];
let terms: { readonly stop: AbortController; readonly done: Promise<void> }[];

beforeEach(async () => {
  decisions = [];
  terms = [];
  rig = await Rig.start();
  standby = await rig.startCollector({
    workers: 'whenLeading',
    onDecision: (decision) => void decisions.push(decision),
  });
  // Modules that the server loads on demand take time that no fake clock knows of.
  for (let tries = 0; !standby.collector.started && tries < 1000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await rig.advance(10);
  }
});

afterEach(async () => {
  for (const { stop } of terms) stop.abort();
  await rig.wait(Promise.all(terms.map(({ done }) => done)));
  await rig.stop();
});

function lead(): { stop: AbortController; done: Promise<void> } {
  const stop = new AbortController();
  const term = { stop, done: standby.collector.lead(stop.signal) };
  terms.push(term);
  return term;
}

const writesEvent = ({ method, path }: Call): boolean => method !== 'GET' && path.includes('/events');

const untilAborted: Fault = (request) =>
  new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(new Error('cut'))));

async function family(size = 3): Promise<void> {
  const owner = await rig.create(configMap, 'owner');
  for (let index = 0; index < size; index++) {
    await rig.create(secret, `dependent-${index}`, { owners: [refTo(owner, { block: true })] });
  }
}

describe('COL-214 a collector that does not lead', () => {
  it('keeps the graph, and writes and decides nothing, whatever is deleted and however long it takes', async () => {
    expect(standby.collector.started).toBe(true);
    expect(standby.collector.synced).toBe(true);
    await family();
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.create(secret, 'invalid', {
      owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: '11111111-2222-3333-4444-555555555555' }],
    });
    await rig.advance(10 * 60_000);
    expect(rig.recorder.lines).toEqual([]);
    expect(decisions).toEqual([]);
    expect(rig.metrics.value('kubegc_collector_graph_nodes', { state: 'observed' })).toBeGreaterThanOrEqual(5);
  });

  it('writes no Event about what it sees either, until it leads', async () => {
    const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
    await rig.create(secret, 'stray', { owners: [refTo(elsewhere)] });
    await rig.advance(60_000);
    expect(rig.recorder.all.filter(({ method }) => method !== 'GET')).toEqual([]);
    lead();
    await rig.advance(1000);
    expect(rig.recorder.all.some(({ method, path }) => method === 'POST' && path.endsWith('/events'))).toBe(true);
  });

  it('COL-143 says nothing of it in its log, and writes no Event once what it saw is gone', async () => {
    const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
    await rig.create(secret, 'stray', { owners: [refTo(elsewhere)] });
    await rig.advance(60_000);
    await rig.delete(secret, 'stray');
    await rig.advance(2 * 3_600_000);
    lead();
    await rig.advance(60_000);
    expect(rig.recorder.all.filter(writesEvent)).toEqual([]);
    expect(rig.logger.lines.filter(({ level, fields }) => level === 'warn' && 'dependent' in fields)).toEqual([]);
  });

  it('COL-143 reports the existing references when its term begins, and no others, however many it saw before', async () => {
    const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
    const names = Array.from({ length: 1500 }, (_, i) => `stray-${i}`);
    for (const name of names) await rig.create(secret, name, { owners: [refTo(elsewhere)] });
    for (const name of names.slice(0, -10)) await rig.delete(secret, name);
    await rig.advance(3_600_000);
    const begin = rig.clock.now();
    lead();
    await rig.advance(60_000);
    const told = rig.recorder.all.filter(writesEvent).map(({ method, body }) => {
      const { involvedObject, firstTimestamp } = body as { involvedObject: { name: string }; firstTimestamp: string };
      return { method, name: involvedObject.name, sinceBegin: Date.parse(firstTimestamp) - begin };
    });
    expect(told).toEqual(names.slice(-10).map((name) => ({ method: 'POST', name, sinceBegin: 0 })));
  });

  it('forgets what another one has done meanwhile: its backlog does not grow', async () => {
    const leader = await rig.startCollector();
    for (let round = 0; round < 12; round++) {
      const owner = await rig.create(configMap, `owner-${round}`);
      for (let index = 0; index < 100; index++) {
        await rig.create(secret, `s-${round}-${index}`, { owners: [refTo(owner)] });
      }
      await rig.delete(configMap, `owner-${round}`);
      await rig.advance(30_000);
    }
    expect(await rig.names(secret)).toEqual([]);
    await leader.stop();
    const lengths = () => rig.metrics.value('workqueue_depth', { name: 'garbage_collector_attempt_to_delete' });
    expect(lengths()).toBeLessThan(1100);
    lead();
    await rig.advance(1000);
    expect(rig.recorder.writes.length).toBe(1200);
  });
});

describe('COL-190 the queue of a collector that does not lead', () => {
  const labels = { name: 'garbage_collector_attempt_to_delete' };
  const shown = (metric: string) => rig.metrics.value(`workqueue_${metric}`, labels) ?? 0;

  it.each(['before its first term', 'after a term'])('shows what waits, and nothing in work, %s', async (when) => {
    if (when === 'after a term') {
      const term = lead();
      await rig.advance(1000);
      term.stop.abort();
      await rig.wait(term.done);
    }
    const before = shown('depth');
    await family(30);
    await rig.delete(configMap, 'owner');
    await rig.advance(3 * 3_600_000);
    expect(shown('depth') - before).toBe(30);
    expect([shown('unfinished_work_seconds'), shown('longest_running_processor_seconds')]).toEqual([0, 0]);
    lead();
    await rig.advance(1000);
    expect(await rig.names(secret)).toEqual([]);
    expect(shown('depth')).toBe(0);
    // It was not worked on before.
    expect(rig.metrics.observations('workqueue_work_duration_seconds', labels).sum).toBeLessThan(60);
  });
});

describe('BETTER-23 taking over', () => {
  it('says that it collects when its term begins, also after it said that it stands by', async () => {
    const said = (): string[] =>
      rig.logger.lines.map(({ message }) => message).filter((message) => /collecting|standing by/.test(message));
    expect(said()).toEqual(['all monitors are synced, standing by']);
    lead();
    await rig.advance(1000);
    expect(said().slice(1)).toEqual(['collecting from now on']);
  });

  it.each(['Background', 'Foreground', 'Orphan'] as const)(
    'COL-216 finishes within a second what happened before, with nothing listed anew (%s)',
    async (policy) => {
      await family();
      await rig.delete(configMap, 'owner', policy);
      await rig.advance(5000);
      const listed = rig.recorder.intake.length;
      lead();
      await rig.advance(999);
      expect(await rig.get(configMap, 'owner')).toBeUndefined();
      const left = policy === 'Orphan' ? ['dependent-0', 'dependent-1', 'dependent-2'] : [];
      expect(await rig.names(secret)).toEqual(left);
      for (const name of left) expect(await rig.owners(secret, name)).toEqual([]);
      expect(rig.recorder.intake.length).toBe(listed);
    },
  );

  it('goes on with the second half of a cascade that the leader before did not finish', async () => {
    const leader = await rig.startCollector();
    await family(6);
    rig.faults.on({ method: 'DELETE', target: /dependent-[3-5]/ }, () => Promise.reject(new Error('gone')), 100);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.advance(100);
    await leader.stop();
    expect(await rig.names(secret)).toEqual(['dependent-3', 'dependent-4', 'dependent-5']);
    rig.faults.clear();
    lead();
    await rig.advance(999);
    expect(await rig.names(secret)).toEqual([]);
    expect(await rig.get(configMap, 'owner')).toBeUndefined();
  });

  it('waits for the first lists, as a collector does that leads from the start (COL-210)', async () => {
    rig.faults.on({ target: /\/api\/v1\/pods/ }, untilAborted);
    const late = await rig.startCollector({ workers: 'whenLeading' });
    const stop = new AbortController();
    const done = late.collector.lead(stop.signal);
    await family(1);
    await rig.delete(configMap, 'owner');
    await rig.advance(5000);
    expect(late.collector.started).toBe(false);
    expect(await rig.names(secret)).toEqual(['dependent-0']);
    await rig.advance(60_000);
    expect(late.collector.started).toBe(true);
    expect(await rig.names(secret)).toEqual([]);
    stop.abort();
    await rig.wait(done);
  });
});

describe('the end of a term', () => {
  it('stops at once, keeps what was not done, and goes on in the next term', async () => {
    const first = lead();
    await rig.settle();
    first.stop.abort();
    await rig.wait(first.done);
    await family();
    await rig.delete(configMap, 'owner');
    await rig.advance(60_000);
    expect(await rig.names(secret)).toHaveLength(3);
    lead();
    await rig.advance(999);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-143 an Event that was written is not written again in the next term, and one that was not is', async () => {
    const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
    const stray = { owners: [refTo(elsewhere)], finalizers: ['x.io/hold'] };
    await rig.create(secret, 'first', stray);
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const term = lead();
    await rig.advance(1000);
    rig.faults.on(
      { method: 'POST', target: /events/ },
      async (request, next) => {
        await held;
        return next(request);
      },
      1,
    );
    await rig.create(secret, 'second', stray);
    await rig.create(secret, 'third', stray);
    await rig.advance(1000);
    term.stop.abort();
    letGo();
    await rig.wait(term.done);
    await rig.create(secret, 'fourth', stray);
    await rig.advance(86_400_000);
    const told = (): string[] =>
      rig.recorder.all.filter(writesEvent).map(({ method, body }) => {
        const { involvedObject } = body as { involvedObject?: { name: string } };
        return `${method} ${involvedObject?.name}`;
      });
    expect(told()).toEqual(['POST first', 'POST second']);
    lead();
    await rig.advance(60_000);
    expect(told()).toEqual(['POST first', 'POST second', 'POST third', 'POST fourth']);
  });

  it('COL-215 lets the requests under way finish when it was asked to stop, and takes nothing new', async () => {
    await family();
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    rig.faults.on(
      { method: 'DELETE', target: /dependent-0/ },
      async (request, next) => {
        await held;
        return next(request);
      },
      1,
    );
    const term = lead();
    await rig.delete(configMap, 'owner');
    await rig.advance(100);
    term.stop.abort();
    let over = false;
    void term.done.then(() => (over = true));
    await rig.advance(5000);
    expect(over).toBe(false);
    letGo();
    await rig.wait(term.done);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-214 cuts the requests under way when the lease was lost', async () => {
    await family(1);
    rig.faults.on({ method: 'DELETE', target: /dependent-0/ }, untilAborted, 1);
    const term = lead();
    await rig.delete(configMap, 'owner');
    await rig.advance(100);
    const before = rig.clock.monotonic();
    term.stop.abort(new LeaseLostError('test'));
    await rig.wait(term.done);
    expect(rig.clock.monotonic()).toBe(before);
    expect(await rig.names(secret)).toEqual(['dependent-0']);
  });

  it('ends with the collector, with keys still waiting', async () => {
    await family();
    await rig.delete(configMap, 'owner');
    await rig.advance(100);
    await standby.stop();
    expect(await rig.names(secret)).toHaveLength(3);
  });
});

it('explains for an object in both queues why each of them has it', async () => {
  const owner = await rig.create(configMap, 'owner');
  await rig.create(configMap, 'both', { owners: [refTo(owner, { block: true })] });
  await rig.delete(configMap, 'both', 'Orphan');
  await rig.delete(configMap, 'owner', 'Foreground');
  await rig.advance(1000);
  lead();
  await rig.advance(1000);
  const told = decisions
    .filter(({ identity }) => identity?.name === 'both')
    .map(({ queuedFor, reason }) => `${queuedFor}: ${reason}`);
  expect(told).toContain('ownerStartsWaiting: alreadyTerminating');
  expect(told).toContain('startsOrphaning: dependentsReleased');
});

it('explains every decision with its object, the planned action, and the reason', async () => {
  lead();
  const owner = await rig.create(configMap, 'owner');
  await rig.create(pod, 'dependent', { owners: [refTo(owner)] });
  await rig.delete(configMap, 'owner');
  await rig.advance(1000);
  expect(decisions).toContainEqual({
    uid: expect.any(String),
    identity: expect.objectContaining({ kind: 'Pod', name: 'dependent', namespace: 'default' }),
    queuedFor: 'ownerGone',
    verdict: 'forget',
    reason: 'ownersAbsent',
    actions: [expect.objectContaining({ action: 'delete', policy: 'Background' })],
    decided: 'ownersAbsent',
    results: [{ action: expect.objectContaining({ action: 'delete' }), answered: 'deleteAccepted' }],
  });
});
