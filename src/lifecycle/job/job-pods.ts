import { controllerReference } from '../ownership/controller-reference.ts';
import { podFromTemplate } from '../pods/pod-control.ts';
import type { Pod } from '../pods/pod-object.ts';
import { COMPLETION_INDEX, INDEX_FAILURES, type Job, JOB_KIND, TRACKING_FINALIZER } from './job.ts';

/** Maximum length of a generated name's prefix. */
const MAX_PREFIX = 58;

/** A pod of a Job, with its tracking finalizer, and for an indexed Job with its index (LIFE-351). */
export function podOfJob(job: Job, index?: { readonly value: number; readonly failures: number | undefined }): Pod {
  const jobName = job.metadata?.name ?? '';
  const pod = podFromTemplate(job.spec?.template ?? {}, jobName, controllerReference(JOB_KIND, job));
  const metadata = { ...pod.metadata, finalizers: [...(pod.metadata?.finalizers ?? []), TRACKING_FINALIZER] };
  if (index === undefined) return { ...pod, metadata };
  const value = String(index.value);
  const suffix = `-${value}-`;
  const env = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
  };
  const withIndex = <T extends object>(container: T): T => {
    const given = (container as { env?: readonly { name: string }[] }).env ?? [];
    return given.some(({ name }) => name === env.name) ? container : { ...container, env: [...given, env] };
  };
  const { containers = [], initContainers } = pod.spec ?? {};
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${jobName.slice(0, MAX_PREFIX - suffix.length)}${suffix}`,
      labels: { ...metadata.labels, [COMPLETION_INDEX]: value },
      annotations: {
        ...metadata.annotations,
        [COMPLETION_INDEX]: value,
        ...(index.failures === undefined ? {} : { [INDEX_FAILURES]: String(index.failures) }),
      },
    },
    spec: {
      ...pod.spec,
      hostname: `${jobName}-${value}`,
      containers: containers.map(withIndex),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndex) }),
    },
  };
}
