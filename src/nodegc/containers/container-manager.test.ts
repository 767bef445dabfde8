import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { defaultConfiguration, type NodeConfiguration } from '../config/node-configuration.ts';
import { CriRuntime } from '../cri/cri-runtime.ts';
import { runtimeOf } from '../cri/runtime.fixture.ts';
import { RuntimeService } from '../cri/runtime.generated.ts';
import { RuntimeCallError, type ContainerState } from '../inventory/runtime.ts';
import { logLinkName } from '../logs/log-plan.ts';
import type { KnownPod } from '../pods/pod-verdicts.ts';
import { SimulatedNode } from '../testing/simulated-node.ts';
import { ContainerManager } from './container-manager.ts';

const pod = (uid: string, phase = 'Running'): KnownPod => ({
  uid,
  mirrorOf: undefined,
  phase,
  reason: '',
  deleted: false,
  images: [],
});

function managerOf(
  node: SimulatedNode,
  pods: readonly KnownPod[] | undefined,
  settings: Partial<NodeConfiguration> = {},
): ContainerManager {
  const configuration = { ...defaultConfiguration, podLogsDir: '/pods', containerLogsDir: '/containers', ...settings };
  return new ContainerManager({
    runtime: node,
    files: node,
    configuration,
    clock: new FakeClock(1_000_000),
    knownPods: () => pods,
  });
}

function add(node: SimulatedNode, id: string, podUid: string, state: ContainerState = 'exited', createdAt = 0n): void {
  const logPath = `/pods/default_pod-${podUid}_${podUid}/app/${id}.log`;
  node.containers.set(id, {
    id,
    sandboxId: `s-${podUid}`,
    podUid,
    name: 'app',
    imageId: 'i',
    state,
    createdAt,
    logPath,
  });
  if (!node.sandboxes.has(`s-${podUid}`)) {
    node.sandboxes.set(`s-${podUid}`, {
      id: `s-${podUid}`,
      podUid,
      foreign: false,
      ready: state === 'running',
      createdAt: 0n,
      attempt: 0,
    });
  }
  node.files.set(logPath, { size: 1 });
  node.files.set(`${logPath}.20260101-000000`, { size: 1 });
  const link = logLinkName({ podName: `pod-${podUid}`, podNamespace: 'default', name: 'app', id });
  node.files.set(`/containers/${link}`, { size: 0, target: logPath });
}

