import type { Condition } from '../../api/meta/conditions.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import {
  type Container,
  type ContainerStatus,
  isPodFinished,
  type Pod,
  type PodCondition,
  type PodStatus,
} from '../pods/pod-object.ts';
import { type PodPlan, podPlanOf } from './pod-plan.ts';

export type SimulationMode = 'schedule' | 'run';

/** The facts besides the pod that the simulator uses. */
export interface SimulationFacts {
  readonly mode: SimulationMode;
  /** Epoch ms. */
  readonly now: number;
  /** True if the pod's node exists and is ready. */
  readonly nodeRuns: boolean;
  /** For a pod without a node: its node, or the reason why there is none. */
  readonly place: () => { readonly node: string } | { readonly unschedulable: string };
}

export type SimulationDecision =
  | {
      readonly verdict: 'nothing';
      readonly reason: 'gone' | 'gated' | 'otherScheduler' | 'finished' | 'nodeGone' | 'running' | 'letGo';
    }
  | { readonly verdict: 'wait'; readonly reason: 'runs' | 'stops'; readonly untilMs: number }
  | { readonly verdict: 'bind'; readonly reason: 'fits'; readonly node: string }
  | {
      readonly verdict: 'status';
      readonly reason: 'unschedulable' | 'starts' | 'ready' | 'ended' | 'restarted' | 'stopped' | 'deadline';
      readonly status: PodStatus;
    }
  | { readonly verdict: 'delete'; readonly reason: 'stopped' };

/** Back-off before a container restarts; it doubles up to {@link MAX_BACK_OFF_MS}. */
const BACK_OFF_MS = 10_000;
const MAX_BACK_OFF_MS = 300_000;
/** The exit code of a container that is stopped: 128 + SIGTERM. */
const TERMINATED = 143;

/**
 * The part of scheduler and kubelet in the life of a pod (LIFE-531): a node, Running and Ready, a finish as its annotations say, and on
 * deletion the last status and then the DELETE without grace. All state is in the pod itself, so a restart changes nothing.
 */
export function decideSimulation(pod: Pod | undefined, facts: SimulationFacts): SimulationDecision {
  if (pod === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { nodeName = '', schedulerName = 'default-scheduler', schedulingGates } = pod.spec ?? {};
  if (nodeName === '') {
    if (pod.metadata?.deletionTimestamp || isPodFinished(pod)) return { verdict: 'nothing', reason: 'letGo' };
    if (schedulerName !== 'default-scheduler') return { verdict: 'nothing', reason: 'otherScheduler' };
    if ((schedulingGates ?? []).length > 0) return { verdict: 'nothing', reason: 'gated' };
    return decidePlace(pod, facts);
  }
  if (facts.mode === 'schedule') return { verdict: 'nothing', reason: 'running' };
  if (!facts.nodeRuns) return { verdict: 'nothing', reason: 'nodeGone' };
  if (pod.metadata?.deletionTimestamp) return decideStop(pod, facts);
  if (isPodFinished(pod)) return { verdict: 'nothing', reason: 'finished' };
  return decideRun(pod, facts);
}

function decidePlace(pod: Pod, { place, now }: SimulationFacts): SimulationDecision {
  const placed = place();
  if ('node' in placed) return { verdict: 'bind', reason: 'fits', node: placed.node };
  const before = conditionOf(pod, 'PodScheduled');
  const { unschedulable: message } = placed;
  if (before?.status === 'False' && before.message === message) return { verdict: 'nothing', reason: 'gated' };
  const conditions = merged(pod, [['PodScheduled', 'False', 'Unschedulable', message]], now);
  return { verdict: 'status', reason: 'unschedulable', status: { ...pod.status, conditions } };
}

function decideRun(pod: Pod, { now }: SimulationFacts): SimulationDecision {
  const plan = podPlanOf(pod);
  const started = startOf(pod);
  if (pod.status?.phase !== 'Running' || started === undefined) {
    return {
      verdict: 'status',
      reason: 'starts',
      status: runningStatus(pod, { plan, now, startedAt: now, restarts: 0 }),
    };
  }
  const dues: number[] = [];
  const deadline = pod.spec?.activeDeadlineSeconds;
  if (deadline !== undefined) {
    const at = (parseTime(pod.status.startTime ?? '') ?? started) + Number(deadline) * 1000;
    if (at <= now) return { verdict: 'status', reason: 'deadline', status: overdueStatus(pod, now) };
    dues.push(at);
  }
  const restarts = pod.status.containerStatuses?.[0]?.restartCount ?? 0;
  if (plan.end !== undefined) {
    const endsAt = started + plan.end.afterMs;
    const { restartPolicy = 'Always' } = pod.spec ?? {};
    const startsAgain = restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && plan.end.exitCode !== 0);
    const at = startsAgain && restarts > 0 ? endsAt + backOffMs(restarts) : endsAt;
    if (at <= now) {
      if (!startsAgain) return { verdict: 'status', reason: 'ended', status: endedStatus(pod, plan.end.exitCode, now) };
      const status = runningStatus(pod, {
        plan,
        now,
        startedAt: now,
        restarts: restarts + 1,
        lastExitCode: plan.end.exitCode,
      });
      return { verdict: 'status', reason: 'restarted', status };
    }
    dues.push(at);
  }
  const ready = readiness(pod, plan, { now, startedAt: started });
  if (ready !== (conditionOf(pod, 'Ready')?.status === 'True')) {
    return {
      verdict: 'status',
      reason: 'ready',
      status: runningStatus(pod, { plan, now, startedAt: started, restarts }),
    };
  }
  if (!ready && plan.readyAfterMs !== undefined && started + plan.readyAfterMs > now)
    dues.push(started + plan.readyAfterMs);
  if (dues.length === 0) return { verdict: 'nothing', reason: 'running' };
  return { verdict: 'wait', reason: 'runs', untilMs: Math.min(...dues) };
}

