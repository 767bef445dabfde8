import type { Condition } from '../../api/meta/conditions.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';
import { controllerReference, type OwnerKind } from '../ownership/controller-reference.ts';
import { type PodTemplate, podFromTemplate } from '../pods/pod-control.ts';
import type { Pod } from '../pods/pod-object.ts';
import { REVISION_LABEL } from '../revisions/controller-revision.ts';

export const STATEFUL_SET_KIND: OwnerKind = { apiVersion: 'apps/v1', kind: 'StatefulSet' };
const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export type Retention = 'Retain' | 'Delete';

/** The fields of a PersistentVolumeClaim that a StatefulSet sets. */
export interface Claim extends KubeObject {
  metadata?: ObjectMeta;
  spec?: object;
}

/** The fields of a StatefulSet that the controller reads, with the server's defaults. */
export interface StatefulSet extends KubeObject {
  spec?: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector?: LabelSelectorObject;
    readonly template?: PodTemplate;
    readonly volumeClaimTemplates?: readonly Claim[];
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: number | string };
    };
    readonly revisionHistoryLimit?: number;
    readonly minReadySeconds?: number;
    readonly ordinals?: { readonly start?: number };
    readonly persistentVolumeClaimRetentionPolicy?: {
      readonly whenDeleted?: Retention;
      readonly whenScaled?: Retention;
    };
  };
  status?: StatefulSetStatus;
}

export const replicasOf = ({ spec }: StatefulSet): number => spec?.replicas ?? 1;
export const startOf = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0;
export const isParallel = ({ spec }: StatefulSet): boolean => spec?.podManagementPolicy === 'Parallel';
const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata?.name ?? ''}-${ordinal}`;

/** The ordinal in a pod's name; undefined if the pod is not named after the set (LIFE-610). */
export function ordinalOf(set: StatefulSet, pod: KubeObject): number | undefined {
  const prefix = `${set.metadata?.name ?? ''}-`;
  const name = pod.metadata?.name ?? '';
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d+$/.test(digits) ? Number(digits) : undefined;
}

/** The pod of an ordinal from a revision's template: name, host name, identity labels and claims. */
export function podOf(
  set: StatefulSet,
  {
    template,
    revision,
    ordinal,
  }: { readonly template: PodTemplate; readonly revision: string; readonly ordinal: number },
): Pod {
  const name = podName(set, ordinal);
  const pod = podFromTemplate(template, set.metadata?.name ?? '', controllerReference(STATEFUL_SET_KIND, set));
  const { generateName: _, ...metadata } = pod.metadata ?? {};
  const claims = claimsOf(set, ordinal).map(({ template: { metadata: named }, claim }) => ({
    name: named?.name ?? '',
    persistentVolumeClaim: { claimName: claim.metadata?.name ?? '', readOnly: false },
  }));
  const claimed = new Set(claims.map((volume) => volume.name));
  const others = ((pod.spec?.['volumes'] ?? []) as readonly { name: string }[]).filter(
    (volume) => !claimed.has(volume.name),
  );
  const volumes = [...claims, ...others];
  return {
    ...pod,
    metadata: {
      ...metadata,
      name,
      labels: { ...metadata.labels, ...identityLabels(set, ordinal), [REVISION_LABEL]: revision },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(set.spec?.serviceName ? { subdomain: set.spec.serviceName } : {}),
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** The labels that select one pod of a set. */
export function identityLabels(set: StatefulSet, ordinal: number): Record<string, string> {
  return { [POD_NAME_LABEL]: podName(set, ordinal), [POD_INDEX_LABEL]: String(ordinal) };
}

/** The claims of an ordinal, each with its template. */
export function claimsOf(set: StatefulSet, ordinal: number): { readonly template: Claim; readonly claim: Claim }[] {
  const namespace = set.metadata?.namespace ?? '';
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => {
    const { name = '', labels, annotations } = template.metadata ?? {};
    const claim: Claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: `${name}-${podName(set, ordinal)}`,
        namespace,
        labels: { ...labels, ...set.spec?.selector?.matchLabels },
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      },
      spec: { ...template.spec },
    };
    return { template, claim };
  });
}
