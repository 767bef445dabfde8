import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { goBackInTime } from './back-in-time.ts';
import { answerWith, type Fault, pathNotFound, refuse, resetBefore, silence } from './faults.ts';
import { configMap, deployment, refTo, refToNothing, secret, type TestKind, usualKinds, widget } from './kinds.ts';
import { holdIntake } from './hold.ts';
import { Rig } from './rig.ts';

/** Section 1: what is watched, and what becomes of it when the server changes or fails. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const SYNC_ERRORS = 'garbagecollector_controller_resources_sync_error_total';
const syncErrors = () => rig.metrics.value(SYNC_ERRORS) ?? 0;
const widgets = /\/apis\/example.com\/v1\/widgets\?/;
const watched = () => new Set(rig.recorder.intake.map(({ path }) => path));

describe('discovery', () => {
  it('COL-016 is read at once, and then every 30 s', async () => {
    await rig.startCollector();
    const reads = () => rig.recorder.discoveries.filter(({ path }) => path === '/apis').length;
    expect(reads()).toBe(1);
    await rig.advance(29_999);
    expect(reads()).toBe(1);
    await rig.advance(60_001);
    expect(reads()).toBe(4);
  });

  it('COL-010 COL-011 COL-014 LIFE-508 watches each preferred resource once, no subresource, no events', async () => {
    await rig.stop();
    rig = await Rig.start({ serve: 'all' });
    await rig.startCollector();
    const paths = [...watched()];
    const paged = rig.recorder.intake.filter(
      ({ path, query }) => path.endsWith('/apiservices') && query.watch === undefined,
    );
    expect(paged.length, 'the groups that kube-apiserver stores itself are read beside discovery').toBe(1);
    expect(rig.recorder.intake.length).toBe(paths.length + paged.length);
    expect(paths.length).toBeGreaterThan(40);
    expect(paths).toContain('/apis/autoscaling/v2/horizontalpodautoscalers');
    expect(paths.filter((path) => /autoscaling\/v1|events|pods\/|scale$|status$/.test(path))).toEqual([]);
    expect(syncErrors()).toBe(0);
  });

  it.each([
    { what: 'a reset', fault: resetBefore },
    { what: '503', fault: refuse(503, 'ServiceUnavailable') },
    { what: 'a page that is no JSON', fault: answerWith(200, 'welcome') },
    { what: 'nothing at all', fault: answerWith(200, { kind: 'APIGroupDiscoveryList', items: [] }) },
  ])('COL-018 $what at first: it is read again soon, and work begins as soon as it succeeds', async ({ fault }) => {
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
    rig.faults.on({ target: /^\/apis?$/ }, fault);
    await rig.startCollector();
    await rig.advance(3000);
    expect(syncErrors()).toBeGreaterThan(1);
    expect(rig.recorder.intake).toEqual([]);
    rig.faults.clear();
    expect(await rig.rest()).toBeLessThan(8000);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-018 a failure later changes nothing that runs', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const before = watched().size;
    rig.faults.on({ target: /^\/apis?$/ }, refuse(500, 'InternalError'));
    await rig.advance(100_000);
    expect(syncErrors()).toBeGreaterThan(0);
    expect([watched().size, rig.recorder.intake.length]).toEqual([before, before]);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-018 failures are not hammered: at most a period apart, and rarer and rarer', async () => {
    rig.faults.on({ target: /^\/apis?$/ }, refuse(500, 'InternalError'));
    await rig.startCollector();
    await rig.advance(600_000);
    expect(syncErrors()).toBeGreaterThan(600 / 36);
    expect(syncErrors()).toBeLessThan(600 / 30 + 12);
  });
});

describe('resources that come and go', () => {
  it('COL-021 COL-030 a new one is watched after a period; the others are not restarted', async () => {
    await rig.startCollector();
    const before = rig.recorder.intake.length;
    rig.serve(widget);
    await rig.create(widget, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.advance(30_000);
    await rig.rest();
    expect(rig.recorder.intake.slice(before).map(({ path }) => path)).toEqual(['/apis/example.com/v1/widgets']);
    expect(await rig.names(widget)).toEqual([]);
  });

  it('API-396 COL-020 one that is unchanged is not sent again and leaves the monitors alone; a change is seen', async () => {
    const statuses: number[] = [];
    rig.weather = async (request, next) => {
      const response = await next(request);
      if (/^\/apis?$/.test(request.target)) statuses.push(response.status);
      return response;
    };
    await rig.startCollector();
    const before = rig.recorder.intake.length;
    await rig.advance(90_000);
    expect(statuses).toEqual([200, 200, 304, 304, 304, 304, 304, 304]);
    expect(rig.recorder.intake.length).toBe(before);
    statuses.length = 0;
    rig.serve(widget);
    await rig.advance(60_000);
    expect(statuses.toSorted()).toEqual([200, 304, 304, 304]);
    expect(rig.recorder.intake.slice(before).map(({ path }) => path)).toEqual(['/apis/example.com/v1/widgets']);
  });

  it('API-396 COL-022 a pass with monitors that could not be started is not the last about an unchanged one', async () => {
    const withoutKind = { resource: 'odd', responseKind: { kind: '' }, scope: 'Namespaced', verbs: ['list', 'watch'] };
    const versions = [{ version: 'v1', resources: [withoutKind] }];
    const items = [{ metadata: { name: 'odd.example.com' }, versions }];
    const document = JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items });
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    rig.weather = async (request, next) => {
      if (request.target !== '/apis') return next(request);
      if (request.headers['if-none-match'] === '"odd"') return { status: 304, headers: {}, body: new Uint8Array() };
      return { status: 200, headers: { 'content-type': type, etag: '"odd"' }, body: Buffer.from(document) };
    };
    await rig.startCollector();
    expect(syncErrors()).toBe(1);
    await rig.advance(60_000);
    expect(syncErrors()).toBe(3);
  });

  it('COL-029 a kind that is not known has discovery read again at once, but not again and again', async () => {
    await rig.startCollector();
    await rig.advance(6000);
    rig.serve(widget);
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const reads = rig.recorder.discoveries.length;
    await rig.rest();
    await rig.delete(widget, 'owner');
    expect(await rig.rest()).toBeLessThan(2000);
    expect(await rig.names(secret)).toEqual([]);
    expect(rig.recorder.discoveries.length).toBe(reads + 2);

    await rig.create(secret, 'e', { owners: [refToNothing(widget, 'x', { apiVersion: 'nowhere.io/v1' })] });
    await rig.advance(29_000);
    expect(rig.recorder.discoveries.length).toBe(reads + 4);
  });

  it('COL-027 BETTER-2 what was known of one that vanished is asked for again, and never taken for gone', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.unserve(widget);
    await rig.advance(200_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
    rig.serve(widget);
    await rig.advance(31_000);
    await rig.rest(70_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(widget, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('BETTER-2 COL-097 dependents that can not be seen any more do not hold their owner', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(widget, 'd', { owners: [refTo(owner, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['owner']);
    rig.unserve(widget);
    await rig.advance(31_000);
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-028 one event a change, however often it went and came back', async () => {
    rig.serve(widget);
    await rig.startCollector();
    for (let round = 0; round < 5; round++) {
      rig.unserve(widget);
      await rig.advance(31_000);
      rig.serve(widget);
      await rig.advance(31_000);
    }
    const changes = () => rig.metrics.value('workqueue_adds_total', { name: 'garbage_collector_graph_changes' }) ?? 0;
    const before = changes();
    await rig.create(widget, 'one');
    expect(changes()).toBe(before + 1);
    expect(rig.recorder.intake.filter(({ path }) => path.endsWith('/widgets'))).toHaveLength(6);
  });

  it('COL-05A COL-010 BETTER-2 another preferred version: the objects stay known, nothing is asked about them', async () => {
    rig.serve(widget, 'v1beta1');
    await rig.startCollector();
    const beta = { ...widget, gvr: { ...widget.gvr, version: 'v1beta1' } };
    const owner = await rig.create(beta, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.unserve(beta);
    rig.serve(widget);
    rig.recorder.clear();
    // The list of the new version takes a while: nothing may be taken for unknown meanwhile.
    const listed = holdIntake(rig, widgets);
    await rig.advance(31_000);
    expect(watched()).toEqual(new Set(['/apis/example.com/v1/widgets']));
    expect(rig.recorder.lines).toEqual([]);
    listed();
    await rig.rest();
    expect(rig.recorder.lines).toEqual([]);
    const graph = await rig.graph();
    expect(graph).toContain('Widget.v1.example.com/owner\\n"');
    expect(graph).toContain(' -> ');
    expect(graph).not.toContain('virtual="true"');
  });

  it('COL-045 a resource that comes back as another kind is recorded as that', async () => {
    rig.serve(widget);
    await rig.startCollector();
    await rig.create(widget, 'a');
    rig.unserve(widget);
    const gadget = { ...widget, kind: 'Gadget' };
    rig.serve(gadget);
    await rig.advance(31_000);
    const owner = await rig.create(gadget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    expect(rig.recorder.lines).toEqual([]);
    await rig.delete(gadget, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('group versions that can not be read', () => {
  /** Discovery without the aggregated form, where each group version is a document of its own. */
  function legacy(): void {
    rig.faults.on({ target: /^\/apis?$/ }, (request, next) =>
      next({ ...request, headers: { ...request.headers, accept: 'application/json' } }),
    );
  }

  it('COL-019 their synced resources stay watched and known, new ones of others are added', async () => {
    legacy();
    await rig.startCollector();
    const owner = await rig.create(deployment, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ target: /^\/apis\/apps\/v1$/ }, refuse(503, 'ServiceUnavailable'));
    rig.serve(widget);
    await rig.advance(61_000);
    expect(watched()).toContain('/apis/example.com/v1/widgets');
    await rig.create(secret, 'e', { owners: [refToNothing(deployment, 'never')] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(deployment, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect(rig.recorder.intake.filter(({ path }) => path.endsWith('/deployments'))).toHaveLength(1);
  });

  it('COL-019 their resources that were never synced are dropped, and come back with the group', async () => {
    legacy();
    rig.serve(widget);
    rig.faults.on({ target: widgets }, refuse(403, 'Forbidden'));
    await rig.startCollector();
    rig.faults.on({ target: /^\/apis\/example.com\/v1$/ }, refuse(503, 'ServiceUnavailable'));
    await rig.advance(31_000);
    const tries = () => rig.recorder.intake.filter(({ path }) => path.endsWith('/widgets')).length;
    const before = tries();
    await rig.advance(60_000);
    expect(tries()).toBe(before);
    rig.faults.clear();
    await rig.advance(31_000);
    expect(tries()).toBe(before + 1);
    await rig.rest();
  });
});

