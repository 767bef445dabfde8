import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { defaultConfiguration, type NodeConfiguration } from '../config/node-configuration.ts';
import { ContainerManager } from '../containers/container-manager.ts';
import { signalsUnderPressure } from '../disk/pressure.ts';
import type { NodeEvent } from '../images/image-cycle.ts';
import { ImageManager } from '../images/image-manager.ts';
import { decideByThreshold } from '../images/thresholds.ts';
import { RuntimeCallError } from '../inventory/runtime.ts';
import type { KnownPod } from '../pods/pod-verdicts.ts';
import { SimulatedNode } from '../testing/simulated-node.ts';
import { NodeDaemon, type NodeDaemonOptions, type Span } from './node-daemon.ts';
import { NodeMetrics } from './node-metrics.ts';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
};

/** A daemon on a simulated node, whose time a test moves. */
function start(
  mode: NodeDaemonOptions['mode'],
  settings: Partial<NodeConfiguration> = {},
  prepare: (node: SimulatedNode) => void = () => undefined,
) {
  const node = new SimulatedNode();
  node.capacity = 1000;
  prepare(node);
  const configuration = { ...defaultConfiguration, podLogsDir: '/pods', containerLogsDir: '/containers', ...settings };
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const metrics = new MemoryMetrics();
  const events: NodeEvent[] = [];
  const spans: Span[] = [];
  const known: KnownPod[] = [];
  const images = new ImageManager({
    runtime: node,
    configuration,
    clock,
    readDisk: (settled) => node.readDisk(settled),
    memory: new Map(['i0', 'i1'].map((id) => [id, { firstDetected: 0n, lastUsed: undefined }])),
  });
  const daemon = new NodeDaemon({
    configuration,
    mode,
    clock,
    logger,
    metrics: new NodeMetrics(metrics, configuration.metrics.kubeletNames),
    images,
    containers: new ContainerManager({ runtime: node, files: node, configuration, clock, knownPods: () => known }),
    memoryFile: undefined,
    readDisks: async () => ({ nodefs: await node.readDisk(), imagefs: await node.readDisk(), layout: 'one' }),
    containerEvents: (until) => node.containerEvents(until),
    emit: (event) => void events.push(event),
    onSpan: (span) => void spans.push(span),
  });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1000) {
      await turns();
      clock.advance(Math.min(1000, left));
    }
    await turns();
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { node, images, clock, events, spans, known, metrics, logger, daemon, pass, end };
}

const image = (node: SimulatedNode, id: string, size: number): void =>
  node.addImage({ id, tags: [`team/${id}:1`], layers: new Map([[id, size]]) });
const dead = (node: SimulatedNode): void =>
  void node.containers.set('dead', {
    id: 'dead',
    sandboxId: 's',
    podUid: 'gone',
    name: 'app',
    imageId: 'i',
    state: 'exited',
    createdAt: 0n,
  });
const times = (calls: readonly string[], call: string): number => calls.filter((each) => each === call).length;

