/** One object as every document of a cascade names it: enough to find it again and to know that it is the same one. */
export interface ObjectReference {
  /** `v1`, `apps/v1` */
  readonly apiVersion: string;
  /** `Deployment` */
  readonly kind: string;
  /** Plural, as in paths: `deployments`. */
  readonly resource: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  /** Its `metadata.name`. */
  readonly name: string;
  /** Its `metadata.uid`; empty where it is not known. */
  readonly uid: string;
  /** The version that was read. */
  readonly resourceVersion?: string;
}
