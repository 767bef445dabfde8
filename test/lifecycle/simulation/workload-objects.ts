import type { Fate, UserStep, WorkloadRef } from './workload-plan.ts';

const SIM: Readonly<Record<Fate, Readonly<Record<string, string>>>> = {
  fine: {},
  slow: { 'kubegc.io/sim-ready-after': '3s' },
  never: { 'kubegc.io/sim-ready-after': 'never' },
  fails: { 'kubegc.io/sim-fail-after': '4s' },
  runs: { 'kubegc.io/sim-succeed-after': 'never' },
};

export const namespaceOf = ({ name }: Pick<WorkloadRef, 'name'>): string => (name === 'a' ? 'default' : 'team');
export const appOf = ({ kind, name }: WorkloadRef): string => `${kind.toLowerCase()}-${name}`;

export function templateOf(
  ref: WorkloadRef,
  { image, fate, grace }: { readonly image: string; readonly fate: Fate; readonly grace?: number | undefined },
) {
  const isJobs = ref.kind === 'Job' || ref.kind === 'CronJob';
  return {
    metadata: { labels: { app: appOf(ref) }, annotations: SIM[fate] },
    spec: {
      terminationGracePeriodSeconds: grace ?? 0,
      ...(isJobs ? { restartPolicy: 'Never' } : {}),
      containers: [{ name: 'c', image }],
    },
  };
}

/** The object that a step creates. */
export function workloadOf(step: UserStep & { readonly do: 'create' }) {
  const { kind, replicas, fate, strategy, management, claims, indexed, ttl, grace } = step;
  const template = templateOf(step, { image: 'one', fate, grace });
  const labels = { app: appOf(step) };
  const selector = { matchLabels: labels };
  const metadata = { name: step.name, labels };
  switch (kind) {
    case 'Deployment':
      return {
        metadata,
        spec: {
          replicas,
          selector,
          template,
          revisionHistoryLimit: 2,
          ...(strategy === undefined
            ? {}
            : { strategy: strategy === 'Recreate' ? { type: strategy } : { rollingUpdate: strategy } }),
        },
      };
    case 'ReplicaSet':
      return { metadata, spec: { replicas, selector, template } };
    case 'StatefulSet':
      return {
        metadata,
        spec: {
          replicas,
          selector,
          template,
          serviceName: step.name,
          revisionHistoryLimit: 2,
          ...(management === undefined ? {} : { podManagementPolicy: management }),
          ...(claims === undefined
            ? {}
            : {
                persistentVolumeClaimRetentionPolicy: { whenDeleted: claims, whenScaled: claims },
                volumeClaimTemplates: [
                  {
                    metadata: { name: 'data' },
                    spec: {
                      accessModes: ['ReadWriteOnce'],
                      storageClassName: '',
                      resources: { requests: { storage: '1Gi' } },
                    },
                  },
                ],
              }),
        },
      };
    case 'DaemonSet':
      return { metadata, spec: { selector, template, revisionHistoryLimit: 2 } };
    case 'Job':
      return { metadata, spec: jobSpec({ replicas, template, indexed, ttl }) };
    case 'CronJob':
      return {
        metadata,
        spec: {
          schedule: '* * * * *',
          successfulJobsHistoryLimit: 2,
          failedJobsHistoryLimit: 1,
          jobTemplate: { metadata: { labels }, spec: jobSpec({ replicas: 1, template, ttl }) },
        },
      };
  }
}

function jobSpec(job: {
  readonly replicas: number;
  readonly template: object;
  readonly indexed?: true | undefined;
  readonly ttl?: number | undefined;
}) {
  const { replicas, template, indexed, ttl } = job;
  return {
    parallelism: Math.max(1, Math.ceil(replicas / 2)),
    completions: Math.max(1, replicas),
    backoffLimit: 2,
    template,
    ...(indexed === undefined ? {} : { completionMode: 'Indexed' }),
    ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
  };
}
