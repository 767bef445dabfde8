import { describe, expect, it } from 'vitest';
import type { Clock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { defaultConfiguration, type NodeConfiguration } from '../config/node-configuration.ts';
import { HOUR, MINUTE } from '../config/go-duration.ts';
import { RuntimeCallError } from '../inventory/runtime.ts';
import { SimulatedNode } from '../testing/simulated-node.ts';
import { parseProtectPattern, type ProtectPattern } from '../patterns/protect-pattern.ts';
import { ImageManager, type ImageManagerOptions } from './image-manager.ts';

const DAY_MS = 86_400_000;

function nodeWith(...sizes: readonly number[]): SimulatedNode {
  const node = new SimulatedNode();
  node.capacity = 1000;
  for (const [index, size] of sizes.entries()) {
    const id = `i${index}`;
    node.addImage({ id, tags: [`team/app:${index}`], layers: new Map([[`l${index}`, size]]) });
  }
  return node;
}

function managerOf(
  node: SimulatedNode,
  settings: Partial<NodeConfiguration> = {},
  more: Partial<ImageManagerOptions> = {},
): { readonly manager: ImageManager; readonly clock: FakeClock } {
  const clock = new FakeClock();
  const manager = new ImageManager({
    runtime: node,
    configuration: { ...defaultConfiguration, parallelRemovals: 1, ...settings },
    clock,
    readDisk: (settled) => node.readDisk(settled),
    ...more,
  });
  return { manager, clock };
}

/** Pretends that everything was detected long ago. */
async function aged(
  node: SimulatedNode,
  settings: Partial<NodeConfiguration> = {},
  more: Partial<ImageManagerOptions> = {},
) {
  const made = managerOf(node, settings, more);
  await made.manager.detect();
  made.clock.advance(2 * DAY_MS);
  return made;
}

const methodsOf = (clock: FakeClock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  setTimer: (delayMs, fn) => clock.setTimer(delayMs, fn),
  defer: (fn) => clock.defer(fn),
});

const use = (node: SimulatedNode, imageId: string, more: { volumes?: string[] } = {}): void =>
  void node.containers.set(`c-${imageId}`, {
    id: `c-${imageId}`,
    sandboxId: 's',
    podUid: 'p',
    name: 'app',
    imageId,
    state: 'running',
    createdAt: 0n,
    ...more,
  });

