import type { World } from '../../collector/simulation/world.ts';
import { generateWorkloadPlan } from './generate-workload-plan.ts';
import { runWorkloadPlan } from './run-workload-plan.ts';
import { POLICIES, WORKLOAD_FAULTS, type WorkloadPlan, WORKLOADS, type WorkloadStep } from './workload-plan.ts';

const STEPS: readonly WorkloadStep['do'][] = [
  'create',
  'scale',
  'roll',
  'delete',
  'pause',
  'resume',
  'undo',
  'deletePod',
  'failPod',
  'releasePod',
  'readoptPod',
  'stripPod',
  'loosePod',
  'deleteReplicaSet',
  'releaseReplicaSet',
  'readoptReplicaSet',
  'deleteClaim',
  'deleteNode',
  'addNode',
  'cordon',
  'uncordon',
  'deleteNamespace',
  'fault',
  'stream',
  'crash',
  'wait',
];
const STREAMS = ['cut', 'end', 'gone', 'errorEvent', 'hold'];

/** Histories of the controllers of workloads, with the collector beside them. */
export const workloadWorld: World<WorkloadPlan> = {
  generate: generateWorkloadPlan,
  run: runWorkloadPlan,
  simpler: { plans: simplerPlans, steps: (step) => simplerSteps(step as WorkloadStep) },
  regimes: [],
  expected: [
    ...STEPS.map((step) => `step ${step}`),
    ...WORKLOADS.flatMap((kind) => ['create', 'delete', 'roll'].map((what) => `${what} ${kind}`)),
    ...POLICIES.map((policy) => `policy ${policy}`),
    ...WORKLOAD_FAULTS.map((fault) => `fault ${fault}`),
    ...STREAMS.map((stream) => `stream ${stream}`),
  ],
};

function* simplerPlans({ latency, nodes }: WorkloadPlan): Generator<Partial<WorkloadPlan>> {
  if (latency.oneIn > 0) yield { latency: { ...latency, oneIn: 0, maxMs: 0 } };
  if (latency.lagMs !== undefined) yield { latency: { oneIn: latency.oneIn, maxMs: latency.maxMs } };
  if (nodes > 1) yield { nodes: 1 };
}

function* simplerSteps(step: WorkloadStep): Generator<WorkloadStep> {
  if (step.do === 'create') {
    const { strategy, management, claims, indexed, ttl, grace, ...plain } = step;
    if ([strategy, management, claims, indexed, ttl, grace].some((each) => each !== undefined)) yield plain;
    if (grace !== undefined) {
      const { grace: _, ...quick } = step;
      yield quick;
    }
  }
  if (('fate' in step && step.fate !== 'fine') || ('replicas' in step && step.replicas > 1)) {
    if ('fate' in step) yield { ...step, fate: 'fine' };
    if ('replicas' in step) for (const replicas of [0, 1, 2]) if (replicas < step.replicas) yield { ...step, replicas };
  }
  if ('policy' in step && step.policy !== 'Background') yield { ...step, policy: 'Background' };
  if ('which' in step && step.which > 0) yield { ...step, which: 0 };
  if (step.do === 'fault') {
    if (step.times > 1) yield { ...step, times: 1 };
    if (step.fault !== 'internalError') yield { ...step, fault: 'internalError' };
  }
  if (step.do === 'stream' && step.stream !== 'cut' && step.stream !== 'hold') yield { ...step, stream: 'cut' };
  if (step.do === 'crash' && step.downMs > 0) yield { ...step, downMs: 0 };
  if (step.do === 'wait') for (const ms of [1, 10, 100, 1000, 10_000]) if (ms < step.ms) yield { ...step, ms };
}
