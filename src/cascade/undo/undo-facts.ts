import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { RecordedObject } from '../record/recorded-object.ts';

/** A kind in the cluster. */
export interface ServedKind {
  readonly resource: string;
  readonly namespaced: boolean;
  /** True if status is written through `/status` and ignored in the body. */
  readonly statusSubresource: boolean;
  /** True for a built-in kind, whose controllers compute the status again. */
  readonly builtIn: boolean;
}

/** An object in the cluster at the place of a recorded one. */
export interface LiveObject {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly terminating: boolean;
  /** The object's uid in the record from which it was restored (annotation `kubegc.io/restored-from`). */
  readonly restoredFromUid?: string;
  readonly ownerReferences: readonly OwnerReference[];
  /** Only for a PersistentVolume: `namespace/name` of the claim for which it is reserved. */
  readonly claim?: string;
}

/** Everything that the plan of an undo uses. */
export interface UndoFacts {
  readonly objects: readonly RecordedObject[];
  /**
   * By {@link coordinatesOf}: the current objects at the places of recorded objects, their owners, and the volumes and accounts they name.
   */
  readonly live: ReadonlyMap<string, LiveObject>;
  /** Undefined if the kind is not served. */
  readonly served: (apiVersion: string, kind: string) => ServedKind | undefined;
  /** True only with evidence of a program that serves the finalizer. */
  readonly finalizerServed: (finalizer: string) => boolean;
}

/** The key of an object's place in any version: group, kind, namespace and name. */
export function coordinatesOf(apiVersion: string, kind: string, namespace: string | undefined, name: string): string {
  return `${parseGroupVersion(apiVersion)?.group ?? apiVersion}/${kind}/${namespace ?? ''}/${name}`;
}

export function coordinatesOfObject({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  return coordinatesOf(apiVersion, kind, metadata?.namespace, metadata?.name ?? '');
}

/** The place of the owner that a reference names. The namespace is the dependent's, unless the owner's kind is cluster-scoped. */
export function coordinatesOfOwner(
  dependent: KubeObject,
  { apiVersion, kind, name }: OwnerReference,
  served: UndoFacts['served'],
): string {
  const namespaced = served(apiVersion, kind)?.namespaced ?? true;
  return coordinatesOf(apiVersion, kind, namespaced ? dependent.metadata?.namespace : undefined, name);
}
