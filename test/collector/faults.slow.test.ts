import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { sleep } from '../../src/base/time/clock.ts';
import {
  answerWith,
  type Fault,
  pathNotFound,
  refuse,
  resetAfter,
  resetBefore,
  statusBody,
  timeoutAfter,
} from './faults.ts';
import { configMap, pod, refTo, refToNothing, secret, widget } from './kinds.ts';
import { deleteOptionsOf } from './recorder.ts';
import { Rig } from './rig.ts';

/** Sections 8 and 12: answers that are no answers, and writes that meet others. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector();
});
afterEach(() => rig.stop());

/** No object, no proof that there is none. */
const noProofs: readonly { readonly what: string; readonly fault: Fault }[] = [
  { what: '404 as plain text', fault: pathNotFound },
  { what: '404 with a Status without details', fault: refuse(404, 'NotFound') },
  { what: '404 with a Status with empty details', fault: refuse(404, 'NotFound', { details: {} }) },
  { what: '404 that names another object', fault: refuse(404, 'NotFound', { details: { name: 'other', kind: 'x' } }) },
  { what: '404 of a proxy', fault: answerWith(404, { error: 'no such backend' }) },
  { what: '401', fault: refuse(401, 'Unauthorized') },
  { what: '403', fault: refuse(403, 'Forbidden') },
  { what: '409', fault: refuse(409, 'Conflict') },
  { what: '410', fault: refuse(410, 'Gone') },
  { what: '429', fault: refuse(429, 'TooManyRequests') },
  { what: '500', fault: refuse(500, 'InternalError') },
  { what: '503 as plain text', fault: answerWith(503, 'upstream connect error') },
  { what: '504', fault: refuse(504, 'Timeout') },
  { what: 'a broken connection', fault: resetBefore },
  { what: '200 with a page', fault: answerWith(200, '<html>welcome</html>') },
  { what: '200 with an empty object', fault: answerWith(200, {}) },
  { what: '200 with null', fault: answerWith(200, null) },
  { what: '200 with a Status', fault: answerWith(200, statusBody(404, 'NotFound')) },
  {
    what: '200 with another object',
    fault: answerWith(200, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'x', uid: 'y' } }),
  },
];

