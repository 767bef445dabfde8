/** Version of every document that programs read. No field changes its meaning within a version (CAS-090). */
export const DOCUMENT_API_VERSION = 'kubegc.io/v1alpha1';

export interface Document<Kind extends string> {
  readonly apiVersion: typeof DOCUMENT_API_VERSION;
  readonly kind: Kind;
}

/** The source of an answer's objects: lists, or a running kubegc that already has the graph (CAS-003). */
export type DataSource = 'list' | 'warm';

/** A resource that could not be read (CAS-002). Every verdict that could depend on it says so. */
export interface IncompleteResource {
  /** `widgets.example.com`; a whole group version (`metrics.k8s.io/v1beta1`) when its discovery failed. */
  readonly resource: string;
  /** The answer of the server. */
  readonly reason: string;
}

/** The description of its data in every answer. */
export interface DataOrigin {
  /** RFC 3339 time at which reading began. */
  readonly readAt: string;
  readonly source: DataSource;
  /** Absent if everything was read. */
  readonly incomplete?: readonly IncompleteResource[];
}
