import type { PropagationPolicy } from '../../api/deletion/delete-options.ts';

export type { PropagationPolicy };

/** The options of a delete, as a client gives them. Every field may be left out. */
export interface DeleteOptions {
  /** The propagation policy for dependents. Left out: the default of the kind, for nearly all `Background`. */
  readonly propagationPolicy?: PropagationPolicy | undefined;
  /** Seconds until a Pod that runs is taken for stopped; 0 removes it at once. Other kinds ignore it. */
  readonly gracePeriodSeconds?: number | undefined;
  /** The older form of the policy; the server refuses it together with `propagationPolicy`. */
  readonly orphanDependents?: boolean | undefined;
  /** The server answers 409 when the object is another one, or another version of it. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  /** `['All']`: the server answers as it would, but changes nothing. */
  readonly dryRun?: readonly 'All'[] | undefined;
}