describe('with a long period', () => {
  const HOUR = 3_600_000;
  const reads = () => rig.recorder.discoveries.filter(({ path }) => path === '/apis').length;

  it('COL-016 discovery is read once in it if everything could be read', async () => {
    await rig.startCollector({ syncPeriodMs: HOUR });
    await rig.advance(HOUR - 1);
    expect(reads()).toBe(1);
    await rig.advance(1);
    expect(reads()).toBe(2);
  });

  it.each([
    ['a group version', /^\/apis\/example.com\/v1$/],
    ['the APIServices', /\/apiservices\?limit/],
  ])('COL-019 it is read again after half a minute while %s can not be read', async (_, target) => {
    await rig.stop();
    rig = await Rig.start({ serve: 'all' });
    rig.serve(widget);
    rig.faults.on({ target: /^\/apis?$/ }, (request, next) =>
      next({ ...request, headers: { ...request.headers, accept: 'application/json' } }),
    );
    rig.faults.on({ target }, refuse(503, 'ServiceUnavailable'));
    await rig.startCollector({ syncPeriodMs: HOUR });
    await rig.advance(60_000);
    const before = reads();
    expect(before).toBeGreaterThan(1);
    rig.faults.clear();
    await rig.advance(31_000);
    expect(watched()).toContain('/apis/example.com/v1/widgets');
    await rig.advance(HOUR / 2);
    expect(reads()).toBe(before + 1);
  });
});

