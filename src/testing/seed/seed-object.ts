import type { ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';

/** Without a uid it means an owner that stands before. */
export type SeedOwner = Omit<OwnerReference, 'uid'> & Partial<Pick<OwnerReference, 'uid'>>;

/** An object as it is written down to be created. */
export interface SeedObject {
  apiVersion?: string;
  kind?: string;
  metadata?: Omit<ObjectMeta, 'ownerReferences'> & { ownerReferences?: SeedOwner[] };
  [field: string]: unknown;
}
