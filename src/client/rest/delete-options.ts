import type { PropagationPolicy } from '../../api/deletion/delete-options.ts';

export type { PropagationPolicy };

/** The options of a delete. Every field is optional. */
export interface DeleteOptions {
  /** The propagation policy for dependents. Default: that of the kind, which is nearly always `Background`. */
  readonly propagationPolicy?: PropagationPolicy | undefined;
  /** Grace period of a running Pod in seconds; 0 deletes it at once. Other kinds ignore it. */
  readonly gracePeriodSeconds?: number | undefined;
  /** The older form of the policy. The server refuses it together with `propagationPolicy`. */
  readonly orphanDependents?: boolean | undefined;
  /** The server answers 409 if the object has another uid or version. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  /** `['All']`: the server answers as usual but changes nothing. */
  readonly dryRun?: readonly 'All'[] | undefined;
}
