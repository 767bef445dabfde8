import type { DeleteAction } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';
import type { WriteAnswer } from '../operations/write-answer.ts';
import type { Reason } from '../types/reasons.ts';
import type { CollectorContext } from './collector-context.ts';

type Told = Pick<CollectorContext, 'metrics' | 'logger'>;

/** The change of a patch: it removes references, stops references from blocking, or removes a finalizer. */
export type PatchChange = 'removeReferences' | 'unblock' | 'foregroundDeletion' | 'orphan';

/** The result of a write, and why it was made. */
interface WriteReasons {
  /** Why it was wanted. */
  readonly reason: Reason;
  /** The meaning of the answer. */
  readonly answered: Reason;
}

/** True if this write took effect. False if an earlier write of another client had the same effect. */
export function tookEffect(answered: Reason | undefined): boolean {
  return answered === 'deleteAccepted' || answered === 'patchAccepted';
}

/** The result of an accepted patch: `patchAccepted`, or `already` if a read showed that no patch was needed. */
export function acceptedAs(
  { unneeded }: Pick<WriteAnswer, 'unneeded'>,
  already: 'patchNotNeeded' | 'finalizerAlreadyRemoved',
): Reason {
  return unneeded === true ? already : 'patchAccepted';
}

/**
 * Counts a deletion that the server accepted, and logs one line with the object and the reason. The fields are named one by one, because
 * they are made for each deletion: see `base/http-message.ts`.
 */
export function tellDeletion({ metrics, logger }: Told, { target, policy, basis }: DeleteAction, reason: Reason): void {
  const { apiVersion, kind, resource, namespace, name, uid } = target;
  metrics.deletions.inc({ resource, policy });
  const answered: Reason = 'deleteAccepted';
  logger.debug('deleted an object', {
    apiVersion,
    kind,
    resource,
    namespace,
    name,
    uid,
    policy,
    basis,
    reason,
    answered,
  });
}

/** Counts and logs a patch that the server accepted. A patch that was not needed is logged, but not counted. */
export function tellPatch(
  { metrics, logger }: Told,
  { target, change }: { readonly target: Target; readonly change: PatchChange },
  reasons: WriteReasons,
): void {
  const patched = tookEffect(reasons.answered);
  if (patched) metrics.patches.inc({ resource: target.resource, change });
  logger.debug(patched ? 'patched an object' : 'a patch was not needed', { ...target, change, ...reasons });
}