describe('an answer that proves nothing', () => {
  it.each(noProofs)(
    'COL-114 COL-116 COL-156 BETTER-11 $what about an owner never deletes, and is asked again',
    async ({ fault }) => {
      rig.faults.on({ method: 'GET', target: /configmaps\/owner/ }, fault);
      await rig.withoutCollector(async () => {
        const owner = await rig.create(configMap, 'owner');
        await rig.create(secret, 'd', { owners: [refTo(owner)] });
        // The owner's resource can not be listed, so that it is read live.
        rig.faults.on({ target: /configmaps\?/ }, refuse(403, 'Forbidden'));
      });
      await rig.advance(60_000);
      expect(await rig.names(secret)).toEqual(['d']);
      expect(rig.recorder.writes).toEqual([]);
      expect(rig.recorder.calls.filter(({ path }) => path.endsWith('/owner')).length).toBeGreaterThan(3);
      rig.faults.clear();
      await rig.rest(70_000);
      expect(await rig.names(secret)).toEqual(['d']);
      await rig.delete(configMap, 'owner');
      await rig.rest();
      expect(await rig.names(secret)).toEqual([]);
    },
  );

  it.each(noProofs)(
    'COL-090 rows 5 to 7: $what about the object itself never ends its own dependents',
    async ({ fault }) => {
      rig.faults.on({ target: /secrets\/middle/ }, fault);
      await rig.withoutCollector(async () => {
        const middle = await rig.create(secret, 'middle', { owners: [refToNothing(configMap, 'never')] });
        await rig.create(configMap, 'leaf', { owners: [refTo(middle)] });
      });
      await rig.advance(30_000);
      expect(await rig.names(configMap)).toEqual(['leaf']);
      expect([await rig.names(secret), rig.recorder.calls.length > 3]).toEqual([['middle'], true]);
      rig.faults.clear();
      await rig.rest(70_000);
      expect([await rig.names(secret), await rig.names(configMap)]).toEqual([[], []]);
    },
  );

  it.each(noProofs.filter(({ what }) => what.startsWith('404')))(
    'COL-093 COL-116 BETTER-11 $what to a DELETE is no end of the object',
    async ({ fault }) => {
      const owner = await rig.create(configMap, 'owner');
      const middle = await rig.create(secret, 'middle', { owners: [refTo(owner)] });
      await rig.create(configMap, 'leaf', { owners: [refTo(middle)], finalizers: ['x.io/hold'] });
      rig.faults.on({ method: 'DELETE', target: /secrets\/middle/ }, fault, 2);
      await rig.delete(configMap, 'owner');
      await rig.settle();
      expect((await rig.get(configMap, 'leaf'))?.metadata?.deletionTimestamp).toBeUndefined();
      await rig.rest();
      expect(await rig.names(secret)).toEqual([]);
    },
  );

  it.each(noProofs.filter(({ what }) => what.startsWith('404')))(
    'COL-116 BETTER-11 $what to a PATCH is no end of the object: its own dependents stay',
    async ({ fault }) => {
      const [solid, gone] = [await rig.create(configMap, 'solid'), await rig.create(configMap, 'gone')];
      const middle = await rig.create(secret, 'middle', { owners: [refTo(solid), refTo(gone)] });
      await rig.create(pod, 'leaf', { owners: [refTo(middle)] });
      rig.faults.on({ method: 'PATCH', target: /secrets\/middle/ }, fault, 3);
      await rig.delete(configMap, 'gone');
      await rig.rest();
      expect((await rig.get(pod, 'leaf'))?.metadata?.deletionTimestamp).toBeUndefined();
      expect(await rig.owners(secret, 'middle')).toEqual(['solid']);
      // The same of a finalizer, and of an orphaned dependent.
      rig.faults.on({ method: 'PATCH', target: /secrets\/middle|configmaps\/solid/ }, fault, 4);
      await rig.delete(configMap, 'solid', 'Orphan');
      await rig.rest();
      expect([await rig.names(configMap), await rig.owners(secret, 'middle')]).toEqual([[], []]);
      expect((await rig.get(pod, 'leaf'))?.metadata?.deletionTimestamp).toBeUndefined();
    },
  );

  it('COL-116 a 404 for the path has discovery read again', async () => {
    rig.faults.on({ method: 'GET', target: /configmaps\/never/ }, pathNotFound, 1);
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.rest();
    const before = rig.recorder.discoveries.length;
    await rig.advance(12_000);
    expect(rig.recorder.discoveries.length).toBeGreaterThan(before);
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('a write that fails', () => {
  const failures: readonly { readonly what: string; readonly fault: Fault }[] = [
    ...noProofs.filter(({ what }) => !what.startsWith('200') && !what.startsWith('409')),
    { what: 'a reset after the write', fault: resetAfter },
    { what: 'a time-out after the write', fault: timeoutAfter },
    { what: '422', fault: refuse(422, 'Invalid') },
    { what: '200 with a page', fault: answerWith(200, '<html>welcome</html>') },
    { what: '200 with an empty object', fault: answerWith(200, {}) },
  ];

  it.each(failures)('COL-094 DELETE: $what is tried again until it is done', async ({ fault }) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, fault, 3);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each(failures)('COL-154 P1: $what is tried again until it is done', async ({ fault }) => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(secret, 'd', { owners: [refTo(a), refTo(b)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, fault, 3);
    await rig.delete(configMap, 'a');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['b']);
  });

  it.each(failures)('COL-153 P5: $what is tried again until it is done', async ({ fault }) => {
    await rig.create(configMap, 'owner');
    rig.faults.on({ method: 'PATCH', target: /configmaps\/owner/ }, fault, 3);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-153 P5: an object that the server finds invalid is reported', async () => {
    await rig.create(configMap, 'owner');
    const message = 'spec.size: Required value';
    rig.faults.on({ method: 'PATCH', target: /configmaps\/owner/ }, refuse(422, 'Invalid', { message }), 1);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    const told = rig.logger.lines.filter(({ fields }) => fields['error'] === message);
    expect(told.map(({ level, fields }) => [level, fields['reason']])).toEqual([['warn', 'writeRejected']]);
  });

  it('COL-082 BETTER-8 is tried again with growing delays, at most a minute apart', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const times: number[] = [];
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, (request, next) => {
      times.push(rig.clock.monotonic());
      return refuse(500, 'InternalError')(request, next);
    });
    await rig.delete(configMap, 'owner');
    await rig.advance(400_000);
    const waits = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(waits.slice(-3)).toEqual([60_000, 60_000, 60_000]);
  });

  it('COL-093 a DELETE that proves absence is a deletion, and is not repeated', async () => {
    const owner = await rig.create(configMap, 'owner');
    const middle = await rig.create(secret, 'middle', { owners: [refTo(owner)] });
    await rig.create(configMap, 'leaf', { owners: [refTo(middle)] });
    // The watch of secrets says nothing any more.
    rig.faults.on({ target: /secrets\?/ }, refuse(403, 'Forbidden'));
    rig.faults.on({ method: 'DELETE', target: /secrets\/middle/ }, async (request, next) => {
      await rig.client.delete(rig.at(secret, 'middle'));
      return next(request);
    });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(rig.recorder.writes.filter(({ path }) => path.endsWith('middle')).map(({ status }) => status)).toEqual([
      404,
    ]);
    expect(await rig.names(configMap)).toEqual([]);
  });
});

describe('a conflict', () => {
  /** Changes the dependent right before the first DELETEs reach the server. */
  function disturb(metadata: (turn: number) => Record<string, unknown>, times = 1): void {
    let turn = 0;
    rig.faults.on(
      { method: 'DELETE', target: /secrets\/d/ },
      async (request, next) => {
        const body = { metadata: metadata(turn++) };
        await rig.client.patch(rig.at(secret, 'd'), { type: 'application/merge-patch+json', body });
        return next(request);
      },
      times,
    );
  }
  const sent = () =>
    rig.recorder.calls.map(({ method, path, status }) => `${method} ${path.split('/').at(-1)} ${status}`);
  const preconditions = () =>
    rig.recorder.writes
      .filter(({ method }) => method === 'DELETE')
      .map((call) => Object.keys(deleteOptionsOf(call).preconditions ?? {}));

  const decided = (reason: string) =>
    rig.metrics.value('kubegc_collector_decisions_total', { verdict: 'requeue', reason });

  it('COL-175 COL-098 what got no answer is read before it is tried again, and so is its owner, once; what got one is not', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, resetBefore, 1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(sent()).toEqual(['DELETE d 0', 'GET d 200', 'GET owner 404', 'DELETE d 200']);
    rig.recorder.clear();
    const other = await rig.create(configMap, 'other');
    await rig.create(secret, 'e', { owners: [refTo(other)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/e/ }, refuse(429, 'TooManyRequests'), 2);
    await rig.delete(configMap, 'other');
    await rig.rest();
    expect(sent()).toEqual(['DELETE e 429', 'DELETE e 429', 'DELETE e 200']);
  });

  it('COL-098 BETTER-9 what was settled after that is decided by the graph again', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(secret, 'd', { owners: [refTo(a), refTo(b)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, resetBefore, 1);
    await rig.delete(configMap, 'a');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['b']);
    rig.recorder.clear();
    await rig.delete(configMap, 'b');
    await rig.rest();
    expect(sent()).toEqual(['DELETE d 200']);
  });

  it('COL-175 law 5: each attempt after one without an answer costs a read of the object, and one of its owner at most', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 100; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\// }, refuse(503, 'ServiceUnavailable'), 100);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    const counted = (start: string) => sent().filter((line) => line.startsWith(start)).length;
    expect(await rig.names(secret)).toEqual([]);
    expect([counted('DELETE d'), counted('GET d')]).toEqual([200, 100]);
    expect(counted('GET owner')).toBeLessThanOrEqual(100);
  });

  it('COL-098 of a guess costs the full procedure, once', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    disturb(() => ({ labels: { a: 'b' } }));
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(sent()).toEqual(['DELETE d 409', 'GET d 200', 'DELETE d 200']);
    expect(preconditions()).toEqual([
      ['uid', 'resourceVersion'],
      ['uid', 'resourceVersion'],
    ]);
  });

  it('COL-151 of a busy object: read and decided anew at once, never deleted by uid alone', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    disturb((turn) => ({ labels: { turn: String(turn) } }), 2);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(sent()).toEqual(['DELETE d 409', 'GET d 200', 'DELETE d 409', 'GET d 200', 'DELETE d 200']);
    expect(preconditions().at(-1)).toEqual(['uid', 'resourceVersion']);
  });

  it('COL-151 of an object that is always busier: five times at once, then again through the queue', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const times: number[] = [];
    disturb((turn) => {
      times.push(rig.clock.monotonic());
      return { labels: { turn: String(turn) } };
    }, 8);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(times).toHaveLength(8);
    const waits = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
    expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(waits[5]).toBe(5);
    expect(await rig.names(secret)).toEqual([]);
    expect(decided('deleteConflict')).toBe(1);
  });

  it('COL-151 a 409 that is not about the version is no reason to ask again: the collector reports it and waits', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const message = 'admission webhook "usages.example.com" denied the request: in use by 1 usage';
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(409, 'in use by 1 usage', { message }), 2);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(sent()).toEqual(['DELETE d 409', 'GET d 200', 'DELETE d 409', 'GET d 200', 'DELETE d 200']);
    expect(decided('writeRejected')).toBe(2);
    expect(decided('deleteConflict')).toBe(undefined);
    const warned = rig.logger.lines.filter(({ level, fields }) => level === 'warn' && fields['error'] === message);
    expect(warned.map(({ fields }) => fields['reason'])).toEqual(['writeRejected', 'writeRejected']);
  });

  it('COL-151 what an always busier object was refused with can be read at debug', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    disturb((turn) => ({ labels: { turn: String(turn) } }), 6);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    const told = rig.logger.lines.filter(({ fields }) => fields['action'] === 'delete');
    expect(told.map(({ level, fields }) => [level, fields['reason']])).toEqual([['debug', 'deleteConflict']]);
    expect(told[0]?.fields['error']).toMatch(/the object has been modified|resource ?version/i);
  });

  it('COL-002 COL-151 what gets a living owner while a DELETE after a conflict is on its way is not deleted', async () => {
    const [owner, other] = [await rig.create(configMap, 'owner'), await rig.create(configMap, 'other')];
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // The second conflict is the one after which the object is read live and its references are what they were.
    disturb((turn) => (turn < 2 ? { labels: { turn: String(turn) } } : { ownerReferences: [refTo(other)] }), 3);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['other']);
  });

  it('COL-152 references that changed in between win: the object survives with its new owner', async () => {
    const [owner, other] = [await rig.create(configMap, 'owner'), await rig.create(configMap, 'other')];
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    disturb(() => ({ ownerReferences: [refTo(other)] }));
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['other']);
  });

  it('COL-152 COL-151 the same between the live read and its DELETE', async () => {
    const [owner, other] = [await rig.create(configMap, 'owner'), await rig.create(configMap, 'other')];
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    disturb((turn) => (turn === 0 ? { labels: { a: 'b' } } : { ownerReferences: [refTo(other)] }), 2);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['other']);
    expect(rig.recorder.writes.filter(({ status }) => status === 200)).toEqual([]);
  });

  it('COL-152 an object that was replaced under its name is left alone', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on(
      { method: 'DELETE', target: /secrets\/d/ },
      async (request, next) => {
        await rig.client.delete(rig.at(secret, 'd'));
        await rig.client.create({ gvr: secret.gvr, namespace: 'default' }, { metadata: { name: 'd' } });
        return next(request);
      },
      1,
    );
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['d']);
  });

  it('COL-101 COL-153 when a finalizer is removed: each version is decided upon anew, through the queue', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['example.com/hold'] });
    let disturbed = 0;
    rig.faults.on({ method: 'PATCH', target: /configmaps\/owner/ }, async (request, next) => {
      if (disturbed++ === 0) {
        const body = { metadata: { labels: { turn: 'one' } } };
        await rig.client.patch(rig.at(configMap, 'owner'), { type: 'application/merge-patch+json', body });
        // A new dependent refers to it, and a new delete makes it wait once more: the finalizer is a new one.
        await rig.create(configMap, 'late', {
          owners: [refTo(owner, { block: true })],
          finalizers: ['example.com/hold'],
        });
        await rig.delete(configMap, 'owner', 'Foreground');
      }
      return next(request);
    });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    const { metadata } = await rig.client.get(rig.at(configMap, 'owner'));
    expect(metadata?.finalizers).toContain('foregroundDeletion');
    await rig.client.patch(rig.at(configMap, 'late'), {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    await rig.rest();
    expect((await rig.client.get(rig.at(configMap, 'owner'))).metadata?.finalizers).toEqual(['example.com/hold']);
  });

  it('COL-165 BETTER-17 a finalizer of a successor of the name is not removed', async () => {
    const hold = { finalizers: ['foregroundDeletion'] };
    await rig.create(configMap, 'owner');
    rig.faults.on(
      { method: 'PATCH', target: /configmaps\/owner/ },
      async (request, next) => {
        const patch = { type: 'application/merge-patch+json', body: { metadata: { finalizers: null } } } as const;
        await rig.client.patch(rig.at(configMap, 'owner'), patch);
        await rig.client.create({ gvr: configMap.gvr, namespace: 'default' }, { metadata: { name: 'owner', ...hold } });
        return next(request);
      },
      1,
    );
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['foregroundDeletion']);
  });

  it('COL-161 of P2 is read and tried again through the queue', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(widget, 'd', { owners: [refTo(a), refTo(b)] });
    let disturbed = 0;
    rig.faults.on({ method: 'PATCH', target: /widgets\/d/ }, async (request, next) => {
      const merge = String(request.headers['content-type']).includes('merge-patch+json');
      if (merge && disturbed++ < 3) {
        const body = { metadata: { labels: { turn: String(disturbed) } } };
        await rig.client.patch(rig.at(widget, 'd'), { type: 'application/merge-patch+json', body });
      }
      return next(request);
    });
    await rig.delete(configMap, 'a');
    await rig.rest();
    expect(await rig.owners(widget, 'd')).toEqual(['b']);
  });
});

