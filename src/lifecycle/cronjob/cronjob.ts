import type { Int64 } from '../../base/json/exact-json.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import type { OwnerKind } from '../ownership/controller-reference.ts';

export const CRON_JOBS: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'cronjobs' };
export const CRON_JOB_KIND: OwnerKind = { apiVersion: 'batch/v1', kind: 'CronJob' };
export const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

export interface ActiveJob {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface CronJobStatus {
  active?: readonly ActiveJob[];
  lastScheduleTime?: string;
  lastSuccessfulTime?: string;
}

export interface CronJob extends KubeObject {
  spec?: {
    readonly schedule?: string;
    readonly timeZone?: string | null;
    readonly startingDeadlineSeconds?: Int64 | null;
    readonly concurrencyPolicy?: string;
    readonly suspend?: boolean | null;
    readonly successfulJobsHistoryLimit?: number | null;
    readonly failedJobsHistoryLimit?: number | null;
    readonly jobTemplate?: { readonly metadata?: ObjectMeta; readonly spec?: object };
  };
  status?: CronJobStatus;
}