describe('a version that can not be read while another one can', () => {
  const autoscaler: TestKind = {
    kind: 'HorizontalPodAutoscaler',
    gvr: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
    namespaced: true,
    body: { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 2 } },
  };
  const document = /^\/apis\/autoscaling\/v2$/;
  const intake = (version: string) =>
    rig.recorder.intake.filter(({ path }) => path === `/apis/autoscaling/${version}/horizontalpodautoscalers`).length;

  beforeEach(async () => {
    await rig.stop();
    rig = await Rig.start({ serve: [...usualKinds, autoscaler] });
  });

  const forms: readonly { readonly form: string; readonly fail: () => void }[] = [
    {
      form: 'its document is refused',
      fail: () => {
        rig.faults.on({ target: /^\/apis?$/ }, (request, next) =>
          next({ ...request, headers: { ...request.headers, accept: 'application/json' } }),
        );
        rig.faults.on({ target: document }, refuse(503, 'ServiceUnavailable'));
      },
    },
    {
      form: 'it is stale in the one document',
      fail: () => {
        rig.faults.on({ target: /^\/apis$/ }, async (request, next) => {
          const response = await next(request);
          const groups = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as {
            items: { metadata: { name: string }; versions: { version: string; freshness?: string }[] }[];
          };
          const group = groups.items.find(({ metadata }) => metadata.name === 'autoscaling');
          for (const each of group?.versions ?? []) if (each.version === 'v2') each.freshness = 'Stale';
          return { ...response, body: Buffer.from(JSON.stringify(groups)) };
        });
      },
    },
  ];

  it.each(forms)(
    'COL-019 COL-05A for one pass, $form: its objects stay known, and go with their owner',
    async ({ fail }) => {
      await rig.startCollector();
      const owner = await rig.create(configMap, 'owner');
      const dependent = await rig.create(autoscaler, 'h', { owners: [refTo(owner)] });
      await rig.create(secret, 'd', { owners: [refTo(dependent)] });
      await rig.create(autoscaler, 'g', { owners: [refTo(owner)] });
      await rig.rest();
      fail();
      await rig.advance(31_000);
      rig.faults.clear();
      await rig.advance(31_000);
      await rig.rest();
      expect([intake('v2'), intake('v1')]).toEqual([1, 0]);
      expect(await rig.graph()).not.toContain('virtual="true"');
      await rig.delete(configMap, 'owner');
      await rig.rest();
      expect([await rig.names(autoscaler), await rig.names(secret)]).toEqual([[], []]);
    },
  );

  it('COL-019 COL-101 its dependents hold an owner that waits for them', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    const held = { owners: [refTo(owner, { block: true })], finalizers: ['x.io/hold'] };
    await rig.create(autoscaler, 'h', held);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    forms[0]?.fail();
    await rig.advance(31_000);
    rig.faults.clear();
    await rig.advance(31_000);
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['owner']);
    await rig.patch(autoscaler, 'h', { finalizers: [] });
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-019 COL-05A and can not be watched either: the other one shows its objects; nothing is lost when it works again', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(autoscaler, 'h', { owners: [refTo(owner)] });
    await rig.rest();
    forms[0]?.fail();
    rig.faults.on({ target: /autoscaling\/v2\/horizontalpodautoscalers\?/ }, refuse(503, 'ServiceUnavailable'));
    await endWatches(/autoscaling\/v2\/horizontal/);
    await rig.advance(31_000);
    expect(intake('v1')).toBe(1);
    await rig.create(autoscaler, 'late', { owners: [refToNothing(configMap, 'never')] });
    await rig.advance(5000);
    expect(await rig.names(autoscaler)).toEqual(['h']);
    rig.faults.clear();
    await rig.advance(100_000);
    await rig.rest();
    const before = intake('v2');
    await rig.advance(100_000);
    expect([intake('v2'), intake('v1')]).toEqual([before, 1]);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(autoscaler)).toEqual([]);
  });
});

