import type { KubeObject } from '../meta/object-meta.ts';
import type { StatusError } from '../status-error.ts';
import type { DeleteReason } from './reasons.ts';

/**
 * The effect of a DELETE on one stored object. A value, never an action: the registry writes it under the guard of the revision
 * it was decided on, preview and explain only read it. `object` is never the input changed in place.
 */
export type DeleteDecision =
  | {
      readonly outcome: 'remove';
      /** The last state: what the answer shows and what the DELETED event carries. */
      readonly object: KubeObject;
      /** `emptyObject`: the odd dry-run answer of API-257. */
      readonly answer: 'removedObject' | 'emptyObject';
      readonly reason: DeleteReason;
    }
  /** `object` is the next state, to be written. */
  | { readonly outcome: 'update'; readonly object: KubeObject; readonly reason: DeleteReason }
  /** Nothing is written, no event; `object` is the stored one. */
  | { readonly outcome: 'unchanged'; readonly object: KubeObject; readonly reason: DeleteReason }
  | { readonly outcome: 'refuse'; readonly error: StatusError; readonly reason: DeleteReason };
