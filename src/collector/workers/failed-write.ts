import type { LogFields } from '../../base/logs/logger.ts';
import type { Action } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';

/** An action that is a request about one object. */
export type WriteAction = Extract<Action, { readonly target: Target }>;

/** What a line says of a write that did not happen: the object, as lines about those that did, and what was tried. No field has fields. */
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
