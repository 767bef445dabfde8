import type { KubeObject } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { PodTemplate } from '../pods/pod-control.ts';
import { controllerReference, type OwnerKind } from '../ownership/controller-reference.ts';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import { equalTemplates, templateHash } from '../revisions/controller-revision.ts';
import { type Deployment, desiredReplicas, fenceposts } from './deployment.ts';

export const DEPLOYMENT_KIND: OwnerKind = { apiVersion: 'apps/v1', kind: 'Deployment' };
export const TEMPLATE_HASH = 'pod-template-hash';
export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
/** Annotations of a Deployment that are not copied to its ReplicaSets. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
]);
/** Maximum number of characters of one ReplicaSet's revision history. */
const MAX_HISTORY = 2000;

/** True if two templates create the same pods, whatever their hash label, with absent and empty fields equal (LIFE-302). */
export function sameTemplate(a: PodTemplate | undefined, b: PodTemplate | undefined): boolean {
  return equalTemplates(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplate = {}): PodTemplate {
  const { [TEMPLATE_HASH]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** The oldest ReplicaSet with the Deployment's template (LIFE-302). */
export function findNewReplicaSet(deployment: Deployment, all: readonly ReplicaSet[]): ReplicaSet | undefined {
  return all.toSorted(byCreation).find(({ spec }) => sameTemplate(spec?.template, deployment.spec?.template));
}

/** The oldest first, then by name. */
export function byCreation(a: KubeObject, b: KubeObject): number {
  return (
    compareText(a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? '') ||
    compareText(a.metadata?.name ?? '', b.metadata?.name ?? '')
  );
}

/** The lowest revision first, then the oldest. */
export function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  return revisionOf(a) - revisionOf(b) || byCreation(a, b);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** 0 for a ReplicaSet without one. */
export function revisionOf({ metadata }: KubeObject): number {
  const number = Number(metadata?.annotations?.[REVISION] ?? '');
  return Number.isSafeInteger(number) ? number : 0;
}

/** The number of replicas that the Deployment requested at the last scaling. */
export function desiredAnnotation({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata?.annotations?.[DESIRED_REPLICAS]);
}

/** The maximum number of pods of the Deployment at the last scaling. */
export function maxReplicasAnnotation({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata?.annotations?.[MAX_REPLICAS]);
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}

/** The ReplicaSet with this size, and the Deployment's numbers as annotations. */
export function withReplicas(replicaSet: ReplicaSet, replicas: number, deployment: Deployment): ReplicaSet {
  const annotations = { ...replicaSet.metadata?.annotations, ...replicasAnnotations(deployment) };
  return { ...replicaSet, metadata: { ...replicaSet.metadata, annotations }, spec: { ...replicaSet.spec, replicas } };
}

function replicasAnnotations(deployment: Deployment): Record<string, string> {
  const desired = desiredReplicas(deployment);
  return { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(desired + fenceposts(deployment).maxSurge) };
}

/**
 * The ReplicaSet with the revision, history and copied annotations of the new one (LIFE-303, LIFE-306). Returns the same object if nothing
 * changes.
 */
export function asNewReplicaSet(replicaSet: ReplicaSet, deployment: Deployment, revision: number): ReplicaSet {
  const before = replicaSet.metadata?.annotations ?? {};
  const annotations: Record<string, string> = { ...before, ...copiedAnnotations(deployment) };
  const known = before[REVISION];
  const present = known === undefined ? 0 : Number(known);
  if (Number.isSafeInteger(present) && present < revision) {
    annotations[REVISION] = String(revision);
    if (known !== undefined) annotations[REVISION_HISTORY] = withRevision(before[REVISION_HISTORY] ?? '', known);
  }
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  if (deepEqual(before, annotations) && (replicaSet.spec?.minReadySeconds ?? 0) === minReadySeconds) return replicaSet;
  return {
    ...replicaSet,
    metadata: { ...replicaSet.metadata, annotations },
    spec: { ...replicaSet.spec, minReadySeconds },
  };
}

function copiedAnnotations({ metadata }: Deployment): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata?.annotations ?? {}).filter(([name]) => !NOT_COPIED.has(name)));
}

/** Removes the oldest revisions if the text would be too long. */
function withRevision(history: string, revision: string): string {
  const revisions = history === '' ? [] : history.split(',');
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(',').length > MAX_HISTORY) revisions.shift();
  return revisions.join(',');
}

/** The ReplicaSet for the Deployment's current template (LIFE-303, LIFE-304). */
export function newReplicaSet(
  deployment: Deployment,
  { replicas, revision }: { readonly replicas: number; readonly revision: number },
): ReplicaSet {
  const { template = {}, selector, minReadySeconds = 0 } = deployment.spec ?? {};
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [TEMPLATE_HASH]: hash };
  const { namespace = '', name = '' } = deployment.metadata ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: {
        ...copiedAnnotations(deployment),
        [REVISION]: String(revision),
        ...replicasAnnotations(deployment),
      },
      ownerReferences: [controllerReference(DEPLOYMENT_KIND, deployment)],
    },
    spec: {
      replicas,
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [TEMPLATE_HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