/** Containers get their stop time, at most the grace period; a pod that has stopped only waits for its finalizers. */
function decideStop(pod: Pod, { now }: SimulationFacts): SimulationDecision {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
  const graceMs = (deletionGracePeriodSeconds ?? 0) * 1000;
  const finished = isPodFinished(pod);
  if (graceMs === 0 && finished) return { verdict: 'nothing', reason: 'letGo' };
  const end = parseTime(deletionTimestamp ?? '') ?? now;
  const stopsAt = Math.min(end, end - graceMs + podPlanOf(pod).stopAfterMs);
  if (!finished && stopsAt > now) return { verdict: 'wait', reason: 'stops', untilMs: stopsAt };
  if (finished) return { verdict: 'delete', reason: 'stopped' };
  const exitCode = (pod.spec?.restartPolicy ?? 'Always') === 'Always' ? 0 : TERMINATED;
  return { verdict: 'status', reason: 'stopped', status: endedStatus(pod, exitCode, now) };
}

interface Run {
  readonly plan: PodPlan;
  readonly now: number;
  readonly startedAt: number;
  readonly restarts: number;
  readonly lastExitCode?: number;
}

function runningStatus(pod: Pod, { plan, now, startedAt, restarts, lastExitCode }: Run): PodStatus {
  const isReady = (plan.readyAfterMs ?? Infinity) <= now - startedAt || plan.readyAfterMs === 0;
  const ready = readiness(pod, plan, { now, startedAt });
  const at = formatTime(startedAt);
  const names = `[${(pod.spec?.containers ?? []).map(({ name }) => name).join(' ')}]`;
  const unready = ['ContainersNotReady', `containers with unready status: ${names}`] as const;
  const ip = addressOf(pod);
  return {
    ...pod.status,
    phase: 'Running',
    conditions: merged(
      pod,
      [
        ['PodReadyToStartContainers', 'True'],
        ['Initialized', 'True'],
        ready
          ? ['Ready', 'True']
          : isReady
            ? ['Ready', 'False', 'ReadinessGatesNotReady', gatesMessage(pod)]
            : ['Ready', 'False', ...unready],
        isReady ? ['ContainersReady', 'True'] : ['ContainersReady', 'False', ...unready],
        ['PodScheduled', 'True'],
      ],
      now,
    ),
    hostIP: HOST_IP,
    hostIPs: [{ ip: HOST_IP }],
    podIP: ip,
    podIPs: [{ ip }],
    startTime: pod.status?.startTime ?? formatTime(now),
    ...generationOf(pod),
    ...initStatuses(pod, at),
    containerStatuses: (pod.spec?.containers ?? []).map((container) => ({
      ...imageOf(pod, container),
      state: { running: { startedAt: at } },
      lastState:
        lastExitCode === undefined
          ? (statusOf(pod, container)?.lastState ?? {})
          : terminated(pod, container, { exitCode: lastExitCode, now }),
      ready: isReady,
      started: true,
      restartCount: restarts,
    })),
  };
}

