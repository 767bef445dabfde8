import type { ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';

/** An owner reference. Without a uid it means an owner that precedes the object. */
export type SeedOwner = Omit<OwnerReference, 'uid'> & Partial<Pick<OwnerReference, 'uid'>>;

/** An object to create, in the form in which a test writes it. */
export interface SeedObject {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  apiVersion?: string;
  /** The kind, in the singular: `Deployment`. */
  kind?: string;
  /** The fields of every object; an owner reference may leave out its uid. */
  metadata?: Omit<ObjectMeta, 'ownerReferences'> & { ownerReferences?: SeedOwner[] };
  [field: string]: unknown;
}
