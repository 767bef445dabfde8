/**
 * The metadata on which deletion depends. Field names and JSON shapes are Kubernetes' own (apimachinery `pkg/apis/meta/v1/types.go`); all
 * fields are optional because a request may omit any of them.
 */
export interface OwnerReference {
  /** Group and version of the owner. */
  apiVersion: string;
  /** Kind of the owner. */
  kind: string;
  /** Name of the owner, in the same namespace or cluster-scoped. */
  name: string;
  /** Identity of the owner. */
  uid: string;
  /** The owner manages this object; at most one does. */
  controller?: boolean;
  /** A foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** The metadata that every object has (apimachinery `ObjectMeta`). */
export interface ObjectMeta {
  /** Its name, unique in its namespace among its kind. */
  name?: string;
  /** The beginning of a name that the server completes. */
  generateName?: string;
  /** Its namespace; absent for cluster-scoped kinds. */
  namespace?: string;
  /** Its identity, set by the server. Another object of the same name has another uid. */
  uid?: string;
  /** The version of the object, to be compared for equality only. */
  resourceVersion?: string;
  /** The number of changes of the spec; changes of the status do not count. */
  generation?: number;
  /** RFC 3339, UTC, whole seconds: `2026-11-21T12:00:00Z`. */
  creationTimestamp?: string | null;
  /** The time of its deletion, past or planned, in the form of {@link creationTimestamp}. */
  deletionTimestamp?: string | null;
  /** Seconds. */
  deletionGracePeriodSeconds?: number | null;
  /** The labels that selectors match. */
  labels?: Record<string, string>;
  /** Annotations, which tools attach to the object. */
  annotations?: Record<string, string>;
  /** The owners. The object is collected when none of them is left. */
  ownerReferences?: OwnerReference[];
  /** The finalizers, which keep the object after its deletion until its cleanup is done. */
  finalizers?: string[];
  /** The managers of fields, for server-side apply. */
  managedFields?: ManagedFieldsEntry[];
  /** No longer set. */
  selfLink?: string;
}

/** Any API object as JSON: known metadata, everything else opaque. */
export interface KubeObject {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  apiVersion?: string;
  /** The kind, in the singular: `Deployment`. */
  kind?: string;
  /** The fields of every object. */
  metadata?: ObjectMeta;
  [field: string]: unknown;
}

/** Finalizer by which an owner waits until its blocking dependents are gone (COL-062). */
export const FINALIZER_FOREGROUND = 'foregroundDeletion';
/** Finalizer by which an owner waits until its dependents are orphaned (COL-061). */
export const FINALIZER_ORPHAN = 'orphan';