describe('node collection as a service', () => {
  it('NODE-060, 080, 034 runs images every 5 minutes and containers every minute, both at once when it starts', async () => {
    const it = start('standalone');
    await turns();
    expect([times(it.node.calls, 'listImages'), times(it.node.calls, 'listSandboxes'), it.daemon.ready]).toEqual([
      1,
      1,
      true,
    ]);
    await it.pass(299_000);
    expect([times(it.node.calls, 'listImages'), times(it.node.calls, 'listSandboxes')]).toEqual([1, 5]);
    await it.pass(2_000);
    expect(times(it.node.calls, 'listImages')).toBe(2);
    await it.end();
  });

  it('NODE-140 leaves containers to a kubelet, and removes nothing in an audit', async () => {
    const beside = start('besideKubelet', {}, (node) => {
      image(node, 'i0', 900);
      dead(node);
    });
    await beside.pass(1000);
    expect([beside.node.images.size, beside.node.containers.size]).toEqual([0, 1]);
    await beside.end();
    const audit = start('audit', { dryRun: true }, (node) => {
      image(node, 'i0', 900);
      dead(node);
    });
    await audit.pass(1000);
    expect([audit.node.images.size, audit.node.containers.size]).toEqual([1, 1]);
    expect(audit.logger.lines.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['would remove images', 'would remove containers']),
    );
    await audit.end();
  });

  it('NODE-133 reports each pass as a span with the name that the kubelet gives it, and of its error', async () => {
    const it = start('standalone', {}, (node) => {
      node.before = (call) => {
        if (call === 'listImages') throw new RuntimeCallError(call, 'unreachable', 'no runtime');
      };
    });
    await turns();
    expect(it.spans.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'Containers/GarbageCollect', durationMs: expect.any(Number), error: undefined },
      { name: 'Images/GarbageCollect', durationMs: expect.any(Number), error: 'no runtime' },
    ]);
    await it.end();
  });

  it('NODE-090 removes older dead attempts of a container within a minute, and keeps the newest', async () => {
    const it = start('standalone');
    await turns();
    for (const attempt of [0, 1, 2, 3]) {
      const state = attempt === 3 ? 'running' : 'exited';
      const id = `a${attempt}`;
      const createdAt = BigInt(attempt);
      it.node.containers.set(id, {
        id,
        sandboxId: 's',
        podUid: 'p',
        name: 'app',
        imageId: 'i',
        state,
        createdAt,
        attempt,
      });
    }
    it.known.push({ uid: 'p', mirrorOf: undefined, phase: 'Running', reason: '', deleted: false, images: [] });
    await it.pass(61_000);
    expect([...it.node.containers.keys()]).toEqual(['a2', 'a3']);
    await it.end();
  });

  it('NODE-121, 120 EV-01 emits events for failing cycles as the kubelet does', async () => {
    const it = start('standalone', {}, (node) => {
      node.before = (call) => {
        if (call === 'listImages' || call === 'listContainers')
          throw new RuntimeCallError(call, 'unreachable', 'no runtime');
      };
    });
    await turns();
    expect(it.events.map(({ reason }) => reason)).toEqual(['ContainerGCFailed']);
    await it.pass(300_500);
    expect(it.events.filter(({ reason }) => reason === 'ImageGCFailed')).toEqual([
      { reason: 'ImageGCFailed', message: 'no runtime' },
    ]);
    await it.end();
  });

  it('NODE-068 EV-03, EV-04 emits FreeDiskSpaceFailed and InvalidDiskCapacity each time, ImageGCFailed from the second time', async () => {
    const full = start('besideKubelet', { accounting: 'kubelet' }, (node) => (node.otherBytes = 950));
    await full.pass(300_500);
    expect(full.events.map(({ reason }) => reason)).toEqual([
      'FreeDiskSpaceFailed',
      'FreeDiskSpaceFailed',
      'ImageGCFailed',
    ]);
    expect(full.events[1]?.message).toBe(full.events[2]?.message);
    await full.end();
    const none = start('besideKubelet', { accounting: 'kubelet' }, (node) => (node.capacity = 0));
    await none.pass(300_500);
    expect(none.events.map(({ reason }) => reason)).toEqual([
      'InvalidDiskCapacity',
      'InvalidDiskCapacity',
      'ImageGCFailed',
    ]);
    await none.end();
  });

  it('NODE-219 reports once an hour that nothing may be removed, and what holds the space', async () => {
    const it = start('besideKubelet', {}, (node) => {
      image(node, 'used', 900);
      node.containers.set('c', {
        id: 'c',
        sandboxId: 's',
        podUid: 'p',
        name: 'app',
        imageId: 'used',
        state: 'running',
        createdAt: 0n,
      });
    });
    await it.pass(3_500_000);
    expect(it.events.map(({ reason }) => reason)).toEqual(['FreeDiskSpaceFailed']);
    expect(it.events[0]?.message).toContain(
      'No image may be removed: 1 are in use (900 bytes as the runtime reports them, the largest of them team/used:1)',
    );
    await it.pass(200_000);
    expect(it.events).toHaveLength(2);
    await it.end();
  });

  it('NODE-223 looks every 30 s while the disk is near the high threshold', async () => {
    const it = start('besideKubelet', {}, (node) => (node.otherBytes = 820));
    await it.pass(91_000);
    expect(times(it.node.calls, 'listImages')).toBe(4);
    await it.end();
  });

  describe('with events of containers', () => {
    const settings = { evictionHard: {} };
    it('NODE-223 collects soon after an event when the disk is above the high threshold, not after 5 minutes', async () => {
      const it = start('standalone', settings, (node) => {
        image(node, 'i0', 300);
        node.otherBytes = 300;
      });
      await it.pass(100_000);
      it.node.otherBytes = 600;
      expect(times(it.node.calls, 'listImages')).toBe(1);
      it.node.emitEvent();
      await it.pass(12_000);
      expect(it.node.images.size).toBe(0);
      await it.end();
    });

    it('NODE-223 begins no pass for an event while the disk is below the threshold, and looks once in 10 s', async () => {
      const it = start('standalone', settings, (node) => (node.otherBytes = 300));
      await it.pass(100_000);
      for (let event = 0; event < 50; event++) {
        it.node.emitEvent();
        await it.pass(1000);
      }
      expect(times(it.node.calls, 'listImages')).toBe(1);
      await it.end();
    });

    it('NODE-223 does not begin a pass for each event when the last one could remove nothing', async () => {
      const it = start('standalone', settings, (node) => (node.otherBytes = 900));
      await it.pass(1000);
      const before = times(it.node.calls, 'listImages');
      for (let event = 0; event < 20; event++) {
        it.node.emitEvent();
        await it.pass(1000);
      }
      expect(times(it.node.calls, 'listImages')).toBe(before);
      await it.end();
    });

    it.each([
      ['in a dry run, in which a pass frees nothing', { dryRun: true }],
      ['when images are not collected at all', { imageGCHighThresholdPercent: 100 }],
    ])('NODE-223 begins no pass for events %s', async (_, more) => {
      const it = start('standalone', { ...settings, ...more }, (node) => {
        image(node, 'i0', 500);
        node.otherBytes = 500;
      });
      await it.pass(1000);
      const before = times(it.node.calls, 'listImages');
      for (let event = 0; event < 25; event++) {
        it.node.emitEvent();
        await it.pass(1000);
      }
      expect([before, times(it.node.calls, 'listImages'), times(it.node.calls, 'containerEvents')]).toEqual([1, 1, 0]);
      await it.end();
    });

    it('NODE-223 reads no events beside a kubelet, for which they are, and none of a runtime that has none', async () => {
      const beside = start('besideKubelet', settings);
      await beside.pass(1000);
      expect(times(beside.node.calls, 'containerEvents')).toBe(0);
      await beside.end();
      const without = start('standalone', settings, (node) => {
        node.eventsFail = new RuntimeCallError('container_events', 'unsupported', 'unknown method');
      });
      await without.pass(120_000);
      expect(times(without.node.calls, 'containerEvents')).toBe(1);
      await without.end();
    });

    it('NODE-223, 019 reads the events again after the stream broke off', async () => {
      const it = start('standalone', settings, (node) => {
        node.eventsFail = new RuntimeCallError('container_events', 'unreachable', 'gone');
      });
      await it.pass(95_000);
      expect(times(it.node.calls, 'containerEvents')).toBe(4);
      await it.end();
    });
  });

  it('NODE-113 begins to collect images before the default threshold of an eviction is met, because it looks every 30 s', async () => {
    const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low, evictionHard } = defaultConfiguration;
    const disk = (available: bigint) => ({ capacity: 1000n, available, inodes: 0n, inodesFree: 0n });
    // The same point by calculation; rounding lets the collection start a little earlier.
    expect(decideByThreshold(disk(151n), { high, low }).decision).toBe('due');
    const nodefs = disk(500n);
    expect(signalsUnderPressure(evictionHard, { nodefs, imagefs: disk(151n) })).toEqual([]);
    expect(signalsUnderPressure(evictionHard, { nodefs, imagefs: disk(149n) })).toEqual(['imagefs.available']);
    const it = start('besideKubelet', {}, (node) => {
      image(node, 'i0', 100);
      node.otherBytes = 720;
    });
    await it.pass(100_000);
    it.node.otherBytes = 749;
    await it.pass(31_000);
    expect([it.node.images.size, it.events]).toEqual([0, []]);
    await it.end();
  });

  it('NODE-111 reclaims under pressure before the thresholds of images are reached', async () => {
    const it = start('standalone', { imageGCHighThresholdPercent: 99, imageGCLowThresholdPercent: 98 }, (node) => {
      node.otherBytes = 300;
      image(node, 'i0', 600);
      image(node, 'i1', 20);
    });
    await it.pass(1000);
    expect(it.node.images.size).toBe(0);
    expect(
      it.metrics.value('kubegc_node_image_gc_attempts_total', {
        operation: 'delete_unused_images',
        trigger: 'eviction',
        result: 'success',
        reason: 'all_unused',
      }),
    ).toBe(1);
    await it.end();
  });

  it('NODE-069, 131, 132, 201 drops the record of a removed image, and counts passes, removals and bytes, and under the names of the kubelet when configured', async () => {
    const it = start('standalone', { metrics: { kubeletNames: true }, protectRecent: 1n, evictionHard: {} }, (node) => {
      image(node, 'i0', 500);
      image(node, 'i1', 400);
      dead(node);
    });
    await it.pass(1000);
    const labels = { operation: 'garbage_collect', trigger: 'periodic' };
    expect(
      it.metrics.value('kubegc_node_image_gc_attempts_total', { ...labels, result: 'success', reason: 'threshold' }),
    ).toBe(1);
    expect(it.metrics.value('kubegc_node_image_gc_image_deletions_total', { ...labels, result: 'success' })).toBe(1);
    expect(it.metrics.value('kubelet_image_garbage_collected_total', { reason: 'space' })).toBe(1);
    expect([...it.images.inventory.keys()]).toEqual([...it.node.images.keys()]);
    expect(it.metrics.value('kubegc_node_image_gc_image_fs_usage_percent', { phase: 'before' })).toBe(90);
    expect(
      it.metrics.value('kubegc_node_container_gc_removed_total', { kind: 'container', reason: 'pod_deleted' }),
    ).toBe(1);
    await it.end();
  });

  it('NODE-122, 123 never overlaps two passes over images, however long one takes', async () => {
    let answer: () => void = () => undefined;
    const it = start('besideKubelet', {}, (node) => {
      node.before = (call) => (call === 'listImages' ? new Promise<void>((settle) => (answer = settle)) : undefined);
    });
    await it.pass(900_000);
    expect(times(it.node.calls, 'listImages')).toBe(1);
    answer();
    await turns();
    await it.pass(299_000);
    expect(times(it.node.calls, 'listImages')).toBe(1);
    await it.pass(2_000);
    expect(times(it.node.calls, 'listImages')).toBe(2);
    answer();
    await it.end();
  });

  it('NODE-060 CF-09 collects no image with a high threshold of 100 and no maximum age, but keeps its records', async () => {
    const it = start('standalone', { imageGCHighThresholdPercent: 100, evictionHard: {} }, (node) =>
      image(node, 'i0', 1000),
    );
    await it.pass(1000);
    expect([it.node.images.size, times(it.node.calls, 'listImages')]).toEqual([1, 1]);
    await it.end();
  });
});