describe('the container manager', () => {
  it('NODE-080, 089 removes logs, the link, then the container, and in the same pass what the pod left', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    const result = await managerOf(node, []).collect();
    expect(result.removed.map(({ kind }) => kind)).toEqual(['container', 'sandbox']);
    expect([node.containers.size, node.sandboxes.size, node.files.size, node.violations]).toEqual([0, 0, 0, []]);
    const order = node.calls.filter((call) => call.startsWith('remove')).map((call) => call.split(' ')[0]);
    expect(order).toEqual(['removeFile', 'removeFile', 'removeFile', 'removeContainer', 'removeSandbox']);
  });

  it('NODE-100 leaves what an unknown pod left until the first complete list', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    expect((await managerOf(node, undefined).collect()).removed).toEqual([]);
    expect(node.calls).not.toContain('list /pods');
  });

  it('NODE-043 leaves a container that runs by the time it is to be removed', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    node.before = (call, id) => {
      if (call === 'containerStatus') node.containers.set(id, { ...node.containers.get(id)!, state: 'running' });
    };
    const result = await managerOf(node, []).collect();
    expect(result.left).toEqual([{ id: 'dead-container', why: 'it runs by now' }]);
    expect([node.containers.size, node.violations]).toEqual([1, []]);
  });

  it('NODE-087 CT-19 leaves a container in an unknown state that cannot be stopped', async () => {
    const node = new SimulatedNode();
    add(node, 'unknown-one', 'gone', 'unknown');
    node.before = (call) => {
      if (call === 'stopContainer') throw new RuntimeCallError(call, 'failed', 'it does not stop');
    };
    const result = await managerOf(node, []).collect();
    expect([result.left, result.error, node.containers.size]).toEqual([
      [{ id: 'unknown-one', why: 'it does not stop' }],
      undefined,
      1,
    ]);
    node.before = () => undefined;
    await managerOf(node, []).collect();
    expect(node.containers.size).toBe(0);
  });

  it('NODE-088 meets a container again whose removal failed, and tries the others', async () => {
    const node = new SimulatedNode();
    add(node, 'first-one', 'gone');
    add(node, 'other-one', 'gone2');
    node.before = (call, id) => {
      if (call === 'removeContainer' && id === 'first-one') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    await managerOf(node, []).collect();
    expect([...node.containers.keys()]).toEqual(['first-one']);
    node.before = () => undefined;
    await managerOf(node, []).collect();
    expect(node.containers.size).toBe(0);
  });

  it('NODE-019 ends a step when the runtime does not answer at all, and goes on when it does not answer for one container', async () => {
    const node = new SimulatedNode();
    for (const id of ['first-one', 'other-one', 'third-one']) add(node, id, id);
    let silent = true;
    node.before = (call, id) => {
      if (call === 'containerStatus' && id === 'first-one')
        throw new RuntimeCallError(call, 'unreachable', 'no answer');
      if (silent && call === 'info') throw new RuntimeCallError(call, 'unreachable', 'no answer to info');
    };
    const result = await managerOf(node, []).collect();
    expect([result.error, result.left, node.containers.size]).toEqual(['no answer', [], 3]);
    expect(node.calls.filter((call) => call.startsWith('containerStatus'))).toEqual(['containerStatus first-one']);
    silent = false;
    const next = await managerOf(node, []).collect();
    expect([next.error, next.left, [...node.containers.keys()]]).toEqual([
      undefined,
      [{ id: 'first-one', why: 'no answer' }],
      ['first-one'],
    ]);
  });

  it('NODE-019 asks once for the containers of dead links when the runtime does not answer', async () => {
    const node = new SimulatedNode();
    for (const digit of ['1', '2', '3'])
      node.files.set(`/containers/x_default_app-${digit.repeat(64)}.log`, { size: 0, target: '/nowhere' });
    node.before = (call) => {
      if (call === 'containerStatus' || call === 'info') throw new RuntimeCallError(call, 'unreachable', 'no answer');
    };
    const result = await managerOf(node, undefined).collect();
    expect([result.error, node.files.size]).toEqual(['no answer', 3]);
    expect(node.calls.filter((call) => call.startsWith('containerStatus'))).toHaveLength(1);
  });

  it('NODE-089 leaves the container when its log cannot be removed', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    node.before = (call) => {
      if (call === 'removeFile')
        throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS', syscall: 'unlink' });
    };
    await managerOf(node, []).collect();
    expect(node.containers.size).toBe(1);
    expect(node.calls.some((call) => call.startsWith('removeContainer'))).toBe(false);
  });

  it('NODE-093 goes on after a sandbox that cannot be stopped, and the cycle does not fail', async () => {
    const node = new SimulatedNode();
    for (const uid of ['a', 'b'])
      node.sandboxes.set(uid, { id: uid, podUid: uid, foreign: false, ready: false, createdAt: 0n, attempt: 0 });
    node.before = (call, id) => {
      if (call === 'stopSandbox' && id === 'a') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    const result = await managerOf(node, []).collect();
    expect([[...node.sandboxes.keys()], result.error]).toEqual([['a'], undefined]);
  });

  it('NODE-016, 093 SB-06 removes a sandbox that the runtime cannot stop because it has none', async () => {
    const calls: string[] = [];
    const { endpoint, close } = await runtimeOf((router) => {
      router.service(RuntimeService, {
        listContainers: () => ({}),
        listPodSandbox: () => ({ items: [{ id: 's', state: 1, labels: { 'io.kubernetes.pod.uid': 'gone' } }] }),
        stopPodSandbox: ({ podSandboxId }) => {
          calls.push(`stop ${podSandboxId}`);
          throw new ConnectError('no such sandbox', Code.NotFound);
        },
        removePodSandbox: ({ podSandboxId }) => {
          calls.push(`remove ${podSandboxId}`);
          return {};
        },
      });
    });
    const runtime = new CriRuntime({ endpoint, timeoutMs: 60_000, clock: systemClock });
    try {
      const manager = new ContainerManager({
        runtime,
        files: new SimulatedNode(),
        configuration: defaultConfiguration,
        clock: new FakeClock(1_000_000),
        knownPods: () => [],
      });
      const { removed } = await manager.collect();
      expect(calls).toEqual(['stop s', 'remove s']);
      expect(removed.map(({ kind, id }) => [kind, id])).toEqual([['sandbox', 's']]);
    } finally {
      runtime.close();
      await close();
    }
  });

  it('NODE-094, 097 removes log directories of pods that are gone, and dead links without knowing any pod', async () => {
    const node = new SimulatedNode();
    node.files.set('/pods/default_web_u1/app/0.log', { size: 5 });
    node.files.set('/pods/default_web_u2/app/0.log', { size: 5 });
    node.files.set('/pods/notes.txt', { size: 5 });
    node.files.set(`/containers/web_default_app-${'a'.repeat(64)}.log`, { size: 0, target: '/gone' });
    await managerOf(node, undefined).collect();
    expect([...node.files.keys()].filter((path) => path.startsWith('/containers'))).toEqual([]);
    await managerOf(node, [pod('u2')]).collect();
    expect([...node.files.keys()]).toEqual(['/pods/default_web_u2/app/0.log', '/pods/notes.txt']);
  });

  it('NODE-096 leaves a dead link when the runtime does not answer for its container', async () => {
    const node = new SimulatedNode();
    node.files.set(`/containers/web_default_app-${'a'.repeat(64)}.log`, { size: 0, target: '/gone' });
    node.before = (call) => {
      if (call === 'containerStatus') throw new RuntimeCallError(call, 'unreachable', 'no answer');
    };
    await managerOf(node, undefined).collect();
    expect(node.files.size).toBe(1);
  });

  it('NODE-094 fails the cycle when the directory of pod logs cannot be read, after the other steps', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    node.before = (call, path) => {
      if (call === 'list' && path === '/pods')
        throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };
    const result = await managerOf(node, []).collect();
    expect(result.error).toBe('failed to read podLogsDirectory "/pods": EACCES: permission denied');
    expect(node.containers.size).toBe(0);
  });

  it('NODE-080 collects logs although the runtime does not list sandboxes', async () => {
    const node = new SimulatedNode();
    node.files.set('/pods/default_web_u1/app/0.log', { size: 5 });
    node.before = (call) => {
      if (call === 'listSandboxes') throw new RuntimeCallError(call, 'failed', 'boom');
    };
    const result = await managerOf(node, []).collect();
    expect([result.error, node.files.size]).toEqual(['boom', 0]);
  });

  it('NODE-111 takes terminated pods under pressure as well', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'done');
    const manager = managerOf(node, [pod('done', 'Succeeded')]);
    expect((await manager.collect()).removed).toEqual([]);
    expect((await manager.collect({ pressure: true })).removed.map(({ reason }) => reason)).toEqual([
      'pressure',
      'pressure',
    ]);
  });

  it('NODE-224 trims logs of dead containers of terminated pods, oldest first, until there is enough', async () => {
    const node = new SimulatedNode();
    add(node, 'young-one', 'done', 'exited', 5n);
    add(node, 'oldest-one', 'done', 'exited', 1n);
    add(node, 'alive-one', 'alive', 'exited', 0n);
    const manager = managerOf(node, [pod('done', 'Succeeded'), pod('alive')]);
    let asked = 0;
    const trimmed = await manager.trimDeadLogs(() => Promise.resolve(++asked > 1));
    expect(trimmed.map((path) => path.split('/').at(-1))).toEqual(['oldest-one.log', 'oldest-one.log.20260101-000000']);
    expect(node.containers.size).toBe(3);
  });

  it('NODE-049 plans without removing', async () => {
    const node = new SimulatedNode();
    add(node, 'dead-container', 'gone');
    const plan = await managerOf(node, []).plan();
    expect([plan.containers.length, plan.sandboxes.length, plan.podsKnown]).toEqual([1, 1, true]);
    expect(node.calls.some((call) => call.startsWith('remove'))).toBe(false);
  });
});
