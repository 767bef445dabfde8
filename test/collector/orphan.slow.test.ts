import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerWith, refuse, resetBefore } from './faults.ts';
import { configMap, refTo, replicationController, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Section 9: deletion that lets the dependents go. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector();
});
afterEach(() => rig.stop());

describe('orphaning', () => {
  it.each([configMap, widget])(
    'COL-120 COL-122 COL-125 of a $kind leaves its dependents, then the owner goes',
    async (kind) => {
      const owner = await rig.create(kind, 'owner');
      for (const name of ['a', 'b']) {
        await rig.create(secret, name, { owners: [refTo(owner, { block: true })] });
        await rig.create(widget, name, { owners: [refTo(owner)] });
      }
      await rig.delete(kind, 'owner', 'Orphan');
      await rig.rest();
      await rig.advance(60_000);
      expect(await rig.get(kind, 'owner')).toBeUndefined();
      for (const name of ['a', 'b']) {
        expect([await rig.owners(secret, name), await rig.owners(widget, name)]).toEqual([[], []]);
      }
      expect(rig.recorder.writes.map(({ method }) => method)).not.toContain('DELETE');
      const last = rig.recorder.writes.at(-1);
      expect([last?.method, last?.path.split('/').at(-1)]).toEqual(['PATCH', 'owner']);
    },
  );

  it('COL-123 takes only the reference to this owner; the others keep their flags', async () => {
    const owner = await rig.create(configMap, 'owner');
    const other = await rig.create(configMap, 'other');
    const kept = refTo(other, { block: true, controller: true });
    await rig.create(secret, 'd', { owners: [refTo(owner), kept] });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect((await rig.get(secret, 'd'))?.metadata?.ownerReferences).toEqual([kept]);
  });

  it('COL-124 is one level deep', async () => {
    const owner = await rig.create(configMap, 'owner');
    const child = await rig.create(configMap, 'child', { owners: [refTo(owner)] });
    await rig.create(configMap, 'grandchild', { owners: [refTo(child)] });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['child', 'grandchild']);
    expect(await rig.owners(configMap, 'grandchild')).toEqual(['child']);
  });

  it('COL-126 happens at once, even if the owner lives on; a later delete finds no dependents', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })] });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual([]);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
    expect(await rig.names(secret)).toEqual(['d']);
  });

  it('COL-231 is the default of a ReplicationController', async () => {
    const owner = await rig.create(replicationController, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.wait(rig.client.delete(rig.at(replicationController, 'owner')));
    await rig.rest();
    expect(await rig.get(replicationController, 'owner')).toBeUndefined();
    expect(await rig.owners(secret, 'd')).toEqual([]);
  });

  it('COL-122 ends though the watch of the owner shows nothing, and somebody else has written it meanwhile', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // It is seen that the deletion begins, and nothing after that.
    rig.faults.on(
      { method: 'PATCH', target: /secrets\/d/ },
      (request, next) => {
        rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
        rig.streams.cut(/\/configmaps\?/);
        return resetBefore(request, next);
      },
      1,
    );
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    await rig.patch(configMap, 'owner', { labels: { turn: 'one' } });
    await rig.advance(5000);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
    expect(await rig.owners(secret, 'd')).toEqual([]);
  });

  it('BETTER-10 of an object that refers to itself patches no reference', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.patch(configMap, 'owner', { ownerReferences: [refTo(owner, { block: true })] });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(rig.recorder.counts).toEqual({ PATCH: 1 });
    expect(await rig.names(configMap)).toEqual([]);
  });
});

describe('orphaning that fails for a dependent', () => {
  it.each([
    { name: '500', fault: refuse(500, 'InternalError') },
    { name: '409', fault: refuse(409, 'Conflict') },
    { name: '403', fault: refuse(403, 'Forbidden') },
    { name: 'a reset', fault: resetBefore },
    { name: '404 for the path', fault: answerWith(404, '404 page not found\n') },
  ])('COL-121 $name is tried again; the owner keeps its finalizer until then', async ({ fault }) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'good', { owners: [refTo(owner)] });
    await rig.create(secret, 'bad', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/bad/ }, fault, 3);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan']);
    await rig.rest();
    expect(await rig.get(configMap, 'owner')).toBeUndefined();
    expect([await rig.owners(secret, 'good'), await rig.owners(secret, 'bad')]).toEqual([[], []]);
    const good = rig.recorder.writes.filter(({ path }) => path.endsWith('good'));
    expect(good).toHaveLength(1);
  });

  it('COL-121 COL-002 a request without an answer is the last of its round; the next one asks for the owner first', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 60; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\// }, resetBefore, 1);
    rig.recorder.clear();
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    // As many as were under way at once; 50 had been begun, and most of them waited for their turn.
    const begun = rig.recorder.lines.length;
    expect([begun > 0, begun <= 8]).toEqual([true, true]);
    await rig.rest();
    expect(rig.recorder.lines[begun]).toBe('GET /api/v1/namespaces/default/configmaps/owner 200');
    expect(await rig.names(configMap)).toEqual([]);
    for (let i = 0; i < 60; i++) expect(await rig.owners(secret, `d${i}`)).toEqual([]);
  });

  it('COL-120 a dependent that is gone is success', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // Its watch is behind: the collector believes that it is there.
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, async (request, next) => {
      await rig.client.delete(rig.at(secret, 'd'));
      return next(request);
    });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-155 BETTER-16 422, because another object has its name, is success', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, async (request, next) => {
      await rig.client.delete(rig.at(secret, 'd'));
      await rig.client.create({ gvr: secret.gvr, namespace: 'default' }, { metadata: { name: 'd' } });
      return next(request);
    });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    const patch = rig.recorder.calls.find(({ method, path }) => method === 'PATCH' && path.endsWith('secrets/d'));
    expect([patch?.status, patch?.reason]).toEqual([422, 'Invalid']);
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], ['d']]);
  });

  it('COL-129 COL-154 an object that can not be patched keeps the owner until it can', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, refuse(422, 'Invalid'));
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(120_000);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan']);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    rig.faults.clear();
    await rig.rest(70_000);
    expect([await rig.names(configMap), await rig.owners(secret, 'd')]).toEqual([[], []]);
  });
});