function endedStatus(pod: Pod, exitCode: number, now: number): PodStatus {
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  const reason = exitCode === 0 ? 'PodCompleted' : 'PodFailed';
  return {
    ...pod.status,
    phase,
    conditions: merged(
      pod,
      [
        ['PodReadyToStartContainers', 'False'],
        exitCode === 0 ? ['Initialized', 'True', reason] : ['Initialized', 'True'],
        ['Ready', 'False', reason],
        ['ContainersReady', 'False', reason],
        ['PodScheduled', 'True'],
      ],
      now,
    ),
    startTime: pod.status?.startTime ?? formatTime(now),
    ...generationOf(pod),
    containerStatuses: (pod.spec?.containers ?? []).map((container) => ({
      ...imageOf(pod, container),
      state: terminated(pod, container, { exitCode, now }),
      lastState: statusOf(pod, container)?.lastState ?? {},
      ready: false,
      started: false,
      restartCount: statusOf(pod, container)?.restartCount ?? 0,
    })),
  };
}

/** The status of a pod that was active for longer than allowed (`pkg/kubelet/active_deadline.go`). */
function overdueStatus(pod: Pod, now: number): PodStatus {
  return {
    ...endedStatus(pod, TERMINATED, now),
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  };
}

function terminated(
  pod: Pod,
  container: Container,
  { exitCode, now }: { readonly exitCode: number; readonly now: number },
) {
  const before = statusOf(pod, container);
  const startedAt = before?.state?.running?.startedAt ?? formatTime(now);
  return {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt,
      finishedAt: formatTime(now),
      ...(before?.containerID === undefined ? {} : { containerID: before.containerID }),
    },
  };
}

function initStatuses(pod: Pod, at: string): Pick<PodStatus, 'initContainerStatuses'> {
  const init = pod.spec?.initContainers ?? [];
  if (init.length === 0) return {};
  const completed = { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at };
  return {
    initContainerStatuses: init.map((container) => ({
      ...imageOf(pod, container),
      ...(container.restartPolicy === 'Always'
        ? { state: { running: { startedAt: at } }, started: true }
        : { state: { terminated: completed }, started: false }),
      lastState: {},
      ready: true,
      restartCount: 0,
    })),
  };
}

function imageOf({ metadata }: Pod, { name = '', image = '' }: Container) {
  return { name, image, imageID: `simulated://${image}`, containerID: `simulated://${metadata?.uid ?? ''}/${name}` };
}

function statusOf(pod: Pod, container: Container): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === container.name);
}

function startOf(pod: Pod): number | undefined {
  return parseTime(pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
}

function readiness(
  pod: Pod,
  { readyAfterMs }: PodPlan,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): boolean {
  if (readyAfterMs === undefined || readyAfterMs > now - startedAt) return false;
  return openGates(pod).length === 0;
}

function openGates(pod: Pod): readonly string[] {
  const gates = (pod.spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
  return gates.filter((type) => conditionOf(pod, type)?.status !== 'True');
}

function gatesMessage(pod: Pod): string {
  const said = openGates(pod).map((type) =>
    conditionOf(pod, type) === undefined
      ? `corresponding condition of pod readiness gate "${type}" does not exist.`
      : `the status of pod readiness gate "${type}" is not "True", but ${conditionOf(pod, type)?.status ?? ''}`,
  );
  return said.join(', ');
}

function conditionOf(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

type Words = readonly [type: string, status: 'True' | 'False', reason?: string, message?: string];

/** The kubelet's current conditions; others stay, and a time changes only with its status. */
function merged(pod: Pod, wanted: readonly Words[], now: number): PodCondition[] {
  const types = new Set(wanted.map(([type]) => type));
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !types.has(type));
  const own = wanted.map(([type, status, reason, message]) => {
    const before = conditionOf(pod, type);
    const condition: Condition & PodCondition = {
      type,
      status,
      lastProbeTime: null,
      lastTransitionTime: (before?.status === status ? before.lastTransitionTime : undefined) ?? formatTime(now),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...generationOf(pod),
    };
    return condition;
  });
  return [...own, ...others];
}

function generationOf({ metadata }: Pod): { observedGeneration?: number } {
  return metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

function backOffMs(restarts: number): number {
  return Math.min(MAX_BACK_OFF_MS, BACK_OFF_MS * 2 ** Math.min(restarts - 1, 5));
}

const HOST_IP = '192.0.2.1';

/** A fictitious address in 10.128.0.0/9, derived from the pod's uid. */
function addressOf({ metadata, status }: Pod): string {
  const there = status?.['podIP'];
  if (typeof there === 'string' && there !== '') return there;
  let hash = 0x811c9dc5;
  for (const letter of metadata?.uid ?? '') hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return `10.${128 + (hash & 127)}.${(hash >>> 7) & 255}.${1 + ((hash >>> 15) % 254)}`;
}
