import type { KubeObject } from '../meta/object-meta.ts';
import type { StatusError } from '../status-error.ts';
import type { DeleteReason } from './reasons.ts';

/**
 * The effect of a DELETE on one stored object. A value, never an action: the registry writes it with the revision of the decision as
 * precondition; preview and explain only read it. `object` is never the input changed in place.
 */
export type DeleteDecision =
  | {
      readonly outcome: 'remove';
      /** The last state, for the answer and the DELETED event. */
      readonly object: KubeObject;
      /** `emptyObject` is the answer of a dry run by API-257. */
      readonly answer: 'removedObject' | 'emptyObject';
      readonly reason: DeleteReason;
    }
  /** `object` is the next state, which the caller writes. */
  | { readonly outcome: 'update'; readonly object: KubeObject; readonly reason: DeleteReason }
  /** Nothing is written and no event is sent; `object` is the stored one. */
  | { readonly outcome: 'unchanged'; readonly object: KubeObject; readonly reason: DeleteReason }
  | { readonly outcome: 'refuse'; readonly error: StatusError; readonly reason: DeleteReason };
