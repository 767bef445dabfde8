import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';
import { WatchedKinds } from '../trust/watched-kinds.ts';
import { Monitors, type StartMonitor } from './monitors.ts';
import { waitForSync } from './wait-for-sync.ts';

const offered = (resource: string, version = 'v1', more: Partial<OfferedResource> = {}): OfferedResource => ({
  group: '',
  version,
  resource,
  kind: resource,
  namespaced: true,
  verbs: [],
  ...more,
});

const unsuspected = { suspected: false, suspect: () => undefined, reopen: () => undefined };

function setUp({ refuse = () => false }: { readonly refuse?: (resource: string) => boolean } = {}) {
  const log: string[] = [];
  const asked = { count: 0 };
  const absent = new Set<string>();
  const running = new Map<string, { sync(): void; fail(): void; recover(): void }>();
  const kinds = new WatchedKinds(() => monitors.all());
  const start: StartMonitor = ({ resource, version, kind }, tell) => {
    const name = `${resource}/${version}`;
    if (refuse(resource)) throw new Error(`no watcher for ${resource}`);
    log.push(`start ${name}`);
    const state: { synced: boolean; trouble: Error | undefined } = { synced: false, trouble: undefined };
    running.set(name, {
      sync: () => {
        state.synced = true;
        tell({ type: 'synced' });
      },
      fail: () => {
        state.trouble = new Error('no');
        tell({ type: 'troubleChanged' });
      },
      recover: () => {
        state.trouble = undefined;
        tell({ type: 'troubleChanged' });
      },
    });
    return {
      resource: { apiVersion: version, kind, resource },
      version: Number.NaN,
      get synced() {
        asked.count++;
        return state.synced;
      },
      get trouble() {
        return state.trouble;
      },
      get absent() {
        return absent.has(resource);
      },
      wake: (pauses) => {
        log.push(`wake ${name} ${pauses}`);
      },
      ...unsuspected,
      stop: async () => {
        log.push(`stop ${name}`);
        await Promise.resolve();
        log.push(`stopped ${name}`);
      },
    };
  };
  const monitors: Monitors = new Monitors(start, undefined, () => kinds.changed());
  return { monitors, kinds, log, running, asked, absent };
}
const none: ReadonlySet<string> = new Set();
const unchanged = { added: 0, restarted: 0, removed: [], failed: [] };

