import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { summarizePod } from './pod-summary.ts';

const running = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } }, ready: true };
const waiting = (reason: string) => ({ state: { waiting: { reason } }, ready: false });
const ended = (exitCode: number, more: object = {}) => ({
  state: { terminated: { exitCode, ...more } },
  ready: false,
});
const condition = (type: string, status = 'True', reason?: string) => ({ type, status, ...(reason && { reason }) });

interface PodCase {
  phase?: string;
  reason?: string;
  deleted?: boolean;
  conditions?: object[];
  init?: { spec?: object; status?: object }[];
  containers?: object[];
}

function pod({ phase = 'Running', reason, deleted, conditions = [], init = [], containers = [] }: PodCase): KubeObject {
  const named = (list: readonly (object | undefined)[]) =>
    list.flatMap((item, i) => (item === undefined ? [] : [{ name: `c${i}`, ...item }]));
  return {
    metadata: deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
    spec: { containers: named(containers.map(() => ({}))), initContainers: named(init.map(({ spec }) => spec ?? {})) },
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      conditions,
      initContainerStatuses: named(init.map(({ status }) => status)),
      containerStatuses: named(containers),
    },
  };
}

const sidecar = { restartPolicy: 'Always' };

describe('summarizePod', () => {
  const cases: readonly [string, PodCase, string, string][] = [
    ['the phase', { phase: 'Pending' }, 'Pending', '0/0'],
    ['status.reason before the phase', { phase: 'Failed', reason: 'Evicted' }, 'Evicted', '0/0'],
    [
      'scheduling gates before both',
      { phase: 'Pending', reason: 'x', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] },
      'SchedulingGated',
      '0/0',
    ],
    ['running and ready', { containers: [running, running] }, 'Running', '2/2'],
    ['waiting reason', { phase: 'Pending', containers: [waiting('ContainerCreating')] }, 'ContainerCreating', '0/1'],
    ['an empty waiting reason says nothing', { phase: 'Pending', containers: [waiting('')] }, 'Pending', '0/1'],
    ['the first container has the last word', { containers: [waiting('A'), waiting('B')] }, 'A', '0/2'],
    ['terminated reason', { containers: [ended(1, { reason: 'Error' })] }, 'Error', '0/1'],
    ['signal', { containers: [ended(137, { signal: 9 })] }, 'Signal:9', '0/1'],
    ['exit code', { containers: [ended(3)] }, 'ExitCode:3', '0/1'],
    [
      'completed beside a running one, pod ready',
      { conditions: [condition('Ready')], containers: [ended(0, { reason: 'Completed' }), running] },
      'Running',
      '1/2',
    ],
    [
      'completed beside a running one, pod not ready',
      { containers: [ended(0, { reason: 'Completed' }), running] },
      'NotReady',
      '1/2',
    ],
    [
      'completed beside a failed one',
      { containers: [ended(0, { reason: 'Completed' }), ended(1, { reason: 'OOMKilled' })] },
      'OOMKilled',
      '0/2',
    ],
    ['all completed', { phase: 'Succeeded', containers: [ended(0, { reason: 'Completed' })] }, 'Completed', '0/1'],
    ['being deleted', { deleted: true, containers: [running] }, 'Terminating', '1/1'],
    ['being deleted on a lost node', { deleted: true, reason: 'NodeLost', containers: [running] }, 'Unknown', '1/1'],
    [
      'being deleted but ended already',
      { deleted: true, phase: 'Succeeded', containers: [ended(0, { reason: 'Completed' })] },
      'Completed',
      '0/1',
    ],
    [
      'init container not begun',
      { phase: 'Pending', init: [{ status: ended(0) }, { status: waiting('PodInitializing') }], containers: [running] },
      'Init:1/2',
      '0/1',
    ],
    ['init waiting', { phase: 'Pending', init: [{ status: waiting('ErrImagePull') }] }, 'Init:ErrImagePull', '0/0'],
    ['init failed with a reason', { init: [{ status: ended(1, { reason: 'Error' }) }] }, 'Init:Error', '0/0'],
    ['init killed', { init: [{ status: ended(137, { signal: 9 }) }] }, 'Init:Signal:9', '0/0'],
    ['init failed', { init: [{ status: ended(2) }] }, 'Init:ExitCode:2', '0/0'],
    ['init done', { init: [{ status: ended(0) }], containers: [running] }, 'Running', '1/1'],
    [
      'a sidecar counts as a container',
      { init: [{ spec: sidecar, status: { ...running, started: true } }], containers: [running] },
      'Running',
      '2/2',
    ],
    [
      'a started sidecar that is not ready holds nothing back',
      { init: [{ spec: sidecar, status: { ...running, ready: false, started: true } }], containers: [running] },
      'Running',
      '1/2',
    ],
    [
      'a sidecar that has not started holds the pod back',
      { phase: 'Pending', init: [{ spec: sidecar, status: { ...running, started: false } }], containers: [running] },
      'Init:0/1',
      '0/2',
    ],
    [
      'an initialized pod shows its containers even if an init container fails again',
      {
        conditions: [condition('Initialized')],
        init: [{ status: ended(1) }],
        containers: [waiting('CrashLoopBackOff')],
      },
      'CrashLoopBackOff',
      '0/1',
    ],
  ];

  it.each(cases)('API-437 %s', (_, given, reason, ready) => {
    const summary = summarizePod(pod(given));
    expect(summary.reason).toBe(reason);
    expect(`${summary.ready}/${summary.total}`).toBe(ready);
  });

  it('API-437 restarts of the main containers, and the last of them', () => {
    const restarted = (restartCount: number, finishedAt: string) => ({
      ...running,
      restartCount,
      lastState: { terminated: { finishedAt } },
    });
    const summary = summarizePod(
      pod({ containers: [restarted(2, '2026-01-01T00:00:05Z'), restarted(3, '2026-01-01T00:00:03Z')] }),
    );
    expect(summary).toMatchObject({ restarts: 5, lastRestart: Date.UTC(2026, 0, 1, 0, 0, 5) });
  });

  it('API-437 restarts of init containers count until the pod is initialized, those of sidecars always', () => {
    const init = [
      { status: { ...ended(0), restartCount: 4 } },
      { spec: sidecar, status: { ...running, started: true, restartCount: 10 } },
    ];
    expect(summarizePod(pod({ init, containers: [running] })).restarts).toBe(10);
    const blocked = [...init, { status: { ...ended(1), restartCount: 100 } }];
    expect(summarizePod(pod({ init: blocked, containers: [running] })).restarts).toBe(114);
  });

  it('API-437 a pod without a status has a row too', () => {
    expect(summarizePod({ metadata: {}, spec: { containers: [{}] } })).toEqual({
      ready: 0,
      total: 1,
      reason: '',
      restarts: 0,
      lastRestart: undefined,
    });
  });
});
