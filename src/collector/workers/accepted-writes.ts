import type { DeleteAction } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';
import type { WriteAnswer } from '../operations/write-answer.ts';
import type { Reason } from '../types/reasons.ts';
import type { CollectorContext } from './collector-context.ts';

type Told = Pick<CollectorContext, 'metrics' | 'logger'>;

/** What a patch changes: references taken off, references that stop blocking, or a finalizer taken off. */
export type PatchChange = 'removeReferences' | 'unblock' | 'foregroundDeletion' | 'orphan';

/** What a write came to, and why it was made. */
export interface WriteReasons {
  /** Why it was wanted. */
  readonly reason: Reason;
  /** What the answer came to. */
  readonly answered: Reason;
}

/** Whether the write took effect, and not somebody else's before it. */
export function tookEffect(answered: Reason | undefined): boolean {
  return answered === 'deleteAccepted' || answered === 'patchAccepted';
}

/** Of an accepted answer: whether there was a patch, or `already` was what a read showed. */
export function acceptedAs(
  { unneeded }: Pick<WriteAnswer, 'unneeded'>,
  already: 'patchNotNeeded' | 'finalizerAlreadyRemoved',
): Reason {
  return unneeded === true ? already : 'patchAccepted';
}

/**
 * Counts a deletion that the server accepted, and logs it: one line, with the object and why. The fields are named one by one, as they
 * are made for each deletion: see `base/http-message.ts`.
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

/** The same of a patch. One that turned out not to be needed is logged, and not counted. */
export function tellPatch(
  { metrics, logger }: Told,
  { target, change }: { readonly target: Target; readonly change: PatchChange },
  reasons: WriteReasons,
): void {
  const patched = tookEffect(reasons.answered);
  if (patched) metrics.patches.inc({ resource: target.resource, change });
  logger.debug(patched ? 'patched an object' : 'a patch was not needed', { ...target, change, ...reasons });
}
