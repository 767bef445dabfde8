import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, type Fault, refuse, resetBefore, statusBody } from './faults.ts';
import { configMap, pod, refTo, refToNothing, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** A server that goes away, or that has too much to do. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const warnings = () => rig.logger.lines.filter(({ level }) => level === 'warn' || level === 'error');

describe('a kind whose lists and watches fail by themselves', () => {
  it('BETTER-9 costs no other kind a read or a delay, and its own owners are read', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    const broken = await rig.create(widget, 'owner');
    for (const name of ['a', 'b', 'c']) await rig.create(secret, name, { owners: [refTo(owner)] });
    await rig.create(secret, 'd', { owners: [refTo(owner), refTo(broken)] });
    await rig.rest();
    // As with a conversion webhook that is dead.
    rig.faults.on({ target: /widgets\?/ }, refuse(500, 'InternalError'));
    rig.streams.cut(/widgets/);
    await rig.advance(5000);
    rig.recorder.clear();
    await rig.delete(configMap, 'owner');
    await rig.advance(1000);
    expect(await rig.names(secret)).toEqual(['d']);
    const reads = rig.recorder.all.flatMap(({ method, path }) =>
      method === 'GET' && path.includes('/namespaces/') ? [path] : [],
    );
    expect([...new Set(reads)].toSorted()).toEqual([
      '/api/v1/namespaces/default/secrets/d',
      '/apis/example.com/v1/namespaces/default/widgets/owner',
    ]);
  });

  /** Lists, watches, reads and deletions answer as with a conversion webhook that is dead. */
  const killWebhook = (): void => {
    rig.faults.on({ target: /widgets\?.*watch=true/ }, refuse(429, 'TooManyRequests'));
    rig.faults.on({ target: /widgets/ }, refuse(500, 'InternalError'));
    rig.streams.cut(/widgets/);
  };

  it.each(['dies', 'was dead at the start'])(
    'COL-120 whose conversion webhook %s: the other dependents of an owner go, and the owner in foreground',
    async (when) => {
      rig.serve(widget);
      const owner = await rig.create(configMap, 'owner');
      for (const name of ['a', 'b', 'c']) await rig.create(secret, name, { owners: [refTo(owner, { block: true })] });
      await rig.create(widget, 'w', { owners: [refTo(owner)] });
      if (when === 'dies') {
        await rig.startCollector();
        await rig.rest();
        killWebhook();
      } else {
        killWebhook();
        await rig.startCollector();
        // The start waits for all kinds, but not longer.
        await rig.advance(30_000);
      }
      await rig.advance(5000);
      await rig.delete(configMap, 'owner', 'Foreground');
      await rig.advance(5000);
      expect(await rig.names(secret)).toEqual([]);
      expect(await rig.get(configMap, 'owner')).toBeUndefined();
      // The object of the broken kind goes once the webhook lives.
      expect(await rig.names(widget)).toEqual(['w']);
      rig.faults.clear();
      await rig.rest(120_000);
      expect(await rig.names(widget)).toEqual([]);
    },
  );

  it('COL-048 whose watch is cut every 1.5 s, with one 410 after each cut, is followed within seconds', async () => {
    rig.serve(widget);
    await rig.startCollector();
    const left: string[][] = [];
    for (let round = 0; round < 20; round++) {
      const owner = await rig.create(configMap, `owner-${round}`);
      await rig.create(widget, `w-${round}`, { owners: [refTo(owner)] });
      rig.faults.on({ target: /widgets\?.*resourceVersion=\d/ }, refuse(410, 'Expired'), 1);
      rig.streams.cut(/widgets/);
      await rig.advance(1500);
      await rig.delete(configMap, `owner-${round}`);
      left.push(await rig.names(widget));
    }
    // Each object goes within two further cuts.
    for (const [round, names] of left.entries()) expect(names.length, `round ${round}`).toBeLessThanOrEqual(3);
    await rig.advance(3000);
    expect(await rig.names(widget)).toEqual([]);
  });
});

describe('a server that goes away', () => {
  it('COL-048 COL-146 is reported in a line a minute, not in one for each watch and attempt; once when it is back', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 30; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    const resources = rig.recorder.intake.length;
    rig.faults.on({ target: /./ }, resetBefore);
    await rig.delete(configMap, 'owner');
    await rig.settle();
    rig.streams.cut(/./);
    await rig.advance(600_000);
    const said = warnings().map(({ message }) => message);
    const away = warnings().filter(({ message }) => message.startsWith('the API server does not answer'));
    expect(away.length).toBeGreaterThan(8);
    expect(away.length).toBeLessThan(12);
    expect(away.at(-1)?.fields).toMatchObject({ watches: resources });
    // Besides: writes in vain, bounded, and discovery, once.
    expect(said.filter((message) => message.startsWith('discovery failed'))).toHaveLength(1);
    expect(said.length).toBeLessThan(away.length + 1 + 20 + 600 / 5);
    const before = rig.logger.lines.length;
    rig.faults.clear();
    await rig.advance(60_000);
    const after = rig.logger.lines.slice(before).filter(({ level }) => level === 'info');
    expect(after.map(({ message }) => message)).toContain('the API server answers again');
    expect(after.map(({ message }) => message)).toContain('discovery is complete again');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-022 COL-023 BETTER-1 a resource without a kind is reported, counted, and keeps no other from being watched', async () => {
    rig.serve(widget);
    rig.faults.on({ target: /^\/apis$/ }, async (request, next) => {
      // Without the ETag, which is that of the other document.
      const { 'if-none-match': _, ...headers } = request.headers;
      const response = await next({ ...request, headers });
      const document = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as {
        items: { metadata: { name: string }; versions: { resources: { responseKind?: unknown }[] }[] }[];
      };
      const group = document.items.find(({ metadata }) => metadata.name === 'example.com');
      for (const resource of group?.versions[0]?.resources ?? []) delete resource.responseKind;
      const { etag: __, ...others } = response.headers;
      return { ...response, headers: others, body: Buffer.from(JSON.stringify(document)) };
    });
    await rig.startCollector();
    const errors = () => rig.metrics.value('garbagecollector_controller_resources_sync_error_total') ?? 0;
    expect(errors()).toBe(1);
    expect(warnings().map(({ message, fields }) => [message, fields['resources']])).toEqual([
      ['some resources cannot be watched', 'example.com/v1 widgets: without a kind'],
    ]);
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    await rig.advance(61_000);
    expect([errors(), warnings().length]).toEqual([3, 1]);
    // It has one at last: the next pass watches it.
    rig.faults.clear();
    await rig.advance(30_000);
    expect(rig.recorder.intake.map(({ path }) => path)).toContain('/apis/example.com/v1/widgets');
    expect(errors()).toBe(3);
  });
});

