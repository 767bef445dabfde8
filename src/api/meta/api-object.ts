/**
 * An API object in any type of the caller: `KubeObject`, the classes of `@kubernetes/client-node`, or an interface of the caller. It lists
 * only the fields that a caller's type must not contradict.
 */
export interface ApiObject {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  readonly apiVersion?: string | undefined;
  /** The kind, in the singular: `Deployment`. */
  readonly kind?: string | undefined;
  /** The fields of every object. */
  readonly metadata?: ApiObjectMeta | undefined;
}

/** Metadata in any type of the caller. Times are left out, because they are strings here and `Date` in `@kubernetes/client-node`. */
export interface ApiObjectMeta {
  /** Its name, unique in its namespace among its kind. */
  readonly name?: string | undefined;
  /** The beginning of a name that the server completes. */
  readonly generateName?: string | undefined;
  /** Its namespace; absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  /** Its identity, set by the server. Another object of the same name has another uid. */
  readonly uid?: string | undefined;
  /** The version of the object, to be compared for equality only. */
  readonly resourceVersion?: string | undefined;
  /** The labels that selectors match. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Annotations, which tools attach to the object. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** The finalizers, which keep the object after its deletion until its cleanup is done. */
  readonly finalizers?: readonly string[] | undefined;
  /** An owner reference may lack a uid only in an object to create. */
  readonly ownerReferences?: readonly ApiOwnerReference[] | undefined;
}

/** An owner reference in any type of the caller. */
export interface ApiOwnerReference {
  /** Group and version of the owner. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, in the same namespace or cluster-scoped. */
  readonly name: string;
  /** Identity of the owner. */
  readonly uid?: string | undefined;
  /** The owner manages this object; at most one does. */
  readonly controller?: boolean | undefined;
  /** A foreground deletion of the owner waits for this object. */
  readonly blockOwnerDeletion?: boolean | undefined;
}
