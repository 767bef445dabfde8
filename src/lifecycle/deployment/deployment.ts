import type { Condition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';
import type { PodTemplate } from '../pods/pod-control.ts';

export interface DeploymentCondition extends Condition {
  readonly lastUpdateTime?: string | null;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
}

type IntOrPercent = number | string;

/** The fields of a Deployment that the controller reads, with the server's defaults. */
export interface Deployment extends KubeObject {
  spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
    readonly paused?: boolean;
    readonly selector?: LabelSelectorObject;
    readonly template?: PodTemplate;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
    };
  };
  status?: DeploymentStatus;
}

/** The value that means "no limit" in number fields. */
const NO_LIMIT = 2 ** 31 - 1;

export const desiredReplicas = ({ spec }: Deployment): number => spec?.replicas ?? 1;
export const isRollingUpdate = ({ spec }: Deployment): boolean => spec?.strategy?.type !== 'Recreate';

/** Seconds; undefined without a deadline. */
export function progressDeadline({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === NO_LIMIT ? undefined : seconds;
}

/** Number of old ReplicaSets to keep; undefined for all. */
export function historyLimit({ spec }: Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit;
  return limit === undefined || limit === NO_LIMIT ? undefined : limit;
}

/** Maximum numbers of pods above and below the desired number during a rollout (`ResolveFenceposts`); never both 0. */
export function fenceposts(deployment: Deployment): { readonly maxSurge: number; readonly maxUnavailable: number } {
  if (!isRollingUpdate(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = desiredReplicas(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, replicas, Math.ceil);
  const unavailable = scaled(maxUnavailable, replicas, Math.floor);
  const least = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: replicas === 0 ? 0 : Math.min(least, replicas) };
}

function scaled(value: IntOrPercent, of: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = Number(value.replace(/%$/, ''));
  return Number.isFinite(percent) ? round((percent * of) / 100) : 0;
}
