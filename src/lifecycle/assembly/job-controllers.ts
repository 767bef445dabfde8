import type { KubeObject } from '../../api/meta/object-meta.ts';
import { PODS } from '../pods/pod-object.ts';
import { type ControllerEntry, given } from './controller-entry.ts';

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' };
const CRON_JOBS = { group: 'batch', version: 'v1', resource: 'cronjobs' };

const isTracked = ({ metadata }: KubeObject): boolean =>
  metadata?.finalizers?.includes('batch.kubernetes.io/job-tracking') ?? false;

/** The controllers of Jobs and CronJobs. */
export const jobControllers = {
  'job-controller': {
    alias: 'job',
    // A pod may have lost its Job while no controller ran (LIFE-354).
    wakes: [{ gvr: JOBS }, { gvr: PODS, when: isTracked }],
    load: async (context, { concurrentJobSyncs: workers, compat }) => {
      const { JobController } = await import('../job/job-controller.ts');
      return new JobController({ ...context, ...given({ workers, compat }) });
    },
  },
  'cronjob-controller': {
    alias: 'cronjob',
    wakes: [{ gvr: CRON_JOBS }],
    load: async (context, { concurrentCronJobSyncs: workers }) => {
      const { CronJobController } = await import('../cronjob/cronjob-controller.ts');
      return new CronJobController({ ...context, ...given({ workers }) });
    },
  },
} as const satisfies Record<string, ControllerEntry>;
