import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { sleep } from '../../src/base/time/clock.ts';
import { goBackInTime } from './back-in-time.ts';
import { backup } from './backup.ts';
import { type Fault, late, pathNotFound, refuse, successStatus } from './faults.ts';
import { holdIntake } from './hold.ts';
import { RESUME_DELETIONS } from '../../src/collector/breaker/held-deletions.ts';
import { clusterRole, configMap, namespace, refTo, refToNothing, secret, type TestKind, widget } from './kinds.ts';
import type { Rig } from './rig.ts';

/** Makes a collector give the reasons that the usual scenarios do not. One runs when they begin. */
export type Scene = (rig: Rig, withoutCollector: WithoutCollector) => Promise<unknown>;
/** Does something while no collector runs; the next one sees only what is left. */
type WithoutCollector = (work: () => Promise<unknown>) => Promise<void>;

/** A resource that the collector of these scenes ignores. */
export const gadget: TestKind = {
  kind: 'Gadget',
  gvr: { group: 'example.com', version: 'v1', resource: 'gadgets' },
  namespaced: true,
  body: {},
};
/** Served as a plain object. */
export const definition: TestKind = {
  kind: 'CustomResourceDefinition',
  gvr: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  namespaced: false,
  body: {},
};

const HOLD = 'x.io/hold';

/** Somebody else changes the metadata right before a request arrives. */
function changedBefore(rig: Rig, kind: TestKind, name: string, metadata: () => Record<string, unknown>): Fault {
  return async (request, next) => {
    const body = { metadata: metadata() };
    await rig.client.patch(rig.at(kind, name), { type: 'application/merge-patch+json', body });
    return next(request);
  };
}

/** The watch of a resource breaks, and can only begin again with a list. */
async function listedAnew(
  rig: Rig,
  resource: string,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  rig.faults.on({ target: new RegExp(`/${resource}\\?.*resourceVersion=`) }, refuse(410, 'Expired'), 1);
  rig.streams.cut(new RegExp(`/${resource}`));
  await meanwhile();
  await rig.advance(10_000);
  await rig.rest();
}

/** An owner that waits for a dependent that somebody holds. */
async function waitingOwner(rig: Rig): Promise<KubeObject> {
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'held', { owners: [refTo(owner, { block: true })], finalizers: [HOLD] });
  await rig.delete(configMap, 'owner', 'Foreground');
  await rig.rest();
  return owner;
}

/** Two that own and block each other. */
async function circle(rig: Rig): Promise<void> {
  const one = await rig.create(configMap, 'one');
  const two = await rig.create(configMap, 'two', { owners: [refTo(one, { block: true })] });
  await rig.patch(configMap, 'one', { ownerReferences: [refTo(two, { block: true })] });
}

