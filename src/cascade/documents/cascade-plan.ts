import type { DataOrigin, Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** The propagation policy for dependents of deleted objects. */
export type CascadePolicy = 'Background' | 'Foreground' | 'Orphan';

/**
 * The fate of an object (CAS-012).
 * - `deleted`: it is deleted.
 * - `orphaned`: it stays and loses its references to owners that are deleted with policy Orphan.
 * - `kept`: it stays, because another owner does; it may lose references.
 * - `waits`: it is terminating until another client removes a finalizer.
 * - `stuck`: it is terminating, and nothing known will free it.
 * - `unknown`: the answer needs a kind that could not be read.
 */
export type Outcome = 'deleted' | 'orphaned' | 'kept' | 'waits' | 'stuck' | 'unknown';

/** The cause that reaches the object: the request itself, its owners, or a cascade that no owner reference shows (CAS-015). */
export type Via = 'request' | 'ownerReference' | 'namespace' | 'definition' | 'volume' | 'node';

export interface PlannedFinalizer {
  readonly name: string;
  /** The manager that set it, from managedFields; absent if they do not show it. */
  readonly setBy?: string;
  /** RFC 3339 time of the manager's last write. */
  readonly since?: string;
}

/** One object that the cascade touches (CAS-091). */
export interface PlannedObject {
  readonly ref: ObjectReference;
  readonly outcome: Outcome;
  /** One code of the catalogue in `cascade/preview/plan-reasons.ts`. */
  readonly reason: string;
  /** The reason as one sentence about this object. */
  readonly message: string;
  /** Order of deletions, from 1; present for `deleted`. */
  readonly sequence?: number;
  /** uids that must be gone before this object is deleted. */
  readonly waitsFor?: readonly string[];
  /** uids of owners whose references it loses. */
  readonly losesReferences?: readonly string[];
  /** Finalizers that it has or gets. */
  readonly finalizers?: readonly PlannedFinalizer[];
  /** uids of its owners that the cascade touches, nearest first; absent for roots. */
  readonly owners?: readonly string[];
  readonly via: Via;
  /** Grace period that the node is given, seconds. */
  readonly graceSeconds?: number;
}

export type OutcomeCounts = Partial<Record<Outcome, number>>;

/** An object whose deletion loses data (CAS-014). */
export interface DataBearing {
  readonly ref: ObjectReference;
  readonly outcome: Outcome;
  /** Only for a volume or claim: `10Gi`. */
  readonly size?: string;
  readonly reclaimPolicy?: string;
  /** Only for a claim: the name of its volume. */
  readonly volume?: string;
  /** The loss, as one sentence. */
  readonly message: string;
}

export interface PlanSummary {
  readonly byOutcome: OutcomeCounts;
  /** `deployments.apps` (resource and group) to counts. */
  readonly byKind: Readonly<Record<string, OutcomeCounts>>;
  /** Cluster-scoped objects are under the empty name. */
  readonly byNamespace: Readonly<Record<string, OutcomeCounts>>;
  readonly dataBearing: readonly DataBearing[];
}

export interface PlanRoot {
  readonly ref: ObjectReference;
  readonly policy: CascadePolicy;
  /** `default` if the policy is the type's own, `request` if it was requested (CAS-011). */
  readonly policyFrom: 'default' | 'request';
  /** The wave in which it is deleted, from 1: when the roots of all lower waves are gone (CAS-054). Absent if all are deleted together. */
  readonly wave?: number;
}

/** The predicted cascade (`preview -o json`, CAS-090). */
export interface CascadePlan extends Document<'CascadePlan'>, DataOrigin {
  /** SHA-256 over everything on which the prediction rests, 64 hexadecimal digits; people see the first 12 (CAS-016). */
  readonly digest: string;
  /** The policy of all roots; absent where they differ. */
  readonly policy?: CascadePolicy;
  /** The objects whose deletion is requested. */
  readonly roots: readonly PlanRoot[];
  /** The assumption about finalizers that no simulated part removes (CAS-017). */
  readonly assumeFinalizers: 'kept' | 'removed';
  /** Every object that the cascade touches. */
  readonly objects: readonly PlannedObject[];
  /** Counts, and the objects that hold data. */
  readonly summary: PlanSummary;
}
