import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { defaultConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { ContainerManager } from '../../src/nodegc/containers/container-manager.ts';
import { ImageManager } from '../../src/nodegc/images/image-manager.ts';
import type { ImageMemories, ImageMemory } from '../../src/nodegc/inventory/image-inventory.ts';
import type { Inventory } from '../../src/nodegc/inventory/image-records.ts';
import type { KnownPod } from '../../src/nodegc/pods/pod-verdicts.ts';
import { SimulatedNode } from '../../src/nodegc/testing/simulated-node.ts';

const DAY_MS = 86_400_000;
const alive: KnownPod = { uid: 'alive', mirrorOf: undefined, phase: 'Running', reason: '', deleted: false, images: [] };

/** A node with everything that a pass meets: a full disk, dead containers, sandboxes, logs, links, and what must stay. */
function fullNode(): SimulatedNode {
  const node = new SimulatedNode();
  node.capacity = 1000;
  for (let index = 0; index < 6; index++) {
    const layers = new Map([
      ['base', 50],
      [`own${index}`, 100 + index],
    ]);
    node.addImage({ id: `i${index}`, tags: [`team/app:${index}`], layers, pinned: index === 5 });
  }
  node.otherBytes = 300;
  for (const [uid, ready] of [
    ['alive', true],
    ['gone', false],
  ] as const) {
    node.sandboxes.set(`s-${uid}`, { id: `s-${uid}`, podUid: uid, foreign: false, ready, createdAt: 0n, attempt: 0 });
    for (let attempt = 0; attempt < 3; attempt++) {
      const id = `container-${uid}-${attempt}`;
      const logPath = `/pods/default_x_${uid}/${attempt}.log`;
      const state = ready && attempt === 2 ? 'running' : attempt === 1 ? 'unknown' : 'exited';
      node.containers.set(id, {
        id,
        sandboxId: `s-${uid}`,
        podUid: uid,
        name: 'app',
        imageId: ready ? 'i0' : 'i1',
        state,
        createdAt: BigInt(attempt),
        logPath,
      });
      node.files.set(logPath, { size: 1 });
      node.files.set(`${logPath}.1.gz`, { size: 1 });
    }
  }
  node.files.set(`/containers/x_default_app-${'0'.repeat(64)}.log`, { size: 0, target: '/nowhere' });
  return node;
}

/** Never answers: what a process that is killed hears of a call. */
const never = new Promise<never>(() => undefined);

/** The node as a process sees it that is killed at its call number `at`: before the call has had its effect, or after. */
function killedAt(
  node: SimulatedNode,
  at: number,
  when: 'before' | 'after',
  onKill: () => void,
): { seen: SimulatedNode; calls: () => number } {
  let calls = 0;
  const seen = new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (['addImage', 'shared'].includes(String(name))) return method;
      return async (...args: unknown[]) => {
        const number = ++calls;
        if (number > at || (number === at && when === 'before')) {
          onKill();
          return await never;
        }
        const answer = await method(...args);
        if (number < at) return answer;
        onKill();
        return await never;
      };
    },
  });
  return { seen, calls: () => calls };
}

/** Both passes, as a process makes them that may die on the way. */
async function passes(
  node: SimulatedNode,
  clock: FakeClock,
  memory: ImageMemories,
  onInventory: (inventory: Inventory) => void,
): Promise<void> {
  const configuration = {
    ...defaultConfiguration,
    podLogsDir: '/pods',
    containerLogsDir: '/containers',
    parallelRemovals: 2,
  };
  const images = new ImageManager({
    runtime: node,
    configuration,
    clock,
    readDisk: (settled) => node.readDisk(settled),
    readShared: () => Promise.resolve(node.shared()),
    memory,
  });
  const containers = new ContainerManager({
    runtime: node,
    files: node,
    configuration,
    clock,
    knownPods: () => [alive],
  });
  await containers.collect();
  onInventory(await images.detect());
  await images.collect('garbageCollect');
}

/** The rest of the node: everything that a later pass can see. */
const endOf = (node: SimulatedNode): unknown => ({
  images: [...node.images.keys()].toSorted(),
  containers: [...node.containers.values()].map(({ id, state }) => `${id} ${state}`).toSorted(),
  sandboxes: [...node.sandboxes.keys()],
  files: [...node.files.keys()].toSorted(),
  violations: node.violations,
});

describe('a process that is killed', () => {
  const remembered = new Map(
    Array.from({ length: 6 }, (_, index) => [`i${index}`, { firstDetected: BigInt(index), lastUsed: undefined }]),
  );
  const clockNow = (): FakeClock => {
    const clock = new FakeClock();
    clock.advance(DAY_MS);
    return clock;
  };

  it('NODE-228 reaches the same end after a kill -9 at every call, before its effect and after', async () => {
    const whole = fullNode();
    const { seen, calls } = killedAt(whole, Number.POSITIVE_INFINITY, 'after', () => undefined);
    await passes(seen, clockNow(), remembered, () => undefined);
    const end = endOf(whole);
    expect(end).toMatchObject({
      images: ['i0', 'i2', 'i3', 'i4', 'i5'].filter((id) => whole.images.has(id)),
      containers: ['container-alive-1 unknown', 'container-alive-2 running'],
      sandboxes: ['s-alive'],
      violations: [],
    });
    expect(whole.images.size).toBeLessThan(6);
    expect(calls()).toBeGreaterThan(40);

    for (let at = 1; at <= calls(); at++) {
      for (const when of ['before', 'after'] as const) {
        const node = fullNode();
        const clock = clockNow();
        let memory: ReadonlyMap<string, ImageMemory> = remembered;
        const killed = new Promise<void>((settle) => {
          const dying = killedAt(node, at, when, settle);
          void passes(dying.seen, clock, remembered, (known) => {
            memory = new Map([...known.values()].map((record) => [record.key, record]));
          });
        });
        await killed;
        // The next process remembers what the first had written.
        await passes(
          node,
          clock,
          new Map([...memory].map(([key, { firstDetected, lastUsed }]) => [key, { firstDetected, lastUsed }])),
          () => undefined,
        );
        expect({ at, when, end: endOf(node) }).toEqual({ at, when, end });
      }
    }
  });
});
