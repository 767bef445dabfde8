/**
 * An object of the API in anybody's types: `KubeObject`, the classes of `@kubernetes/client-node`, an interface of the
 * caller's own. It names only the fields that a caller's object must not contradict; all others are left alone.
 */
export interface ApiObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ApiObjectMeta | undefined;
}

/** Metadata in anybody's types. Times are left out: they are strings here and `Date` in `@kubernetes/client-node`. */
export interface ApiObjectMeta {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  /** Only what is asked to be created may leave out a uid. */
  readonly ownerReferences?: readonly ApiOwnerReference[] | undefined;
}

/** An owner reference in anybody's types. */
export interface ApiOwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}
