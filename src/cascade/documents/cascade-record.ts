import type { CascadePlan } from './cascade-plan.ts';
import type { Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** The end of a cascade. `recorded` means that nothing more is known: the deletion may not have begun or was interrupted. */
export type RecordOutcome = 'recorded' | 'asPlanned' | 'different' | 'timedOut' | 'interrupted' | 'failed';

/** The treatment of the Secrets of a record: `none` means that there were no Secrets. */
export type SecretsPolicy = 'encrypted' | 'omitted' | 'none';

/** The cluster that the objects come from. */
export interface RecordContext {
  /** Name of the kubeconfig context, or `in-cluster`. */
  readonly name: string;
  /** `https://host:port` */
  readonly server: string;
  /** uid of the namespace `kube-system`; absent when it could not be read. */
  readonly clusterUid?: string;
}

/** The results of one run of `undo` with a record. */
export interface UndoEntry {
  /** RFC 3339. */
  readonly time: string;
  readonly restored: number;
  readonly left: number;
  readonly conflicts: number;
}

/** Everything about a cascade except the bodies of its objects (CAS-060). */
export interface CascadeRecord extends Document<'CascadeRecord'> {
  /** Sorts by time: `20261126t155500-3f9c2e81`. */
  readonly id: string;
  /** RFC 3339 time at which the record was written, before the first DELETE. */
  readonly time: string;
  /** User name as the server knows it. */
  readonly requester: string;
  /** The cluster. */
  readonly context: RecordContext;
  /** Objects whose deletion was asked for. */
  readonly roots: readonly ObjectReference[];
  /** The policy of all roots; `mixed` if they differ. */
  readonly policy: string;
  /** The plan that the deletion followed; absent if a recorder saw the deletion. */
  readonly plan?: CascadePlan;
  /** How the deletion ended, as far as is known. */
  readonly outcome: RecordOutcome;
  /** One sentence for each difference between plan and outcome. */
  readonly differences?: readonly string[];
  /** Number of recorded objects. */
  readonly objects: number;
  /** The treatment of its Secrets. */
  readonly secrets: SecretsPolicy;
  /** Runs of undo, oldest first. */
  readonly undone?: readonly UndoEntry[];
}

/** The recorded deletions, newest first (`log -o json`). */
export interface CascadeRecordList extends Document<'CascadeRecordList'> {
  readonly items: readonly CascadeRecord[];
}