describe('Monitors', () => {
  it('COL-111 hands the newest version on to a monitor that repeats a list, and not where the history is another', async () => {
    const handedOn: number[] = [];
    const monitors = new Monitors(
      ({ resource, version, kind }, _tell, newest) => {
        handedOn.push(newest);
        return {
          resource: { apiVersion: version, kind, resource },
          version: 7,
          synced: true,
          trouble: undefined,
          absent: false,
          wake: () => undefined,
          ...unsuspected,
          stop: () => Promise.resolve(),
        };
      },
      () => () => undefined,
    );
    await monitors.sync([offered('a')], none);
    await monitors.restart(() => true, 'sameHistory');
    await monitors.restart();
    expect(handedOn).toEqual([Number.NaN, 7, Number.NaN]);
  });

  it('COL-021 starts what is new and stops what is gone; waits until that has ended', async () => {
    const { monitors, log } = setUp();
    expect(await monitors.sync([offered('a'), offered('b')], none)).toEqual({ ...unchanged, added: 2 });
    const { added, removed } = await monitors.sync([offered('b'), offered('c')], none);
    expect([added, removed.map(({ resource }) => resource.resource)]).toEqual([1, ['a']]);
    expect(log).toEqual(['start a/v1', 'start b/v1', 'start c/v1', 'stop a/v1', 'stopped a/v1']);
    expect(monitors.of(offered('b'))?.resource.apiVersion).toBe('v1');
    expect([monitors.of(offered('b', 'v2')), monitors.of(offered('a'))]).toEqual([undefined, undefined]);
  });

  it('COL-022 COL-023 BETTER-1 starts every one that can be started; the others are reported together, and tried again', async () => {
    let broken = true;
    const { monitors, log } = setUp({ refuse: (resource) => broken && resource !== 'b' });
    const wanted = [offered('a'), offered('b'), offered('c')];
    const first = await monitors.sync(wanted, none);
    expect(log).toEqual(['start b/v1']);
    expect([first.added, first.failed.map(({ resource, error }) => [resource.resource, error.message])]).toEqual([
      1,
      [
        ['a', 'no watcher for a'],
        ['c', 'no watcher for c'],
      ],
    ]);
    broken = false;
    expect(await monitors.sync(wanted, none)).toEqual({ ...unchanged, added: 2 });
    expect([log, monitors.size]).toEqual([['start b/v1', 'start a/v1', 'start c/v1'], 3]);
  });

  it('BETTER-1 one that cannot be started anew is left out, and comes back with the next pass', async () => {
    let broken = false;
    const { monitors, log } = setUp({ refuse: (resource) => broken && resource === 'a' });
    await monitors.sync([offered('a'), offered('b')], none);
    broken = true;
    expect((await monitors.restart()).map(({ resource }) => resource.resource)).toEqual(['a']);
    expect(monitors.size).toBe(1);
    broken = false;
    await monitors.sync([offered('a'), offered('b')], none);
    expect([monitors.size, log.at(-1)]).toEqual([2, 'start a/v1']);
  });

  it('COL-025 is synced when there is one and all are; the graph answers while none has failed', async () => {
    const { monitors, kinds, running } = setUp();
    expect([monitors.synced, kinds.answers]).toEqual([false, false]);
    await monitors.sync([offered('a'), offered('b')], none);
    running.get('a/v1')?.sync();
    expect([monitors.synced, monitors.unsynced.map(({ resource }) => resource)]).toEqual([false, ['b']]);
    running.get('b/v1')?.sync();
    expect([monitors.synced, kinds.answers, monitors.failing]).toEqual([true, true, 0]);
    running.get('b/v1')?.fail();
    expect([monitors.synced, kinds.answers, monitors.failing]).toEqual([true, false, 1]);
    await monitors.sync([offered('a'), offered('b'), offered('c')], none);
    expect(monitors.synced).toBe(false);
  });

  it('BETTER-9 knows whether they are current without asking each for each decision, and at once when one is not', async () => {
    const { monitors, kinds, running, asked } = setUp();
    await monitors.sync([offered('a'), offered('b')], none);
    running.get('a/v1')?.sync();
    running.get('b/v1')?.sync();
    expect(kinds.answers).toBe(true);
    asked.count = 0;
    for (let decision = 0; decision < 100; decision++) expect(kinds.answers).toBe(true);
    expect(asked.count).toBe(0);
    running.get('a/v1')?.fail();
    expect(kinds.answers).toBe(false);
    running.get('a/v1')?.recover();
    expect(kinds.answers).toBe(true);
    await monitors.sync([offered('b'), offered('c')], none);
    expect(kinds.answers).toBe(false);
    running.get('c/v1')?.sync();
    expect(kinds.answers).toBe(true);
    await monitors.restart(({ resource }) => resource === 'b');
    expect(kinds.answers).toBe(false);
    running.get('b/v1')?.sync();
    expect(kinds.answers).toBe(true);
    await monitors.stop();
    expect(kinds.answers).toBe(false);
  });

  it('starts all anew: the old ones are stopped before', async () => {
    const { monitors, log, running } = setUp();
    await monitors.sync([offered('a')], none);
    running.get('a/v1')?.sync();
    await monitors.restart();
    expect(log.slice(1)).toEqual(['stop a/v1', 'start a/v1', 'stopped a/v1']);
    expect([monitors.size, monitors.synced]).toEqual([1, false]);
  });

  it('COL-019 COL-05A what another version showed last is listed anew when that one is stopped, and waited for', async () => {
    const { monitors, log, running } = setUp();
    const failed = new Set(['v1']);
    await monitors.sync([offered('a'), offered('b')], none);
    for (const name of ['a/v1', 'b/v1']) running.get(name)?.sync();
    // It is enough that one of them works.
    expect(await monitors.sync([offered('b'), offered('a', 'v2')], failed)).toEqual(unchanged);
    running.get('a/v1')?.fail();
    expect(await monitors.sync([offered('b'), offered('a', 'v2')], failed)).toEqual({ ...unchanged, added: 1 });
    running.get('a/v2')?.sync();
    running.get('a/v1')?.recover();
    log.length = 0;
    const { added, restarted, removed } = await monitors.sync([offered('a'), offered('b')], none);
    expect([added, restarted, removed.map(({ resource }) => resource.apiVersion)]).toEqual([0, 1, ['v2']]);
    expect(log.slice(0, 3)).toEqual(['stop a/v1', 'start a/v1', 'stop a/v2']);
    expect(monitors.heirsOf(offered('a', 'v2')).map(({ synced }) => synced)).toEqual([false]);
    // The resource was synced once: it stays even if its group version fails before its list is complete.
    expect(await monitors.sync([offered('b')], failed)).toEqual(unchanged);
    running.get('a/v1')?.sync();
    expect(monitors.heirsOf(offered('a', 'v2')).map(({ synced }) => synced)).toEqual([true]);
  });

  it('COL-015 what the same kind of another group showed last is listed anew, and waited for if it was known', async () => {
    const { monitors, log, running } = setUp();
    const core = offered('events');
    const events = offered('events', 'v1', { group: 'events.k8s.io' });
    const others = [offered('events', 'v2', { group: 'x.io', kind: 'Other' }), offered('pods')];
    await monitors.sync([core, events, ...others], none);
    running.get('events/v1')?.sync();
    log.length = 0;
    expect(await monitors.sync([core, ...others], none)).toMatchObject({ added: 0, restarted: 1 });
    expect(log.filter((line) => line.startsWith('start'))).toEqual(['start events/v1']);
    // It is unknown whether the objects are the same. A monitor that never showed any object is not waited for: it may never show one.
    expect(monitors.heirsOf(events)).toEqual([]);
    running.get('events/v1')?.sync();
    expect(monitors.heirsOf(events).map(({ synced }) => synced)).toEqual([true]);
    await monitors.restart();
    expect(monitors.heirsOf(events).map(({ synced }) => synced)).toEqual([false]);
  });

  it('COL-021 COL-029 has what discovery says now of those that stay; one of another scope is listed anew', async () => {
    const { monitors, log, running } = setUp();
    await monitors.sync([offered('a'), offered('b')], none);
    running.get('a/v1')?.sync();
    log.length = 0;
    const b = offered('b', 'v1', { verbs: ['list'] });
    expect(await monitors.sync([offered('a'), b], none)).toEqual(unchanged);
    expect([monitors.resources, log]).toEqual([[offered('a'), b], []]);
    const a = offered('a', 'v1', { namespaced: false });
    expect(await monitors.sync([a, b], none)).toEqual({ ...unchanged, restarted: 1 });
    expect([monitors.resources, log]).toEqual([
      [a, b],
      ['stop a/v1', 'start a/v1', 'stopped a/v1'],
    ]);
  });

  it('BETTER-3 COL-048 wakes those that are offered and got a 404 before, and no others', async () => {
    const { monitors, log, absent } = setUp();
    await monitors.sync([offered('a'), offered('b'), offered('c'), offered('d', 'v2')], none);
    for (const resource of ['b', 'c', 'd', 'e']) absent.add(resource);
    log.length = 0;
    expect(monitors.wake([offered('a'), offered('b'), offered('d'), offered('e')], 'asBefore')).toBe(1);
    expect(monitors.wake([offered('c'), offered('b')], 'anew')).toBe(2);
    expect(log).toEqual(['wake b/v1 asBefore', 'wake c/v1 anew', 'wake b/v1 anew']);
  });

  it('COL-215 stops all', async () => {
    const { monitors, log } = setUp();
    await monitors.sync([offered('a'), offered('b')], none);
    await monitors.stop();
    expect([log.slice(-2), monitors.size]).toEqual([['stopped a/v1', 'stopped b/v1'], 0]);
  });
});

