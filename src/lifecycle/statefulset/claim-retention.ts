import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { controllerReference } from '../ownership/controller-reference.ts';
import { type Claim, STATEFUL_SET_KIND, type StatefulSet } from './stateful-set.ts';

const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };

interface ClaimDecision {
  readonly verdict: 'keep' | 'update' | 'conflict';
  readonly claim: Claim;
  readonly reason: 'references are right' | 'references change' | 'another controller';
}

/**
 * The owner references of a claim by the retention policy (LIFE-612, LIFE-613): the set, the pod, or none. A claim with another controller,
 * or with a reference to a set or pod of the same name and another uid, keeps those references and loses ours. Pure.
 */
export function decideClaimReferences(
  set: StatefulSet,
  { claim, pod, condemned }: { readonly claim: Claim; readonly pod: KubeObject; readonly condemned: boolean },
): ClaimDecision {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const before = claim.metadata?.ownerReferences ?? [];
  const isOurs = ({ uid }: OwnerReference): boolean =>
    (uid !== '' && uid === set.metadata?.uid) || (pod.metadata?.uid !== undefined && uid === pod.metadata.uid);
  const others = before.filter((reference) => !isOurs(reference));
  const conflict = others.some(
    (reference) =>
      reference.controller === true ||
      (reference.kind === 'StatefulSet' && reference.name === set.metadata?.name) ||
      (reference.kind === 'Pod' && reference.name === pod.metadata?.name),
  );
  const wanted = conflict ? undefined : wantedOwner({ whenDeleted, whenScaled, condemned });
  const ours =
    wanted === undefined
      ? []
      : [wanted === 'set' ? controllerReference(STATEFUL_SET_KIND, set) : controllerReference(POD_KIND, pod)];
  const after = [...others, ...ours];
  if (deepEqual(before.toSorted(byUid), after.toSorted(byUid))) {
    return conflict
      ? { verdict: 'conflict', claim, reason: 'another controller' }
      : { verdict: 'keep', claim, reason: 'references are right' };
  }
  const updated = { ...claim, metadata: { ...claim.metadata, ownerReferences: after } };
  return { verdict: 'update', claim: updated, reason: 'references change' };
}

function wantedOwner({
  whenDeleted,
  whenScaled,
  condemned,
}: {
  readonly whenDeleted: string;
  readonly whenScaled: string;
  readonly condemned: boolean;
}): 'set' | 'pod' | undefined {
  if (whenScaled === 'Delete' && condemned) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : undefined;
}

/** True if the claim refers to an earlier pod of this name: it is about to be deleted, so a new pod must not use it (LIFE-614). */
export function isStaleClaim(claim: KubeObject, pod: KubeObject): boolean {
  return (claim.metadata?.ownerReferences ?? []).some(
    ({ kind, name, uid }) => kind === 'Pod' && name === pod.metadata?.name && uid !== pod.metadata?.uid,
  );
}

const byUid = (a: OwnerReference, b: OwnerReference): number => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0);