describe('a 404 by admission, which did not find something else of the same name', () => {
  const notFound = (name: string) => refuse(404, 'NotFound', { details: { name, kind: 'configmaps' } });

  it('COL-116 COL-002 of a reference that was to go: the object lives, and so do its dependents', async () => {
    const [solid, gone] = [await rig.create(configMap, 'solid'), await rig.create(configMap, 'gone')];
    const middle = await rig.create(secret, 'middle', { owners: [refTo(solid), refTo(gone)] });
    await rig.create(secret, 'leaf', { owners: [refTo(middle)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/middle/ }, notFound('middle'), 2);
    await rig.delete(configMap, 'gone');
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['leaf', 'middle']);
    expect(await rig.owners(secret, 'middle')).toEqual(['solid']);
  });

  it('COL-116 COL-093 of a deletion: it is tried again, and nothing of it goes before', async () => {
    const owner = await rig.create(configMap, 'owner');
    const middle = await rig.create(secret, 'middle', { owners: [refTo(owner)] });
    await rig.create(secret, 'leaf', { owners: [refTo(middle)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/middle/ }, notFound('middle'));
    await rig.delete(configMap, 'owner');
    await rig.advance(5000);
    expect(await rig.names(secret)).toEqual(['leaf', 'middle']);
    rig.faults.clear();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each(['Foreground', 'Orphan'] as const)('COL-116 COL-121 of a patch on the way of %s', async (policy) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, notFound('d'), 1);
    rig.faults.on({ method: 'PATCH', target: /configmaps\/owner/ }, notFound('owner'), 1);
    await rig.delete(configMap, 'owner', policy);
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    expect(await rig.names(secret)).toEqual(policy === 'Orphan' ? ['d'] : []);
    if (policy === 'Orphan') expect(await rig.owners(secret, 'd')).toEqual([]);
  });
});

describe('a key that waits', () => {
  /** d can not be deleted, and waits a minute between two attempts. */
  async function stuck(): Promise<KubeObject> {
    const owner = await rig.create(configMap, 'owner');
    const d = await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(500, 'InternalError'));
    await rig.delete(configMap, 'owner');
    await rig.advance(200_000);
    rig.faults.clear();
    return d;
  }

  it('COL-085 BETTER-8 is ready at once when its object changes', async () => {
    await stuck();
    await rig.patch(secret, 'd', { ownerReferences: [refToNothing(configMap, 'never')] });
    expect(await rig.rest()).toBe(0);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-085 BETTER-8 is ready at once when its object changed during the attempt that failed', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    let during = (): Promise<void> => Promise.resolve();
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, async (request, next) => {
      await during();
      return refuse(500, 'InternalError')(request, next);
    });
    await rig.delete(configMap, 'owner');
    await rig.advance(200_000);
    const attempt = { answered: false };
    during = async () => {
      rig.faults.clear();
      const body = { metadata: { ownerReferences: [refTo(owner, { controller: true })] } };
      await rig.client.patch(rig.at(secret, 'd'), { type: 'application/merge-patch+json', body });
      await sleep(rig.clock, 1000);
      attempt.answered = true;
    };
    while (!attempt.answered) await rig.advance(100);
    expect(await rig.rest()).toBe(0);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-085 waits on when something changes that does not matter', async () => {
    await stuck();
    await rig.patch(secret, 'd', { labels: { a: 'b' } });
    await rig.settle();
    expect(await rig.names(secret)).toEqual(['d']);
    expect(await rig.rest(61_000)).toBeGreaterThan(0);
  });

  it('COL-085 BETTER-8 is ready at once when an owner changes', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(secret, 'd', { owners: [refTo(a), refTo(b)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, refuse(500, 'InternalError'));
    await rig.delete(configMap, 'a');
    await rig.advance(200_000);
    rig.faults.clear();
    await rig.patch(configMap, 'b', { ownerReferences: [refToNothing(configMap, 'b2')] });
    expect(await rig.rest()).toBe(0);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-085 BETTER-8 is ready at once when discovery changes', async () => {
    await stuck();
    rig.unserve(widget);
    await rig.advance(31_000);
    expect(await rig.names(secret)).toEqual([]);
  });
});