describe('waitForSync', () => {
  it.each([
    { what: 'all are synced', end: 'sync' },
    { what: 'the time is over', end: 'time' },
    { what: 'the last unsynced one is gone', end: 'gone' },
    { what: 'it is aborted', end: 'abort' },
  ])('COL-210 ends when $what, and leaves nothing behind', async ({ end }) => {
    const { monitors, running } = setUp();
    const clock = new FakeClock();
    const stop = new AbortController();
    await monitors.sync([offered('a'), offered('b')], none);
    let ended = false;
    const waiting = waitForSync(monitors, { clock, timeoutMs: 30_000, signal: stop.signal }).then(() => {
      ended = true;
    });
    running.get('a/v1')?.sync();
    await clock.advanceAsync(29_999);
    expect(ended).toBe(false);
    if (end === 'sync') running.get('b/v1')?.sync();
    if (end === 'gone') await monitors.sync([offered('a')], none);
    if (end === 'time') clock.advance(1);
    if (end === 'abort') stop.abort();
    await clock.advanceAsync(0);
    expect(ended).toBe(true);
    await waiting;
    expect(clock.pendingTimers).toBe(0);
  });

  it('COL-210 ends at once when there is nothing to wait for', async () => {
    const { monitors, running } = setUp();
    const clock = new FakeClock();
    await monitors.sync([offered('a')], none);
    running.get('a/v1')?.sync();
    await waitForSync(monitors, { clock, timeoutMs: 30_000, signal: new AbortController().signal });
    await waitForSync(setUp().monitors, { clock, timeoutMs: 30_000, signal: AbortSignal.abort() });
    expect(clock.pendingTimers).toBe(0);
  });
});
