import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../src/base/http-message.ts';
import { DEBUG_BASES } from '../../src/collector/observation/debug-handler.ts';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** The collector's reports about itself: logs, metrics, the debug graph. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  const { collector } = await rig.startCollector();
  for (const base of DEBUG_BASES) rig.server.mount(base, collector.debugHandler);
});
afterEach(() => rig.stop());

const get = (target: string, method = 'GET'): Promise<HttpResponse> =>
  rig.wait(rig.server.handler({ method, target, headers: {} }));
const textOf = ({ body }: HttpResponse) => Buffer.from(body as Uint8Array).toString();

describe('the debug graph', () => {
  it.each(DEBUG_BASES)('COL-180 COL-183 is served below %s, beside a list of the pages', async (base) => {
    const { status, headers } = await get(`${base}/graph`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'text/vnd.graphviz', 'x-content-type-options': 'nosniff' });
    // The root lists the pages, so that nobody has to guess.
    expect(textOf(await get(`${base}/`))).toMatch(/^GET \S+\/graph {2}the ownership graph/);
    for (const target of [base, `${base}/graph/`, `${base}/other`]) {
      const answer = await get(target);
      expect([answer.status, textOf(answer)]).toEqual([404, '']);
    }
  });

  it('COL-182 COL-184 COL-185 COL-186 COL-187 shows who is owned by whom, byte by byte', async () => {
    const graph = `${DEBUG_BASES[0]}/graph`;
    expect(textOf(await get(graph))).toBe('strict digraph full {\n}\n');
    await rig.create(configMap, 'alone');
    const owner = await rig.create(configMap, 'owner');
    const dependent = await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const [a, b] = [owner.metadata?.uid ?? '', dependent.metadata?.uid ?? ''];
    const node = (uid: string, kind: string, name: string) => `  "${uid}" [
    label="uid=${uid}\\nnamespace=default\\n${kind}.v1/${name}\\n"
    group=""
    version="v1"
    kind="${kind}"
    namespace="default"
    name="${name}"
    uid="${uid}"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
`;
    const nodes = [node(a, 'ConfigMap', 'owner'), node(b, 'Secret', 'd')];
    if (b < a) nodes.reverse();
    expect(textOf(await get(graph))).toBe(
      `strict digraph full {\n  // Node definitions.\n${nodes.join('')}  // Edge definitions.\n  "${b}" -> "${a}";\n}\n`,
    );
  });

  it('COL-181 can be asked for what hangs together with some uids', async () => {
    const uids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const owner = await rig.create(configMap, name);
      await rig.create(secret, name, { owners: [refTo(owner)] });
      uids.push(owner.metadata?.uid ?? '');
    }
    const graph = `${DEBUG_BASES[0]}/graph`;
    const edges = async (query: string) => (textOf(await get(`${graph}${query}`)).match(/->/g) ?? []).length;
    expect(await edges('')).toBe(3);
    expect(await edges(`?uid=${uids[0]}`)).toBe(1);
    expect(await edges(`?uid=${uids[0]}&uid=${uids[1]}`)).toBe(2);
    expect(await edges('?uid=nobody')).toBe(0);
  });
});