export const scenes: Readonly<Record<string, Scene>> = {
  'a dependent that comes after its owner was orphaned': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
  },
  'owners that a list lacks, one and many': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    await listedAnew(rig, 'configmaps', () => rig.delete(configMap, 'owner'));
    for (let i = 0; i < 60; i++) await rig.create(configMap, `many-${i}`);
    await rig.rest();
    const all = { gvr: configMap.gvr, namespace: 'default' };
    await listedAnew(rig, 'configmaps', () => rig.wait(rig.client.deleteCollection(all)));
  },
  'more dependents than a minute may delete': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 42; i++) await rig.create(secret, `d-${i}`, { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    const id = rig.logger.lines.find(({ fields }) => fields['reason'] === 'DeletionsHeld')?.fields['id'];
    const body = { metadata: { annotations: { [RESUME_DELETIONS]: id } } };
    const target = { gvr: namespace.gvr, name: 'kube-system' };
    await rig.wait(rig.client.patch(target, { type: 'application/merge-patch+json', body }));
    await rig.advance(6000);
    await rig.rest();
  },
  'a resource that vanishes and comes back': async (rig) => {
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // Nothing is forgotten where nothing is remembered.
    const gone = await rig.create(configMap, 'gone');
    await rig.create(secret, 'held', { owners: [refTo(gone)], finalizers: [HOLD] });
    await rig.delete(configMap, 'gone');
    await rig.rest();
    rig.unserve(widget);
    await rig.advance(60_000);
    rig.serve(widget);
    await rig.advance(60_000);
  },
  'a definition that is made': async (rig) => {
    await rig.create(definition, 'widgets.example.com');
    await rig.advance(2000);
  },
  'a server that goes back in time': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)], finalizers: [HOLD] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await goBackInTime(rig, 'configmaps');
    await rig.rest();
  },
  'a 404 about an object that its watch shows': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.faults.on({ target: /secrets\/d/ }, refuse(404, 'NotFound', { details: { name: 'd', kind: 'secrets' } }), 4);
    await rig.delete(configMap, 'owner');
    await rig.rest();
  },
  'a server that is away before a deletion was shown': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    const back = holdIntake(rig, /\/secrets\?/);
    rig.streams.cut(/\/secrets\?/);
    await rig.delete(configMap, 'owner');
    await rig.settle();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'), 1);
    rig.streams.cut(/\/configmaps\?/);
    await rig.advance(1000);
    back();
    await rig.advance(10_000);
    await rig.rest();
  },
  'objects that a restored server shows as they were before they were deleted': async (rig) => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['orphan', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(403, 'Forbidden'), 1);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    await restore();
    await rig.rest();
  },
  'an object that gets another owner at each look': async (rig) => {
    const nobody = (n: number) => refToNothing(configMap, `nobody-${n}`);
    let looks = 0;
    rig.faults.on(
      { method: 'GET', target: /configmaps\/nobody-/ },
      async (request, next) => {
        const body = { metadata: { ownerReferences: [nobody(++looks)] } };
        await rig.client.patch(rig.at(secret, 'd'), { type: 'application/merge-patch+json', body });
        await sleep(rig.clock, 10);
        return next(request);
      },
      40,
    );
    await rig.create(secret, 'd', { owners: [nobody(0)] });
    await rig.rest();
  },
  'a dependent that comes after its owner is gone': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'held', { owners: [refTo(owner)], finalizers: [HOLD] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
  },
  'an object that loses the owner that kept it': async (rig) => {
    const owner = await waitingOwner(rig);
    const solid = await rig.create(configMap, 'solid');
    await rig.create(secret, 'd', { owners: [refTo(solid)] });
    await rig.patch(secret, 'd', { ownerReferences: [refTo(solid), refTo(owner, { block: true })] });
    await rig.rest();
    await rig.patch(secret, 'd', { ownerReferences: [refTo(owner, { block: true })] });
    await rig.rest();
  },
  'an owner that a list shows waiting': async (rig) => {
    await waitingOwner(rig);
    await listedAnew(rig, 'configmaps');
  },
  'an object that a list shows changed': async (rig) => {
    const owner = await waitingOwner(rig);
    const solid = await rig.create(configMap, 'solid');
    await rig.create(secret, 'd', { owners: [refTo(solid)] });
    await rig.patch(secret, 'd', { ownerReferences: [refTo(solid), refTo(owner, { block: true })] });
    await rig.rest();
    await listedAnew(rig, 'secrets', () => rig.patch(secret, 'd', { labels: { a: 'b' } }));
  },
  'an owner that is seen late, where a reference did not look for it': async (rig, withoutCollector) => {
    rig.faults.on({ target: /configmaps\?/ }, refuse(403, 'Forbidden'));
    await withoutCollector(async () => {
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'misled', { owners: [refTo(owner, { name: 'another' })], finalizers: [HOLD] });
    });
    await rig.advance(40_000);
    rig.faults.clear();
    await rig.advance(60_000);
  },
  'an owner of a kind that is not known': async (rig) => {
    const gone = await rig.create(configMap, 'gone');
    const unknown = refToNothing(widget, 'x', { apiVersion: 'nowhere.io/v1' });
    await rig.create(secret, 'd', { owners: [refTo(gone), unknown] });
    await rig.delete(configMap, 'gone');
    await rig.advance(1000);
  },
  'a path that does not exist': async (rig) => {
    rig.faults.on({ method: 'GET', target: /configmaps\/never/ }, pathNotFound, 1);
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.rest();
  },
  'an owner that can not be read': async (rig, withoutCollector) => {
    rig.faults.on({ target: /configmaps\?/ }, refuse(403, 'Forbidden'));
    rig.faults.on({ target: /configmaps\/owner/ }, refuse(500, 'InternalError'));
    await withoutCollector(async () => {
      const owners = [await rig.create(configMap, 'owner'), await rig.create(secret, 'gone')];
      await rig.create(secret, 'd', { owners: owners.map((owner) => refTo(owner)) });
    });
    await rig.advance(40_000);
    await rig.delete(secret, 'gone');
    await rig.advance(1000);
  },
  'a watch that is late': async (rig) => {
    rig.faults.on({ target: /secrets\?.*watch=true/ }, late(rig.clock, 50));
    rig.streams.cut(/secrets/);
    await rig.advance(2000);
    const owner = await rig.create(configMap, 'owner');
    for (const name of ['a', 'b', 'c']) await rig.create(secret, name, { owners: [refTo(owner, { block: true })] });
    await rig.rest();
    await rig.advance(1000);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
  },
  'a cluster-scoped dependent of a namespaced owner': async (rig) => {
    const gone = await rig.create(clusterRole, 'gone');
    await rig.create(clusterRole, 'd', { owners: [refTo(gone), refToNothing(configMap, 'never')] });
    await rig.delete(clusterRole, 'gone');
    await rig.rest();
  },
  'an owner whose name another object has': async (rig) => {
    await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'owner')] });
    await rig.rest();
  },
  'an object that loses its owners before it is read': async (rig) => {
    const [solid, gone] = [await rig.create(configMap, 'solid'), await rig.create(configMap, 'gone')];
    await rig.create(secret, 'd', { owners: [refTo(solid), refTo(gone)] });
    const none = changedBefore(rig, secret, 'd', () => ({ ownerReferences: null }));
    rig.faults.on({ method: 'GET', target: /secrets\/d/ }, none, 1);
    await rig.delete(configMap, 'gone');
    await rig.rest();
  },
  'a circle whose members are deleted at the same time': async (rig, withoutCollector) => {
    await circle(rig);
    await withoutCollector(async () => {
      await rig.delete(configMap, 'one', 'Foreground');
      await rig.delete(configMap, 'two', 'Foreground');
    });
    await rig.rest();
  },
  'a circle that is patched without an object in the answer': async (rig) => {
    await circle(rig);
    rig.faults.on({ method: 'PATCH', target: /configmaps/ }, successStatus, 1);
    await rig.delete(configMap, 'one', 'Foreground');
    await rig.rest();
  },
  'a dependent that can not be let go': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(500, 'InternalError'), 1);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
  },
  'an orphaned owner that can not be let go': async (rig) => {
    await rig.create(configMap, 'owner');
    rig.faults.on({ method: 'PATCH', target: /configmaps/ }, refuse(500, 'InternalError'), 1);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
  },
  'an ignored object that can not be let go': async (rig) => {
    await rig.create(gadget, 'owner');
    rig.faults.on({ method: 'PATCH', target: /gadgets/ }, refuse(500, 'InternalError'), 1);
    await rig.delete(gadget, 'owner', 'Foreground');
    await rig.advance(61_000);
  },
  'an ignored object that is always busier': async (rig) => {
    await rig.create(gadget, 'owner');
    rig.faults.on({ method: 'PATCH', target: /gadgets/ }, refuse(409, 'Conflict'), 4);
    await rig.delete(gadget, 'owner', 'Foreground');
    await rig.advance(61_000);
  },
  'a DELETE that is refused': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, refuse(403, 'Forbidden'), 1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
  },
  'a DELETE that somebody else was quicker with': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const quicker: Fault = async (request, next) => {
      await rig.client.delete(rig.at(secret, 'd'));
      return next(request);
    };
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, quicker, 1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
  },
  'an ignored object': async (rig) => {
    await rig.create(gadget, 'owner');
    await rig.delete(gadget, 'owner', 'Foreground');
    await rig.advance(31_000);
  },
  'an object that is always busier': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    let turn = 0;
    const busy = changedBefore(rig, secret, 'd', () => ({ labels: { turn: String(turn++) } }));
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, busy, 8);
    await rig.delete(configMap, 'owner');
    await rig.rest();
  },
  'references that go before the patch': async (rig) => {
    const [solid, gone] = [await rig.create(configMap, 'solid'), await rig.create(configMap, 'gone')];
    await rig.create(widget, 'd', { owners: [refTo(solid), refTo(gone)] });
    const only = changedBefore(rig, widget, 'd', () => ({ ownerReferences: [refTo(solid)] }));
    rig.faults.on({ method: 'PATCH', target: /widgets\/d/ }, only, 1);
    await rig.delete(configMap, 'gone');
    await rig.rest();
  },
  'an object that changes before what is left of its references is patched': async (rig) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    const busy = changedBefore(rig, widget, 'late', () => ({ labels: { turn: 'next' } }));
    rig.faults.on({ method: 'PATCH', target: /widgets\/late/ }, busy, 1);
    await rig.create(widget, 'late', { owners: [refTo(owner)] });
    await rig.rest();
  },
  'an owner that changes before it is read for its finalizer': async (rig) => {
    await rig.create(configMap, 'owner', { finalizers: [HOLD] });
    const busy = changedBefore(rig, configMap, 'owner', () => ({ labels: { turn: 'next' } }));
    rig.faults.on({ method: 'GET', target: /configmaps\/owner/ }, busy, 1);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
  },
  'a finalizer that goes before the patch': async (rig) => {
    await rig.create(configMap, 'owner', { finalizers: [HOLD] });
    const gone = changedBefore(rig, configMap, 'owner', () => ({ finalizers: [HOLD] }));
    rig.faults.on({ method: 'PATCH', target: /configmaps\/owner/ }, gone, 1);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
  },
};
