import type { KubeObject } from '../../api/meta/object-meta.ts';
import { controllerOf, isTerminating } from './controller-reference.ts';

type ClaimReason =
  | 'other controller'
  | 'owned and selected'
  | 'owner terminating'
  | 'not selected any more'
  | 'not selected'
  | 'dependent terminating'
  | 'other namespace'
  | 'orphan selected';

interface ClaimDecision {
  readonly verdict: 'ignore' | 'keep' | 'release' | 'adopt';
  readonly reason: ClaimReason;
}

/** The action of an owner for one candidate (LIFE-220; `controller_ref_manager.go`). Pure; `owner` is the cached object. */
export function decideClaim(
  owner: KubeObject,
  candidate: KubeObject,
  matches: (candidate: KubeObject) => boolean,
): ClaimDecision {
  const controller = controllerOf(candidate);
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata?.uid) return { verdict: 'ignore', reason: 'other controller' };
    if (matches(candidate)) return { verdict: 'keep', reason: 'owned and selected' };
    if (isTerminating(owner)) return { verdict: 'ignore', reason: 'owner terminating' };
    return { verdict: 'release', reason: 'not selected any more' };
  }
  if (!matches(candidate)) return { verdict: 'ignore', reason: 'not selected' };
  if (isTerminating(owner)) return { verdict: 'ignore', reason: 'owner terminating' };
  if (isTerminating(candidate)) return { verdict: 'ignore', reason: 'dependent terminating' };
  const namespace = owner.metadata?.namespace ?? '';
  if (namespace !== '' && namespace !== candidate.metadata?.namespace) {
    return { verdict: 'ignore', reason: 'other namespace' };
  }
  return { verdict: 'adopt', reason: 'orphan selected' };
}
