import type { Pod } from '../pods/pod-object.ts';
import type { FailurePolicyRule, Job } from './job.ts';

interface FailureVerdict {
  /** True if it counts against the limits. */
  readonly counts: boolean;
  /** The reason if this failure fails the Job. */
  readonly failsJob?: string;
  readonly failsIndex?: boolean;
}

/** The action of the first matching rule of the Job's pod failure policy for a failed pod (`pkg/controller/job/pod_failure_policy.go`). */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  const rules = job.spec?.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    if (rule.action === 'Ignore') return { counts: false };
    if (rule.action === 'FailIndex') return { counts: true, failsIndex: true };
    if (rule.action === 'FailJob')
      return { counts: true, failsJob: `${match} matching FailJob rule at index ${index}` };
    return { counts: true };
  }
  return { counts: true };
}

function matchOf(rule: FailurePolicyRule, pod: Pod): string | undefined {
  const { namespace = '', name = '' } = pod.metadata ?? {};
  if (rule.onExitCodes) {
    const { containerName, operator, values } = rule.onExitCodes;
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const status of statuses) {
      const code = status.state?.terminated?.exitCode;
      if (code === undefined || code === 0) continue;
      if (containerName && containerName !== status.name) continue;
      if (values.includes(code) !== (operator === 'In')) continue;
      return `Container ${status.name} for pod ${namespace}/${name} failed with exit code ${code}`;
    }
    return undefined;
  }
  for (const { type, status } of rule.onPodConditions ?? []) {
    const found = pod.status?.conditions?.find((each) => each.type === type && each.status === (status || 'True'));
    if (found !== undefined) return `Pod ${namespace}/${name} has condition ${type}`;
  }
  return undefined;
}