describe('metrics', () => {
  it('COL-190 COL-080 have the names, labels and help of Kubernetes', async () => {
    const names = [
      'garbagecollector_controller_resources_sync_error_total',
      'workqueue_depth',
      'workqueue_adds_total',
      'workqueue_queue_duration_seconds',
      'workqueue_work_duration_seconds',
      'workqueue_unfinished_work_seconds',
      'workqueue_longest_running_processor_seconds',
      'workqueue_retries_total',
    ];
    expect(rig.metrics.names).toEqual(expect.arrayContaining(names));
    expect(rig.metrics.definition(names[0] ?? '')?.help).toBe(
      '[ALPHA] Number of garbage collector resources sync errors',
    );
    for (const name of ['graph_changes', 'attempt_to_delete', 'attempt_to_orphan']) {
      const labels = { name: `garbage_collector_${name}` };
      expect(rig.metrics.value('workqueue_depth', labels)).toBe(0);
      for (const counter of ['workqueue_adds_total', 'workqueue_retries_total']) {
        expect(rig.metrics.value(counter, labels)).toEqual(expect.any(Number));
      }
    }
  });

  it('COL-190 COL-191 BETTER-21 count what happened', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(secret, 'd', { owners: [refTo(a)] });
    await rig.create(secret, 'e', { owners: [refTo(a), refTo(b)] });
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, refuse(500, 'InternalError'), 1);
    await rig.delete(configMap, 'a');
    await rig.delete(configMap, 'b', 'Orphan');
    await rig.rest();
    const { metrics } = rig;
    const queue = { name: 'garbage_collector_attempt_to_delete' };
    expect(metrics.value('workqueue_retries_total', queue)).toBe(1);
    expect(metrics.value('workqueue_adds_total', queue)).toBeGreaterThanOrEqual(3);
    expect(metrics.observations('workqueue_work_duration_seconds', queue).count).toBeGreaterThanOrEqual(3);
    expect(metrics.value('kubegc_collector_deletions_total', { resource: 'secrets', policy: 'Background' })).toBe(1);
    expect(metrics.value('kubegc_collector_patches_total', { resource: 'secrets', change: 'removeReferences' })).toBe(
      2,
    );
    expect(metrics.value('kubegc_collector_patches_total', { resource: 'configmaps', change: 'orphan' })).toBe(1);
    expect(metrics.value('kubegc_collector_graph_nodes', { state: 'virtual' })).toBe(0);
    expect(metrics.value('kubegc_collector_decisions_total', { verdict: 'forget', reason: 'ownersAbsent' })).toBe(1);
    expect(metrics.value('kubegc_collector_queued_total', { reason: 'ownerGone' })).toBe(2);
    expect(metrics.value('kubegc_collector_orphan_barriers_total', { outcome: 'clear' })).toBe(1);
  });

  it('COL-191 BETTER-21 show what cannot be watched', async () => {
    rig.serve(widget);
    rig.faults.on({ target: /widgets\?/ }, refuse(403, 'Forbidden'));
    await rig.advance(40_000);
    expect(rig.metrics.value('kubegc_collector_unsynced_monitors')).toBe(1);
    expect(rig.metrics.value('kubegc_collector_failing_monitors')).toBe(1);
    rig.faults.clear();
    await rig.advance(60_000);
    expect(rig.metrics.value('kubegc_collector_unsynced_monitors')).toBe(0);
    expect(rig.metrics.value('kubegc_collector_failing_monitors')).toBe(0);
  });

  it('COL-191 BETTER-21 show what is stuck', async () => {
    await rig.create(secret, 'd', { owners: [refToNothing(widget, 'x')] });
    const a = await rig.create(configMap, 'a');
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    const { metadata: terminating } = await rig.delete(configMap, 'a', 'Foreground');
    await rig.advance(100_000);
    const { metrics } = rig;
    expect(metrics.value('kubegc_collector_graph_nodes', { state: 'virtual' })).toBe(1);
    expect(metrics.value('kubegc_collector_waiting_owners')).toBe(1);
    expect(metrics.value('kubegc_collector_delayed_keys', { name: 'garbage_collector_attempt_to_delete' })).toBe(1);
    expect(metrics.value('kubegc_collector_long_delayed_keys', { name: 'garbage_collector_attempt_to_delete' })).toBe(
      1,
    );
    expect(metrics.value('kubegc_collector_long_delayed_keys', { name: 'garbage_collector_attempt_to_orphan' })).toBe(
      0,
    );
    expect(metrics.value('kubegc_collector_unknown_kinds')).toBe(1);
    expect(metrics.value('kubegc_collector_unresolvable_references')).toBe(1);
    // By its deletionTimestamp, and not by the first scrape.
    const age = (rig.clock.now() - Date.parse(terminating?.deletionTimestamp ?? '')) / 1000;
    expect(metrics.value('kubegc_collector_oldest_waiting_owner_seconds')).toBe(age);
    await rig.advance(50_000);
    expect(metrics.value('kubegc_collector_failing_monitors')).toBe(0);
    expect(metrics.value('kubegc_collector_unsynced_monitors')).toBe(0);
  });
});
