import type { KubeObject } from '../../api/meta/object-meta.ts';

/** Something in a cluster that acts upon deletions besides the collector (CAS-015). */
export interface SimulatedController {
  /** An object began to be deleted, and is held. */
  terminating?(uid: string, object: KubeObject): void;
  /** An object is there no more. */
  removed?(uid: string, object: KubeObject): void;
  /** One pass. Returns whether it wrote anything. */
  work(): boolean;
}

export const isOfKind = (object: KubeObject, apiVersion: string, kind: string): boolean =>
  object.kind === kind && object.apiVersion === apiVersion;
