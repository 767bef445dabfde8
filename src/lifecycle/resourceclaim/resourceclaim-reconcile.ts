import type { KubeObject } from '../../api/meta/object-meta.ts';
import { controllerOf, controllerReference, isTerminating } from '../ownership/controller-reference.ts';
import { isPodFinished, type Pod } from '../pods/pod-object.ts';

export const DELETE_PROTECTION = 'resource.kubernetes.io/delete-protection';
export const POD_CLAIM_NAME = 'resource.kubernetes.io/pod-claim-name';
const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };

interface Consumer {
  readonly apiGroup?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface ResourceClaim extends KubeObject {
  status?: {
    readonly allocation?: unknown;
    readonly reservedFor?: readonly Consumer[] | null;
    readonly [field: string]: unknown;
  };
}

export interface ResourceClaimTemplate extends KubeObject {
  spec?: { readonly metadata?: KubeObject['metadata']; readonly spec?: object };
}

interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string | null;
  readonly resourceClaimTemplateName?: string | null;
}

interface PodClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string | null;
}

export const claimsOf = (pod: Pod): readonly PodResourceClaim[] =>
  (pod.spec?.['resourceClaims'] ?? []) as readonly PodResourceClaim[];
export const claimStatusesOf = (pod: Pod): readonly PodClaimStatus[] =>
  (pod.status?.['resourceClaimStatuses'] ?? []) as readonly PodClaimStatus[];

/** True if a pod no longer needs its devices: it has finished, or it terminates without ever having had a node. */
function isDone(pod: Pod): boolean {
  return isPodFinished(pod) || (isTerminating(pod) && (pod.spec?.nodeName ?? '') === '');
}

/** The pod of a consumer, from cache and live reads. */
export type ConsumerPod = Pod | 'gone' | 'unsure';

type ResourceClaimDecision =
  | { readonly verdict: 'nothing'; readonly reason: string }
  /** These pods are not in the cache: only live reads prove that they are gone. */
  | { readonly verdict: 'readPods'; readonly reason: 'podNotInCache'; readonly names: readonly string[] }
  | {
      readonly verdict: 'setStatus';
      readonly reason: 'consumersGone';
      readonly status: NonNullable<ResourceClaim['status']>;
    }
  | { readonly verdict: 'removeFinalizer'; readonly reason: 'notAllocated'; readonly claim: ResourceClaim }
  | { readonly verdict: 'delete'; readonly reason: 'podDone' };

/** The next step for a claim (LIFE-701), one write at a time. `podOf` returns a consumer's pod, or the pod that owns the claim, by name. */
export function decideResourceClaim(claim: ResourceClaim, podOf: (name: string) => ConsumerPod): ResourceClaimDecision {
  const reserved = claim.status?.reservedFor ?? [];
  const pods = reserved.filter(isPod);
  const unsure = pods.flatMap(({ name = '' }) => (podOf(name) === 'unsure' ? [name] : []));
  if (unsure.length > 0) return { verdict: 'readPods', reason: 'podNotInCache', names: [...new Set(unsure)] };
  const valid = reserved.filter((consumer) => !isPod(consumer) || needsIt(podOf(consumer.name ?? ''), consumer.uid));
  const { allocation, ...others } = claim.status ?? {};
  if (valid.length < reserved.length || (valid.length === 0 && reserved.length === 0 && allocation && isFree(claim))) {
    const kept = valid.length > 0 && allocation !== undefined ? { allocation } : {};
    return { verdict: 'setStatus', reason: 'consumersGone', status: { ...others, ...kept, reservedFor: valid } };
  }
  const finalizers = claim.metadata?.finalizers ?? [];
  if (reserved.length === 0 && allocation === undefined && finalizers.includes(DELETE_PROTECTION)) {
    const left = finalizers.filter((name) => name !== DELETE_PROTECTION);
    return {
      verdict: 'removeFinalizer',
      reason: 'notAllocated',
      claim: { ...claim, metadata: { ...claim.metadata, finalizers: left } },
    };
  }
  return decideGenerated(claim, podOf);
}

/** An allocation without consumers is released only if the claim terminates or was created for one pod; others stay for the next pod. */
function isFree(claim: ResourceClaim): boolean {
  return isTerminating(claim) || claim.metadata?.annotations?.[POD_CLAIM_NAME] !== undefined;
}

/** A claim that was created for a pod is deleted as soon as the pod no longer needs it, before the collector would delete it. */
function decideGenerated(claim: ResourceClaim, podOf: (name: string) => ConsumerPod): ResourceClaimDecision {
  const owner = controllerOf(claim);
  if (owner?.kind !== 'Pod' || isTerminating(claim)) return { verdict: 'nothing', reason: 'inUse' };
  const pod = podOf(owner.name);
  if (pod === 'unsure') return { verdict: 'readPods', reason: 'podNotInCache', names: [owner.name] };
  // The collector, which reads the owner live, deletes the claims of pods that are gone or were replaced.
  if (pod === 'gone' || pod.metadata?.uid !== owner.uid) return { verdict: 'nothing', reason: 'ownerGone' };
  return isDone(pod) ? { verdict: 'delete', reason: 'podDone' } : { verdict: 'nothing', reason: 'inUse' };
}

const isPod = ({ apiGroup = '', resource }: Consumer): boolean => apiGroup === '' && resource === 'pods';

function needsIt(pod: ConsumerPod, uid: string | undefined): boolean {
  return typeof pod === 'object' && pod.metadata?.uid === uid && !isDone(pod);
}

type PodClaimDecision =
  | { readonly verdict: 'create'; readonly name: string; readonly claim: KubeObject }
  | { readonly verdict: 'templateMissing'; readonly name: string; readonly template: string }
  /** The claim exists; the pod's status does not name it yet. */
  | { readonly verdict: 'use'; readonly name: string; readonly claim: string };

/** The claims of a pod's templates that do not exist yet. */
export function decidePodClaims(
  pod: Pod,
  {
    generated,
    templateOf,
  }: {
    readonly generated: readonly ResourceClaim[];
    readonly templateOf: (name: string) => ResourceClaimTemplate | undefined;
  },
): readonly PodClaimDecision[] {
  if (isDone(pod) || isTerminating(pod)) return [];
  const known = new Set(claimStatusesOf(pod).map(({ name }) => name));
  return claimsOf(pod).flatMap(({ name, resourceClaimTemplateName: template }): PodClaimDecision[] => {
    if (template === undefined || template === null || known.has(name)) return [];
    const there = generated.find(({ metadata }) => metadata?.annotations?.[POD_CLAIM_NAME] === name);
    if (there !== undefined) return [{ verdict: 'use', name, claim: there.metadata?.name ?? '' }];
    const found = templateOf(template);
    if (found === undefined) return [{ verdict: 'templateMissing', name, template }];
    const { namespace = '', name: podName = '' } = pod.metadata ?? {};
    const { labels, annotations } = found.spec?.metadata ?? {};
    const claim: KubeObject = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: {
        generateName: `${podName}-${name}-`,
        namespace,
        ...(labels === undefined ? {} : { labels }),
        annotations: { ...annotations, [POD_CLAIM_NAME]: name },
        ownerReferences: [controllerReference(POD_KIND, pod)],
      },
      spec: found.spec?.spec ?? {},
    };
    return [{ verdict: 'create', name, claim }];
  });
}