describe('a definition that comes back with another scope before discovery shows it gone', () => {
  const clusterScoped = { ...widget, namespaced: false };

  it.each([
    {
      what: 'namespaced',
      first: clusterScoped,
      now: widget,
      lists: ['/apis/example.com/v1/namespaces/default/widgets'],
    },
    { what: 'cluster-scoped', first: widget, now: clusterScoped, lists: [] },
  ])('COL-021 BETTER-13 late dependents are looked for in it as it is now: $what', async ({ first, now, lists }) => {
    rig.serve(first);
    await rig.startCollector();
    rig.unserve(first);
    rig.serve(now);
    await rig.advance(31_000);
    await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    const looked = rig.recorder.barrierLists.map(({ path }) => path);
    expect(looked.filter((path) => path.endsWith('/widgets'))).toEqual(lists);
    expect(looked).toContain('/api/v1/namespaces/default/secrets');
  });
});

describe('a resource that fails', () => {
  const failures: readonly { readonly what: string; readonly fault: Fault }[] = [
    { what: '403', fault: refuse(403, 'Forbidden') },
    { what: '404', fault: pathNotFound },
    { what: '429', fault: refuse(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } }) },
    { what: '500', fault: refuse(500, 'InternalError') },
    { what: 'a reset', fault: resetBefore },
    { what: 'silence', fault: silence },
  ];

  it.each(failures)(
    'COL-048 COL-026 COL-210 COL-221 $what does not stop the others, and nothing of it is taken for gone',
    async ({ fault }) => {
      rig.serve(widget);
      const owner = await rig.create(widget, 'owner');
      await rig.create(secret, 'kept', { owners: [refTo(owner)] });
      rig.faults.on({ target: widgets }, fault);
      await rig.startCollector();
      await rig.advance(29_000);
      await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
      expect(await rig.names(secret)).toEqual(['d', 'kept']);
      // COL-024, COL-210: work begins after the wait for all has been in vain.
      await rig.advance(2000);
      expect(await rig.names(secret)).toEqual(['kept']);
      expect(syncErrors()).toBe(1);
      const told = rig.logger.lines.map(({ message }) => message);
      expect(told).toContain('timed out waiting for dependency graph builder sync during GC sync');
      expect(told).toContain('not all monitors are synced, collecting all the same');
      await rig.advance(120_000);
      expect(await rig.names(secret)).toEqual(['kept']);
      rig.faults.clear();
      await rig.advance(120_000);
      await rig.delete(widget, 'owner');
      await rig.rest();
      expect(await rig.names(secret)).toEqual([]);
    },
  );

  it('COL-048 after it was synced: what it showed last is not believed any more', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true }), refToNothing(configMap, 'never')] });
    await rig.rest();
    rig.faults.on({ target: widgets }, refuse(403, 'Forbidden'));
    await endWatches(/widgets/);
    await rig.advance(10_000);
    await rig.delete(widget, 'owner');
    rig.recorder.clear();
    await rig.create(secret, 'e', { owners: [refTo(owner), refToNothing(configMap, 'never2')] });
    await rig.advance(1000);
    expect(rig.recorder.lines).toContain('GET /apis/example.com/v1/namespaces/default/widgets/owner 404');
    expect(await rig.names(secret)).toEqual(['d']);
  });

  it('COL-047 a watch that lost its place lists again; an owner that went meanwhile is read once, and its dependents go', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.faults.on({ target: /configmaps\?.*resourceVersion=/ }, refuse(410, 'Expired'), 1);
    const back = holdIntake(rig, /configmaps\?/);
    await endWatches(/configmaps/);
    await rig.delete(configMap, 'owner');
    await rig.advance(10_000);
    expect(await rig.names(secret)).toEqual(['d']);
    back();
    await rig.advance(10_000);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect(rig.recorder.counts).toEqual({ GET: 1, DELETE: 1 });
  });

  it.each([
    { policy: 'Orphan', between: 'Foreground' },
    { policy: 'Foreground', between: 'Background' },
  ] as const)(
    'COL-060 COL-063 a deletion with $policy that ended and began again meanwhile is not taken for the old one',
    async ({ policy, between }) => {
      // The lists of ConfigMaps are held up below, also those of the barrier.
      await rig.startCollector({ orphanBarrier: 'off' });
      await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
      rig.faults.on({ target: /configmaps\?.*resourceVersion=/ }, refuse(410, 'Expired'), 1);
      const back = holdIntake(rig, /configmaps\?/);
      // The collector sees that the deletion begins, but not that it takes its finalizer away.
      rig.faults.on(
        { method: 'PATCH', target: /configmaps\/owner/ },
        (request, next) => {
          rig.streams.cut(/configmaps/);
          return next(request);
        },
        1,
      );
      await rig.delete(configMap, 'owner', policy);
      await rig.advance(100);
      expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
      await rig.delete(configMap, 'owner', between);
      await rig.delete(configMap, 'owner', policy);
      await rig.advance(10_000);
      back();
      await rig.advance(10_000);
      await rig.rest();
      expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
    },
  );

  it('a server whose version went backwards is listed anew, and no absence is remembered', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    const before = rig.recorder.intake.length;
    const resources = watched().size;
    await goBackInTime(rig, 'configmaps');
    await rig.rest();
    expect(rig.recorder.intake.length).toBeGreaterThanOrEqual(before + resources);
    expect(rig.logger.lines.map(({ message }) => message)).toContain(
      'the resource version went backwards; everything is listed anew',
    );
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('law 5 COL-055: a resource that takes deletions back again and again has the others listed once, and itself each time', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const all = watched();
    const listed = async (turn: number): Promise<Set<string>> => {
      await rig.create(widget, `w${turn}`, { finalizers: ['x.io/hold'] });
      const before = rig.recorder.intake.length;
      // Shown as it was, by a server that answers from an older state.
      const key = `/registry/example.com/widgets/default/w${turn}`;
      const { kv: saved } = await rig.wait(rig.store.get(key));
      await rig.delete(widget, `w${turn}`);
      await rig.settle();
      const { kv } = await rig.wait(rig.store.get(key));
      await rig.wait(rig.store.update(key, saved!.value, kv!.modRevision));
      await rig.advance(5000);
      return new Set(rig.recorder.intake.slice(before).map(({ path }) => path));
    };
    expect(await listed(1)).toEqual(all);
    expect(await listed(2)).toEqual(new Set(['/apis/example.com/v1/widgets']));
    expect(await listed(3)).toEqual(new Set(['/apis/example.com/v1/widgets']));
    await rig.rest();
  });

  it('law 5: a resource that a server of its own may serve, and count as it likes, is no reason to list the others', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const before = rig.recorder.intake.length;
    await goBackInTime(rig, 'widgets');
    await rig.rest();
    const listed = rig.recorder.intake.slice(before).map(({ path }) => path);
    expect(new Set(listed)).toEqual(new Set(['/apis/example.com/v1/widgets']));
    expect(rig.logger.lines.map(({ message }) => message)).toContain('the resource version went backwards');
  });
});

/** Ends the watches under way, as a server that goes away does. */
async function endWatches(target: RegExp): Promise<void> {
  expect(rig.streams.cut(target)).toBe(1);
  await rig.settle();
}