describe('the image manager', () => {
  it('NODE-061 removes what is needed, and asks again who uses an image right before', async () => {
    const node = nodeWith(300, 300, 300);
    const { manager } = await aged(node);
    node.calls.length = 0;
    const result = await manager.collect('garbageCollect');
    expect(result).toMatchObject({ outcome: 'success', goal: 100n, measuredFreed: 300n });
    expect(node.calls).toEqual(['listImages', 'listContainers', 'listContainers', 'imageStatus i0', 'removeImage i0']);
  });

  it('NODE-142 spares an image that a container uses since the plan was made', async () => {
    const node = nodeWith(300, 300, 300);
    const { manager } = await aged(node);
    let lists = 0;
    node.before = (call) => {
      if (call === 'listContainers' && ++lists === 2) use(node, 'i0');
    };
    const result = await manager.collect('garbageCollect');
    expect([...node.images.keys()]).toEqual(['i0', 'i2']);
    expect(result.skipped.map(({ record, reason }) => `${record.key} ${reason}`)).toEqual(['i0 spared']);
    expect(node.violations).toEqual([]);
  });

  it('NODE-041 spares an image that was pinned since the plan was made', async () => {
    const node = nodeWith(950);
    const { manager } = await aged(node);
    node.before = (call) => {
      if (call === 'imageStatus') node.addImage({ ...node.images.get('i0')!, pinned: true });
    };
    await manager.collect('garbageCollect');
    expect([node.images.size, node.violations]).toEqual([1, []]);
  });

  it('NODE-142 spares an image that the spec of a pod names by now', async () => {
    const node = nodeWith(950);
    const named = new Set<string>();
    const { manager } = await aged(node, {}, { podImages: () => named });
    node.before = (call) => void (call === 'imageStatus' || named.add('team/app:0'));
    await manager.collect('garbageCollect');
    expect(node.images.size).toBe(1);
  });

  it('NODE-212 removes nothing before the protect lists of the cluster are known, and spares what one names by now', async () => {
    const node = nodeWith(950);
    let lists: ProtectPattern[] | undefined;
    const { manager } = await aged(node, {}, { clusterLists: () => lists });
    await manager.collect('garbageCollect');
    expect(node.images.size).toBe(1);
    lists = [];
    let reads = 0;
    node.before = (call) => {
      if (call === 'listContainers' && ++reads === 2) lists = [parseProtectPattern('team/*')];
    };
    const result = await manager.collect('garbageCollect');
    expect([node.images.size, result.skipped.map(({ reason }) => reason)]).toEqual([1, ['spared']]);
    node.before = () => undefined;
    lists = [];
    await manager.collect('garbageCollect');
    expect(node.images.size).toBe(0);
  });

  it('NODE-212 reads the labels of each image once, and only while a protect list selects labels', async () => {
    const node = nodeWith(300, 300, 350);
    node.addImage({ ...node.images.get('i0')!, labels: { tier: 'db' } });
    node.addImage({ ...node.images.get('i1')!, labels: {} });
    let lists: ProtectPattern[] = [parseProtectPattern('other/*')];
    const { manager } = await aged(node, {}, { clusterLists: () => lists, readLabels: (id) => node.imageLabels(id) });
    const reads = (): string[] =>
      node.calls
        .splice(0)
        .filter((call) => call.startsWith('imageLabels'))
        .toSorted();
    await manager.detect();
    expect(reads()).toEqual([]);
    lists = [parseProtectPattern('label:tier=db')];
    await manager.detect();
    expect(reads()).toEqual(['imageLabels i0', 'imageLabels i1', 'imageLabels i2']);
    // The labels of the last image were not there to read.
    await manager.collect('deleteUnused');
    expect([reads(), [...node.images.keys()]]).toEqual([['imageLabels i2'], ['i0', 'i2']]);
  });

  it('NODE-212 keeps an image when the runtime fails to read its labels, and removes nothing when it is unreachable', async () => {
    const node = nodeWith(300, 300);
    for (const image of node.images.values()) node.addImage({ ...image, labels: {} });
    const { manager } = await aged(node, { protect: ['label:tier=db'] }, { readLabels: (id) => node.imageLabels(id) });
    const other = nodeWith(300, 300);
    for (const image of other.images.values()) other.addImage({ ...image, labels: {} });
    const { manager: fresh } = managerOf(
      other,
      { protect: ['label:tier=db'] },
      { readLabels: (id) => other.imageLabels(id) },
    );
    other.before = (call) => {
      if (call === 'imageLabels') throw new RuntimeCallError(call, 'unreachable', 'connection refused');
    };
    await expect(fresh.collect('deleteUnused')).rejects.toThrow('connection refused');
    node.addImage({ id: 'new', tags: ['new:1'], layers: new Map([['n', 1]]), labels: {} });
    node.before = (call, id) => {
      if (call === 'imageLabels' && id === 'new') throw new RuntimeCallError(call, 'failed', 'disk failed');
    };
    const plan = await manager.plan('deleteUnused');
    expect(plan.protections.get('new')).toEqual({
      rule: 'protectList',
      detail: 'the protect list has "label:tier=db", and the labels of this image cannot be read',
    });
    expect([...plan.protections.keys()]).toEqual(['new']);
  });

  it('NODE-019 changes no record when a list fails, and removes nothing', async () => {
    const node = nodeWith(950);
    const { manager } = await aged(node);
    const before = manager.inventory;
    for (const failing of ['listImages', 'listContainers']) {
      node.before = (call) => {
        if (call === failing) throw new RuntimeCallError(call, 'unreachable', 'connection refused');
      };
      await expect(manager.collect('garbageCollect')).rejects.toThrow('connection refused');
      expect([manager.inventory === before, node.images.size]).toEqual([true, 1]);
    }
  });

  it('NODE-019 asks a runtime that does not answer once in a pass, removes nothing more, and tries the same images in the next pass', async () => {
    const node = nodeWith(300, 300, 300, 50);
    const { manager } = await aged(node);
    let silent = false;
    node.before = (call) => {
      if (silent) throw new RuntimeCallError(call, 'unreachable', `no answer to ${call}`);
      // The first image goes; from then on the runtime is silent.
      if (call === 'removeImage') silent = true;
    };
    const result = await manager.collect('deleteUnused');
    expect(result).toMatchObject({
      outcome: 'partial',
      error: 'errors in image deletion: no answer to listContainers',
      removed: [{ record: { key: 'i0' } }],
      failed: [{ record: { key: 'i1' } }],
      skipped: [{ reason: 'spared' }, { reason: 'spared' }],
    });
    expect(node.calls.slice(node.calls.indexOf('removeImage i0') + 1)).toEqual(['listContainers']);
    silent = false;
    node.before = () => undefined;
    expect((await manager.collect('deleteUnused')).removed).toHaveLength(3);
  });

  it('NODE-017, 216 goes on after a failed removal, and tries that image again after a pause that doubles', async () => {
    const node = nodeWith(950);
    const { manager, clock } = await aged(node);
    node.before = (call) => {
      if (call === 'removeImage') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    const tries: number[] = [];
    for (let minute = 0; minute < 20; minute++) {
      const result = await manager.collect('garbageCollect');
      if (result.failed.length > 0) tries.push(minute);
      clock.advance(60_000);
    }
    expect(tries).toEqual([0, 1, 3, 7, 15]);
  });

  it('NODE-049, 225 plans without removing, with what would be freed', async () => {
    const node = nodeWith(300, 300, 300);
    const { manager } = await aged(node, { dryRun: true });
    const result = await manager.collect('garbageCollect');
    expect(result.removed.map(({ record }) => record.key)).toEqual(['i0']);
    expect([node.images.size, node.calls.filter((call) => call.startsWith('remove'))]).toEqual([3, []]);
  });

  it('NODE-217 takes an unreadable container for one that may mount any image, and a vanished one for none', async () => {
    const node = nodeWith(950);
    use(node, 'other', {});
    const { manager } = managerOf(node);
    node.before = (call) => {
      if (call === 'containerStatus') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    const plan = await manager.plan('garbageCollect');
    expect([...plan.protections.values()].map(({ rule }) => rule)).toEqual(['unknownUse']);
    node.before = (call) => {
      if (call === 'containerStatus') node.containers.clear();
    };
    expect((await manager.plan('garbageCollect')).protections.size).toBe(0);
  });

  it('NODE-036 fails the detection of the kubelet on one unreadable container', async () => {
    const node = nodeWith(950);
    use(node, 'other');
    const { manager } = managerOf(node, { accounting: 'kubelet' });
    node.before = (call) => {
      if (call === 'containerStatus') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    await expect(manager.detect()).rejects.toThrow('boom');
  });

  it('NODE-031 protects an image mounted by name, and asks each container only once', async () => {
    const node = nodeWith(500, 450);
    use(node, 'i1', { volumes: ['team/app:0'] });
    const { manager } = await aged(node);
    const result = await manager.collect('deleteUnused');
    expect(result.removed).toEqual([]);
    expect(node.calls.filter((call) => call.startsWith('containerStatus'))).toEqual(['containerStatus c-i1']);
  });

  it('NODE-034, 035 takes every image for new at the start, and NODE-210 not when it remembers them', async () => {
    const node = nodeWith(950);
    const fresh = managerOf(node);
    expect((await fresh.manager.collect('garbageCollect')).skipped.map(({ reason }) => reason)).toEqual(['minimumAge']);
    const { manager } = managerOf(node, {}, { memory: new Map([['i0', { firstDetected: 0n, lastUsed: undefined }]]) });
    expect((await manager.collect('garbageCollect')).removed).toHaveLength(1);
  });

  it('NODE-063 waits the maximum age after a start in the mode of the kubelet', async () => {
    const node = nodeWith(100);
    const { manager, clock } = managerOf(node, {
      accounting: 'kubelet',
      imageMaximumGCAge: HOUR,
      imageMinimumGCAge: MINUTE,
    });
    await manager.detect();
    clock.advance(3_600_000);
    expect((await manager.collect('garbageCollect')).removed).toEqual([]);
    clock.advance(1);
    expect((await manager.collect('garbageCollect')).removed.map(({ reason }) => reason)).toEqual(['age']);
  });

  it('NODE-074 waits until space that comes back late is there, before it removes more', async () => {
    const node = nodeWith(300, 300, 300);
    node.freesLate = true;
    const { manager } = await aged(node);
    await manager.collect('garbageCollect');
    expect(node.images.size).toBe(2);
  });

  it('does not take a clock that was set forward for age', async () => {
    const node = nodeWith(950);
    const clock = new FakeClock();
    let ahead = 0;
    const { manager } = managerOf(node, {}, { clock: { ...methodsOf(clock), now: () => clock.now() + ahead } });
    await manager.detect();
    ahead = DAY_MS;
    expect((await manager.collect('garbageCollect')).removed).toEqual([]);
  });

  it('NODE-228 ends no removal that is under way, and waits for it when it stops', async () => {
    const node = nodeWith(300, 300, 350);
    const { manager } = await aged(node);
    const stop = new AbortController();
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((settle) => {
      node.before = (call) => {
        if (call !== 'removeImage') return undefined;
        settle();
        return new Promise<void>((go) => (answer = go));
      };
    });
    const pass = manager.collect('deleteUnused', stop.signal);
    await asked;
    stop.abort();
    const drained = manager.drain();
    answer();
    expect(await drained).toBe(true);
    expect((await pass).removed).toHaveLength(1);
    expect(node.images.size).toBe(2);
  });

  it('NODE-228 says so when a removal does not end within 2 minutes', async () => {
    const node = nodeWith(950);
    const { manager, clock } = await aged(node);
    const asked = new Promise<void>((settle) => {
      node.before = (call) => {
        if (call !== 'removeImage') return undefined;
        settle();
        return new Promise<void>(() => undefined);
      };
    });
    void manager.collect('garbageCollect');
    await asked;
    const drained = manager.drain();
    clock.advance(120_000);
    expect(await drained).toBe(false);
  });
});
