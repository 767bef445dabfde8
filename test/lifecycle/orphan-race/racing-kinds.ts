import type { GroupVersionResource } from '../../../src/api/meta/group-version-kind.ts';
import type { Service } from '../../../src/base/service.ts';
import { DaemonSetController } from '../../../src/lifecycle/daemonset/daemonset-controller.ts';
import { DeploymentController } from '../../../src/lifecycle/deployment/deployment-controller.ts';
import { JobController } from '../../../src/lifecycle/job/job-controller.ts';
import type { SharedContext } from '../../../src/lifecycle/kit/shared-informers.ts';
import { ReplicaSetController } from '../../../src/lifecycle/replicaset/replicaset-controller.ts';
import { ReplicationControllerController } from '../../../src/lifecycle/replicaset/replicationcontroller-controller.ts';
import { StatefulSetController } from '../../../src/lifecycle/statefulset/statefulset-controller.ts';
import { gvrOf, pods } from '../embedded-cluster.ts';
import { daemonSets, deployments, replicaSets, replicationControllers, statefulSets, template } from '../workloads.ts';

/** A controller that adopts, an owner of its kind, and the dependents of that owner. */
export interface RacingKind {
  readonly gvr: GroupVersionResource;
  readonly spec: object;
  readonly dependents: GroupVersionResource;
  /** Dependents that the owner asks for. */
  readonly count: number;
  readonly controllers: readonly ((context: SharedContext) => Service)[];
  /** Nodes that there are. */
  readonly nodes?: number;
}

const labels = { app: 'web' };
const selector = { matchLabels: labels };

export const racingKinds = {
  ReplicaSet: {
    gvr: replicaSets,
    spec: { replicas: 3, selector, template: template(labels) },
    dependents: pods,
    count: 3,
    controllers: [(context) => new ReplicaSetController(context)],
  },
  ReplicationController: {
    gvr: replicationControllers,
    spec: { replicas: 3, selector: labels, template: template(labels) },
    dependents: pods,
    count: 3,
    controllers: [(context) => new ReplicationControllerController(context)],
  },
  Deployment: {
    gvr: deployments,
    // While another owner's name is on its ReplicaSet, a Deployment makes a second one, which goes with the history.
    spec: { replicas: 0, revisionHistoryLimit: 0, selector, template: template(labels) },
    dependents: replicaSets,
    count: 1,
    controllers: [(context) => new DeploymentController(context), (context) => new ReplicaSetController(context)],
  },
  StatefulSet: {
    gvr: statefulSets,
    // Parallel, because nothing makes a pod ready here.
    spec: {
      replicas: 3,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      selector,
      template: template(labels),
    },
    dependents: pods,
    count: 3,
    controllers: [(context) => new StatefulSetController(context)],
  },
  DaemonSet: {
    gvr: daemonSets,
    spec: { selector, template: template(labels) },
    dependents: pods,
    count: 3,
    controllers: [(context) => new DaemonSetController(context)],
    nodes: 3,
  },
  Job: {
    gvr: gvrOf('jobs', 'batch'),
    // By labels, because the generated selector names the uid of one Job, so that no other adopts.
    spec: {
      parallelism: 3,
      completions: 3,
      manualSelector: true,
      selector,
      template: template(labels, 'one', { restartPolicy: 'Never' }),
    },
    dependents: pods,
    count: 3,
    controllers: [(context) => new JobController(context)],
  },
} as const satisfies Record<string, RacingKind>;

export type RacingKindName = keyof typeof racingKinds;
