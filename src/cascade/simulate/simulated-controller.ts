import type { KubeObject } from '../../api/meta/object-meta.ts';

/** A part of a cluster, besides the collector, that reacts to deletions (CAS-015). */
export interface SimulatedController {
  /** An object began to terminate. */
  terminating?(uid: string, object: KubeObject): void;
  /** An object was removed. */
  removed?(uid: string, object: KubeObject): void;
  /** One pass. Returns whether it wrote anything. */
  work(): boolean;
}

export const isOfKind = (object: KubeObject, apiVersion: string, kind: string): boolean =>
  object.kind === kind && object.apiVersion === apiVersion;
