import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newConflict, newNotFound } from '../../src/api/status-error.ts';
import type { Service } from '../../src/base/service.ts';
import { CronJobController } from '../../src/lifecycle/cronjob/cronjob-controller.ts';
import { DaemonSetController } from '../../src/lifecycle/daemonset/daemonset-controller.ts';
import { DeploymentController } from '../../src/lifecycle/deployment/deployment-controller.ts';
import { JobController } from '../../src/lifecycle/job/job-controller.ts';
import type { SharedContext } from '../../src/lifecycle/kit/shared-informers.ts';
import { ReplicaSetController } from '../../src/lifecycle/replicaset/replicaset-controller.ts';
import { ReplicationControllerController } from '../../src/lifecycle/replicaset/replicationcontroller-controller.ts';
import { StatefulSetController } from '../../src/lifecycle/statefulset/statefulset-controller.ts';
import { answer, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import {
  daemonSets,
  deployments,
  merge,
  NAMESPACE,
  replicaSets,
  replicationControllers,
  statefulSets,
  template,
  Workloads,
} from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;
afterEach(() => cluster.stop());

const jobs = gvrOf('jobs', 'batch');
const cronJobs = gvrOf('cronjobs', 'batch');
const app = { app: 'web' };
const podTemplate = template(app);
const selector = { matchLabels: app };
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const neverRestart = template(app, 'one', { restartPolicy: 'Never' });
const finished = [
  { type: 'SuccessCriteriaMet', status: 'True' },
  { type: 'Complete', status: 'True' },
];
const end = '1970-01-01T00:00:30Z';

interface Owner {
  readonly kind: string;
  readonly gvr: ReturnType<typeof gvrOf>;
  readonly dependents: ReturnType<typeof gvrOf>;
  readonly controller: (context: SharedContext) => Service;
  readonly spec: object;
  /** How long it takes until there is a dependent, ms. */
  readonly dependentAfterMs?: number;
  /** A status of the dependent that changes the owner's. */
  readonly dependentStatus: object;
  /** How often a status is written when each write is a conflict. */
  readonly conflicts: number;
}
const owners: readonly Owner[] = [
  {
    kind: 'Deployment',
    gvr: deployments,
    dependents: replicaSets,
    controller: (context) => new DeploymentController(context),
    spec: { replicas: 1, selector, template: podTemplate },
    dependentStatus: { replicas: 1 },
    conflicts: 1,
  },
  {
    kind: 'ReplicaSet',
    gvr: replicaSets,
    dependents: pods,
    controller: (context) => new ReplicaSetController(context),
    spec: { replicas: 1, selector, template: podTemplate },
    dependentStatus: ready,
    conflicts: 2,
  },
  {
    kind: 'ReplicationController',
    gvr: replicationControllers,
    dependents: pods,
    controller: (context) => new ReplicationControllerController(context),
    spec: { replicas: 1, selector: app, template: podTemplate },
    dependentStatus: ready,
    conflicts: 2,
  },
  {
    kind: 'StatefulSet',
    gvr: statefulSets,
    dependents: pods,
    controller: (context) => new StatefulSetController(context),
    spec: { replicas: 1, serviceName: 'web', selector, template: podTemplate },
    dependentStatus: ready,
    conflicts: 2,
  },
  {
    kind: 'DaemonSet',
    gvr: daemonSets,
    dependents: pods,
    controller: (context) => new DaemonSetController(context),
    spec: { selector, template: podTemplate },
    dependentStatus: ready,
    conflicts: 2,
  },
  {
    kind: 'Job',
    gvr: jobs,
    dependents: pods,
    controller: (context) => new JobController(context),
    spec: { template: neverRestart },
    dependentStatus: ready,
    conflicts: 1,
  },
  {
    kind: 'CronJob',
    gvr: cronJobs,
    dependents: jobs,
    controller: (context) => new CronJobController(context),
    spec: { schedule: '*/1 * * * *', jobTemplate: { spec: { template: neverRestart } } },
    dependentAfterMs: 61_000,
    dependentStatus: { conditions: finished, startTime: end, completionTime: end, succeeded: 1 },
    conflicts: 1,
  },
];
const refusals = [
  { state: 'was changed', refuse: newConflict },
  { state: 'is gone', refuse: newNotFound },
];

describe('a controller whose cache of owners is stale', () => {
  it.each(owners.flatMap((owner) => refusals.map((refusal) => ({ ...owner, ...refusal }))))(
    'LIFE-009 decides nothing from a $kind until its cache shows that it $state',
    async ({
      gvr,
      dependents,
      controller,
      spec,
      dependentAfterMs = 2000,
      dependentStatus,
      conflicts,
      state,
      refuse,
    }) => {
      cluster = await EmbeddedCluster.start();
      work = new Workloads(cluster);
      await cluster.runShared(controller);
      await cluster.create({ gvr: gvrOf('nodes') }, { metadata: { name: 'node' } });
      await work.create(gvr, 'web', { spec });
      await cluster.clock.advanceAsync(dependentAfterMs);
      const [dependent] = await work.list(dependents);
      const { name = '' } = dependent?.metadata ?? {};
      let statusWrites = 0;
      cluster.fault = async (request, next) => {
        if (request.method === 'PUT' && request.target.endsWith(`/${gvr.resource}/web/status`)) {
          statusWrites++;
          const { code, status } = refuse(gvr, 'web');
          return answer(code, status);
        }
        if (request.method !== 'GET' || !request.target.endsWith(`/${gvr.resource}/web`)) return next(request);
        // The server is far ahead of the watch.
        const body = JSON.parse(Buffer.from((await next(request)).body as Uint8Array).toString()) as KubeObject;
        return answer(200, { ...body, metadata: { ...body.metadata, resourceVersion: '999999' } });
      };
      cluster.requests.length = 0;
      await cluster.wait(
        cluster.client.patch(
          { gvr: dependents, namespace: NAMESPACE, name, subresource: 'status' },
          { type: merge, body: { status: dependentStatus } },
        ),
      );
      for (let round = 0; round < 10; round++) {
        await work.patch(dependents, name, { metadata: { annotations: { round: String(round) } } }, merge);
        await cluster.clock.advanceAsync(100);
      }
      await work.delete(dependents, name, { propagationPolicy: 'Background', gracePeriodSeconds: 0 });
      await cluster.clock.advanceAsync(20_000);
      expect(statusWrites).toBe(state === 'was changed' ? conflicts : 1);
      expect(cluster.requests.filter((request) => request.startsWith('POST') && !request.includes('/events'))).toEqual(
        [],
      );
    },
  );
});