describe('a server that has too much to do', () => {
  /** API Priority and Fairness in small: so many calls at once, the others are refused. */
  function seats(count: number): { readonly refused: () => number } {
    let taken = 0;
    let refused = 0;
    const fault: Fault = async (request, next) => {
      if (taken >= count) {
        refused++;
        return answer(429, statusBody(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } }), {
          'retry-after': '1',
        });
      }
      taken++;
      try {
        await new Promise<void>((resolve) => rig.clock.setTimer(50, resolve));
        return await next(request);
      } finally {
        taken--;
      }
    };
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, fault);
    return { refused: () => refused };
  }

  it('BETTER-19 is asked for as much at once as it bears, waited for as long as it says, and all is collected', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 300; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    const limit = () => rig.metrics.value('kubegc_collector_call_limit') ?? 0;
    const before = limit();
    const { refused } = seats(4);
    await rig.delete(configMap, 'owner');
    await rig.advance(500);
    const after = limit();
    await rig.rest(600_000);
    expect(await rig.names(secret)).toEqual([]);
    expect([before, after < before / 1.5]).toEqual([8, true]);
    // One worker of twenty is refused at most once a second and round: fewer than a refusal for each object.
    expect(refused()).toBeLessThan(150);
  });

  it('BETTER-19 COL-174 no limit holds back what the server bears: every worker calls at once after a few rounds', async () => {
    await rig.startCollector({ concurrentGcSyncs: 50 });
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 170; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    let most = 0;
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, async (request, next) => {
      most = Math.max(most, rig.recorder.underWay);
      await new Promise<void>((resolve) => rig.clock.setTimer(50, resolve));
      return next(request);
    });
    await rig.delete(configMap, 'owner');
    const took = await rig.rest();
    // Rounds of 8, 8, 16, 32, 50, 50 and the rest.
    expect([most, took <= 7 * 50]).toEqual([50, true]);
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('a server beside kube-apiserver that is away for good', () => {
  /** In the words of kube-aggregator. */
  const inItsWords = (headers: Record<string, string>): Fault => {
    return () => Promise.resolve(answer(503, 'service unavailable\n', headers));
  };

  it.each([
    { what: 'kube-apiserver says so', fault: inItsWords({ 'audit-id': 'one' }), asked: false },
    { what: 'something in between says so', fault: inItsWords({}), asked: true },
    { what: 'it fails by itself', fault: refuse(503, 'ServiceUnavailable'), asked: false },
  ])(
    'COL-111 COL-175 costs a cascade elsewhere no third request an object where $what: $asked',
    async ({ fault, asked }) => {
      rig.serve(widget);
      await rig.startCollector({ retryCapMs: 100 });
      rig.faults.on({ target: /widgets/ }, fault);
      rig.streams.cut(/widgets/);
      await rig.advance(5000);
      for (let i = 0; i < 10; i++) await rig.create(secret, `k${i}`, { owners: [refToNothing(widget, `x${i}`)] });
      const root = await rig.create(pod, 'root');
      for (let i = 0; i < 30; i++) {
        const owner = await rig.create(configMap, `o${i}`, { owners: [refTo(root)] });
        await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
      }
      rig.faults.on({ method: 'DELETE', target: /./ }, async (request, next) => {
        await new Promise<void>((resolve) => rig.clock.setTimer(300, resolve));
        return next(request);
      });
      rig.recorder.clear();
      await rig.delete(pod, 'root');
      await rig.advance(20_000);
      expect((await rig.names(secret)).filter((name) => name.startsWith('d'))).toEqual([]);
      expect(rig.recorder.lines.some((line) => line.includes('widgets/x'))).toBe(true);
      // Each is read before it is deleted, and once more for its dependent if that asks for it.
      const reads = rig.recorder.lines.filter((line) => line.startsWith('GET') && line.includes('configmaps/o'));
      expect(reads.length > 30).toBe(asked);
    },
  );
});

describe('an owner with many dependents', () => {
  it('COL-128 COL-120 COL-122 is orphaned with at most fifty patches under way, and goes after all of them', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 170; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    let underWay = 0;
    let most = 0;
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, async (request, next) => {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => rig.clock.setTimer(10, resolve));
      const response = await next(request);
      underWay--;
      return response;
    });
    rig.recorder.clear();
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(most).toBe(50);
    const writes = rig.recorder.writes.map(({ path }) => path.split('/').at(-1));
    expect([writes.length, writes.at(-1)]).toEqual([171, 'owner']);
    expect((await rig.names(secret)).length).toBe(170);
  });
});
