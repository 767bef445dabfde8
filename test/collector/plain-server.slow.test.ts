import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { answer, statusBody } from './faults.ts';
import { clusterRole, configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import { type Policy, Rig } from './rig.ts';

/**
 * An API server that has discovery, get, list, watch, patch and delete, and none of what newer ones add: one discovery document a
 * group version, whole objects as JSON, no lists by watch, no bookmarks, no pages.
 */
const plain: Interceptor = async (request, next) => {
  const url = new URL(request.target, 'http://server.invalid');
  const query = url.searchParams;
  if (query.has('sendInitialEvents')) {
    const forbidden = { details: { causes: [{ field: 'sendInitialEvents' }] } };
    return answer(422, statusBody(422, 'Invalid', forbidden));
  }
  for (const name of ['limit', 'allowWatchBookmarks', 'resourceVersionMatch']) query.delete(name);
  const target = `${url.pathname}${query.size === 0 ? '' : `?${query}`}`;
  const headers = { ...request.headers, accept: 'application/json' };
  return next({ ...request, target, headers });
};

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  rig.weather = plain;
});
afterEach(() => rig.stop());

describe('COL-004 a server without anything newer', () => {
  it.each(['Background', 'Foreground', 'Orphan'] as const)('COL-004 deletes in %s', async (policy: Policy) => {
    await rig.startCollector();
    for (const kind of [configMap, widget, clusterRole]) {
      const owner = await rig.create(kind, 'owner');
      const other = await rig.create(kind, 'other');
      await rig.create(secret, `of-${kind.kind.toLowerCase()}`, { owners: [refTo(owner, { block: true })] });
      await rig.create(secret, `shared-${kind.kind.toLowerCase()}`, { owners: [refTo(owner), refTo(other)] });
      await rig.delete(kind, 'owner', policy);
      await rig.rest();
      expect(await rig.get(kind, 'owner')).toBeUndefined();
      expect(await rig.owners(secret, `shared-${kind.kind.toLowerCase()}`)).toEqual(['other']);
    }
    const orphans = ['clusterrole', 'configmap', 'widget'].map((kind) => `of-${kind}`);
    const shared = ['clusterrole', 'configmap', 'widget'].map((kind) => `shared-${kind}`);
    expect(await rig.names(secret)).toEqual([...(policy === 'Orphan' ? orphans : []), ...shared]);
    const own = rig.recorder.all.filter(({ status }) => status >= 400 && status !== 422 && status !== 415);
    expect(own).toEqual([]);
  });

  it('COL-004 COL-211 what became garbage before the start goes, what has an owner stays', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'kept', { owners: [refTo(owner)] });
    await rig.create(secret, 'garbage', { owners: [refToNothing(configMap, 'never')] });
    await rig.startCollector();
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['kept']);
  });
});

it('COL-004 COL-217 a collector keeps nothing: another one, with another seed, goes on where it was', async () => {
  const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
  for (let i = 0; i < 5; i++) {
    const child = await rig.create(secret, `d${i}`, {
      owners: [refTo(owner, { block: true })],
      finalizers: ['x.io/hold'],
    });
    await rig.create(secret, `e${i}`, { owners: [refTo(child, { block: true })] });
  }
  let running = await rig.startCollector();
  await rig.delete(configMap, 'owner', 'Foreground');
  for (let i = 0; i < 5; i++) {
    await running.stop();
    running = await rig.startCollector();
    await rig.patch(secret, `d${i}`, {
      finalizers:
        (await rig.get(secret, `d${i}`))?.metadata?.finalizers?.filter((name) => name !== 'x.io/hold') ?? null,
    });
    await rig.rest();
  }
  expect(await rig.names(secret)).toEqual([]);
  expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['x.io/hold']);
});
