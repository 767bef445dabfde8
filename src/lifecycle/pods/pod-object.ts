import type { Int64 } from '../../base/json/exact-json.ts';
import type { Condition } from '../../api/meta/conditions.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

export const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' };
export const NODES: GroupVersionResource = { group: '', version: 'v1', resource: 'nodes' };

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: Int64;
}

export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly restartPolicy?: string;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string | null };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly startedAt?: string | null;
    readonly finishedAt?: string | null;
    readonly containerID?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
}

export interface PodCondition extends Condition {
  readonly observedGeneration?: number;
  readonly lastProbeTime?: string | null;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: readonly PodCondition[];
  containerStatuses?: readonly ContainerStatus[];
  initContainerStatuses?: readonly ContainerStatus[];
  startTime?: string | null;
  [field: string]: unknown;
}

/** The fields of a pod that controllers read. */
export interface Pod extends KubeObject {
  spec?: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly schedulingGates?: readonly unknown[] | null;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: { readonly nodeAffinity?: NodeAffinity };
    readonly tolerations?: readonly Toleration[];
    readonly restartPolicy?: string;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly readinessGates?: readonly { readonly conditionType: string }[];
    readonly activeDeadlineSeconds?: Int64;
    readonly terminationGracePeriodSeconds?: Int64;
    readonly [field: string]: unknown;
  };
  status?: PodStatus;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  };
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string | null;
}

/** The fields of a node that controllers read. */
export interface Node extends KubeObject {
  spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[]; readonly providerID?: string };
  status?: { readonly conditions?: readonly Condition[]; readonly [field: string]: unknown };
}

/** The pod has completed: `Succeeded` or `Failed`. */
export function isPodFinished(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed';
}

export function isPodReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Absent if the node's kubelet has never reported. */
export function readyConditionOf(node: Node): Condition | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready');
}

/** True if a toleration matches a taint (`component-helpers/scheduling/corev1`). */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === 'Equal' || operator === '') && key !== '' && value === (taint.value ?? '');
}
