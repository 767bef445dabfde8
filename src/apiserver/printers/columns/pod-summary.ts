import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { parseTime } from '../../../api/meta/time.ts';
import { at, booleanAt, isConditionTrue, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';

/** The values of a pod's default columns (API-437). */
export interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** Epoch ms of the end of the last run that a restart followed; undefined if unknown. */
  readonly lastRestart: number | undefined;
}

/** The sum of restarts of the containers so far. */
class Restarts {
  count = 0;
  last: number | undefined;

  add(container: unknown): void {
    this.count += numberAt(container, 'restartCount');
    const ended = parseTime(textAt(container, 'lastState', 'terminated', 'finishedAt'));
    if (ended !== undefined && (this.last === undefined || ended > this.last)) this.last = ended;
  }
}

/**
 * One text for the whole pod: the phase or its reason, overridden by the state of init containers, then by the containers from last to
 * first, and finally by a deletion in progress.
 */
export function summarizePod(pod: KubeObject): PodSummary {
  const conditions = listAt(pod, 'status', 'conditions');
  const init = initContainers(pod);
  const restartableNames = restartableInitContainers(pod);
  let restarts = init.restarts;
  let ready = init.ready;
  let reason = init.reason ?? phaseReason(pod, conditions);

  if (init.reason === undefined || isConditionTrue(conditions, 'Initialized')) {
    const main = mainContainers(pod, { reason, restarts: init.restartable });
    restarts = main.restarts;
    ready += main.ready;
    reason = main.reason;
    if (reason === 'Completed') {
      if (main.running && isConditionTrue(conditions, 'Ready')) reason = 'Running';
      else if (main.failure !== undefined) reason = main.failure;
      else if (main.running) reason = 'NotReady';
    }
  }
  return {
    ready,
    total: listAt(pod, 'spec', 'containers').length + restartableNames.size,
    reason: deletionReason(pod) ?? reason,
    restarts: restarts.count,
    lastRestart: restarts.last,
  };
}

function phaseReason(pod: KubeObject, conditions: readonly unknown[]): string {
  const gated = conditions.some(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  if (gated) return 'SchedulingGated';
  return textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

function deletionReason(pod: KubeObject): string | undefined {
  if (!isSet(pod, 'metadata', 'deletionTimestamp')) return undefined;
  if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const phase = textAt(pod, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Failed' ? undefined : 'Terminating';
}

/** Init containers that run beside the main ones (sidecars). */
function restartableInitContainers(pod: KubeObject): ReadonlySet<string> {
  const names = listAt(pod, 'spec', 'initContainers')
    .filter((container) => textAt(container, 'restartPolicy') === 'Always')
    .map((container) => textAt(container, 'name'));
  return new Set(names);
}

interface InitSummary {
  /** Set if an init container delays the pod. */
  readonly reason: string | undefined;
  readonly ready: number;
  readonly restarts: Restarts;
  /** Restarts of sidecars only. They still count once the main containers run. */
  readonly restartable: Restarts;
}

function initContainers(pod: KubeObject): InitSummary {
  const sidecars = restartableInitContainers(pod);
  const restarts = new Restarts();
  const restartable = new Restarts();
  let ready = 0;
  for (const [index, container] of listAt(pod, 'status', 'initContainerStatuses').entries()) {
    const isSidecar = sidecars.has(textAt(container, 'name'));
    restarts.add(container);
    if (isSidecar) restartable.add(container);
    const terminated = at(container, 'state', 'terminated');
    if (isSet(terminated) && numberAt(terminated, 'exitCode') === 0) continue;
    if (isSidecar && booleanAt(container, 'started')) {
      if (booleanAt(container, 'ready')) ready++;
      continue;
    }
    const waiting = textAt(container, 'state', 'waiting', 'reason');
    let reason = `Init:${index}/${listAt(pod, 'spec', 'initContainers').length}`;
    if (isSet(terminated)) reason = `Init:${terminationReason(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') reason = `Init:${waiting}`;
    return { reason, ready, restarts, restartable };
  }
  return { reason: undefined, ready, restarts, restartable };
}

interface MainSummary {
  readonly reason: string;
  /** The reason of a container that ended with an error. It takes precedence over `Completed`. */
  readonly failure: string | undefined;
  readonly running: boolean;
  readonly ready: number;
  readonly restarts: Restarts;
}

function mainContainers(pod: KubeObject, start: { reason: string; restarts: Restarts }): MainSummary {
  let { reason } = start;
  let failure: string | undefined;
  let running = false;
  let ready = 0;
  for (const container of listAt(pod, 'status', 'containerStatuses').toReversed()) {
    start.restarts.add(container);
    const waiting = textAt(container, 'state', 'waiting', 'reason');
    const terminated = at(container, 'state', 'terminated');
    if (waiting !== '') {
      reason = waiting;
    } else if (isSet(terminated)) {
      reason = terminationReason(terminated);
      if (numberAt(terminated, 'exitCode') !== 0) failure = reason;
    } else if (booleanAt(container, 'ready') && isSet(container, 'state', 'running')) {
      running = true;
      ready++;
    }
  }
  return { reason, failure, running, ready, restarts: start.restarts };
}

function terminationReason(terminated: unknown): string {
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal');
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
}
