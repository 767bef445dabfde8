/**
 * The part of every object that deletion is about. Field names and JSON shapes are Kubernetes' own
 * (apimachinery `pkg/apis/meta/v1/types.go`); all fields are optional because requests may leave any of them out.
 */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
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

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  /** RFC 3339, UTC, whole seconds: `2026-11-21T12:00:00Z`. */
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  /** Seconds. */
  deletionGracePeriodSeconds?: number | null;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

/** Any API object as JSON: known metadata, everything else opaque. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  [field: string]: unknown;
}

/** Finalizer by which an owner waits until its blocking dependents are gone (COL-062). */
export const FINALIZER_FOREGROUND = 'foregroundDeletion';
/** Finalizer by which an owner waits until its dependents have let go of it (COL-061). */
export const FINALIZER_ORPHAN = 'orphan';
