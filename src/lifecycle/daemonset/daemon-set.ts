import type { Condition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';
import { controllerReference, type OwnerKind } from '../ownership/controller-reference.ts';
import { selectsNode } from '../pods/node-affinity.ts';
import { type PodTemplate, podFromTemplate } from '../pods/pod-control.ts';
import {
  type Node,
  type NodeSelectorTerm,
  type Pod,
  type Taint,
  type Toleration,
  tolerates,
} from '../pods/pod-object.ts';
import { REVISION_LABEL } from '../revisions/controller-revision.ts';

export const DAEMON_SET_KIND: OwnerKind = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
const GENERATION_LABEL = 'pod-template-generation';

export interface DaemonSetStatus {
  readonly currentNumberScheduled?: number;
  readonly numberMisscheduled?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberReady?: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

type IntOrPercent = number | string;

/** The fields of a DaemonSet that the controller reads, with the server's defaults. */
export interface DaemonSet extends KubeObject {
  spec?: {
    readonly selector?: LabelSelectorObject;
    readonly template?: PodTemplate;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent; readonly maxSurge?: IntOrPercent };
    };
  };
  status?: DaemonSetStatus;
}

/** The taints that every daemon pod tolerates, because daemons are needed in these states of a node (`AddOrUpdateDaemonPodTolerations`). */
const DAEMON_TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const NETWORK_TOLERATION: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** The pod of a DaemonSet for one node, with the node's affinity and the daemon tolerations. `hash` is that of the revision. */
export function daemonPod(set: DaemonSet, nodeName: string, hash: string): Pod {
  const pod = podFromTemplate(
    set.spec?.template ?? {},
    set.metadata?.name ?? '',
    controllerReference(DAEMON_SET_KIND, set),
  );
  const generation = set.metadata?.annotations?.[GENERATION_ANNOTATION];
  const labels = {
    ...pod.metadata?.labels,
    [REVISION_LABEL]: hash,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, tolerations: tolerationsOf(set), affinity: tiedTo(nodeName, pod) },
  };
}

function tolerationsOf({ spec }: DaemonSet): Toleration[] {
  const own = spec?.template?.spec?.tolerations ?? [];
  const usual =
    spec?.template?.spec?.['hostNetwork'] === true ? [...DAEMON_TOLERATIONS, NETWORK_TOLERATION] : DAEMON_TOLERATIONS;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key && (a.operator ?? 'Equal') === b.operator && a.effect === b.effect && (a.value ?? '') === '';
  const missing = usual.filter(
    (each) => !own.some((there) => isSame(there, each) && there.tolerationSeconds === undefined),
  );
  return [...own.filter((there) => !missing.some((each) => isSame(there, each))), ...missing];
}

function tiedTo(nodeName: string, pod: Pod): NonNullable<NonNullable<Pod['spec']>['affinity']> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const affinity = pod.spec?.affinity ?? {};
  const terms = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms: NodeSelectorTerm[] =
    terms.length === 0 ? [{ matchFields }] : terms.map((term) => ({ ...term, matchFields }));
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    },
  };
}

/** The node on which a daemon pod is, or for which it is intended. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms) {
    const field = matchFields.find(
      ({ key, operator, values = [] }) => key === 'metadata.name' && operator === 'In' && values.length === 1,
    );
    if (field !== undefined) return field.values?.[0];
  }
  return undefined;
}

interface NodeFit {
  /** True if a pod is created on a node without one. */
  readonly run: boolean;
  /** True if an existing pod stays. */
  readonly stay: boolean;
}

/** Decides whether a node should have a pod of the set (`NodeShouldRunDaemonPod`). Pure. */
export function nodeFit(set: DaemonSet, node: Node): NodeFit {
  const nodeName = set.spec?.template?.spec?.nodeName ?? '';
  const template: Pod = { spec: set.spec?.template?.spec ?? {} };
  if ((nodeName !== '' && nodeName !== node.metadata?.name) || !selectsNode(template, node))
    return { run: false, stay: false };
  const tolerations = tolerationsOf(set);
  const kept = (taint: Taint): boolean => !tolerations.some((toleration) => tolerates(toleration, taint));
  const taints = (node.spec?.taints ?? []).filter(kept);
  const stay = !taints.some(({ effect }) => effect === 'NoExecute');
  return { run: stay && !taints.some(({ effect }) => effect === 'NoSchedule'), stay };
}
