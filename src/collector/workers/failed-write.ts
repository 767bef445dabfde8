import type { LogFields } from '../../base/logs/logger.ts';
import type { Action } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';

/** An action that is a request about one object. */
export type WriteAction = Extract<Action, { readonly target: Target }>;

/** The log fields of a failed write: the object, as in lines about successful writes, and the action. No field is nested. */
export function failedWriteFields(write: WriteAction): LogFields {
  const { action, target } = write;
  return { ...target, action, ...triedOf(write) };
}

function triedOf(write: WriteAction): LogFields {
  switch (write.action) {
    case 'delete':
      return { policy: write.policy, basis: write.basis, resourceVersion: write.preconditions.resourceVersion };
    case 'removeReferences':
      return { owners: write.owners.join(', ') };
    case 'unblockReferences':
      return {
        owners: write.references.map(({ uid }) => uid).join(', '),
        resourceVersion: write.resourceVersion,
      };
    case 'removeFinalizer':
      return { finalizer: write.finalizer };
  }
}
