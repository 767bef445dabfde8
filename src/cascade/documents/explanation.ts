import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { DataOrigin, Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

export type OwnerReferenceClass = 'solid' | 'dangling' | 'waiting' | 'unresolvable';

export interface ExplainedOwner {
  readonly reference: OwnerReference;
  readonly class: OwnerReferenceClass;
  /** The proof of the class, as one sentence. */
  readonly proof: string;
}

/** One thing that prevents a terminating object from being deleted. */
export interface Hold {
  readonly type: 'finalizer' | 'blockingDependent' | 'namespaceCondition' | 'gracePeriod';
  /** The finalizer, or the type of the condition. */
  readonly name?: string;
  /** The dependent. */
  readonly ref?: ObjectReference;
  readonly setBy?: string;
  /** RFC 3339. */
  readonly since?: string;
  /** Whether there is evidence of a program that serves the finalizer; `unknown` without any. */
  readonly served?: 'yes' | 'no' | 'unknown';
  readonly message: string;
  /** The start of the chain of holds. */
  readonly firstCause?: { readonly ref: ObjectReference; readonly message: string };
}

export interface Finding {
  /** A code of the catalogue in `cascade/explain`. */
  readonly code: string;
  readonly evidence: string;
  /** The next safe step, as one sentence with a command where there is one. */
  readonly nextStep: string;
}

/** Why an object is alive, or does not go away (`explain -o json`, CAS-093). */
export interface Explanation extends Document<'Explanation'>, DataOrigin {
  /** The object; its uid is empty when it is gone. */
  readonly ref: ObjectReference;
  /** Whether it exists, and whether its deletion was requested. */
  readonly state: 'alive' | 'terminating' | 'gone';
  /** RFC 3339 time at which the deletion was requested; only for a terminating object. */
  readonly since?: string;
  /** The collector's decision about the object. */
  readonly verdict: 'forget' | 'requeue';
  /** A key of `collector/types/reasons.ts`. */
  readonly reason: string;
  /** The reason as one sentence. */
  readonly message: string;
  /** Its owner references, with the class of each. */
  readonly owners: readonly ExplainedOwner[];
  /** The reasons why it still exists, when it is terminating. */
  readonly heldBy: readonly Hold[];
  /** Known traps, each with the next safe step; empty if there is none. */
  readonly findings: readonly Finding[];
}
