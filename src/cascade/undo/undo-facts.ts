import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { RecordedObject } from '../record/recorded-object.ts';

/** A kind as the cluster serves it. */
export interface ServedKind {
  readonly resource: string;
  readonly namespaced: boolean;
  /** Status is written through `/status`, and ignored in the body. */
  readonly statusSubresource: boolean;
  /** A built-in kind: its controllers compute the status anew. */
  readonly builtIn: boolean;
}

/** An object that is in the cluster now, where a recorded one was. */
export interface LiveObject {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly terminating: boolean;
  /** uid that the object had in the record it was restored from (annotation `kubegc.io/restored-from`). */
  readonly restoredFromUid?: string;
  readonly ownerReferences: readonly OwnerReference[];
  /** Only for a PersistentVolume: `namespace/name` of the claim it is reserved for. */
  readonly claim?: string;
}

/** Everything that the plan of an undo uses. */
export interface UndoFacts {
  readonly objects: readonly RecordedObject[];
  /** By {@link coordinatesOf}: recorded objects, their owners, and the volumes and accounts they name, as far as something is there now. */
  readonly live: ReadonlyMap<string, LiveObject>;
  /** Undefined: the kind is not served. */
  readonly served: (apiVersion: string, kind: string) => ServedKind | undefined;
  /** True only when something was seen that serves the finalizer. */
  readonly finalizerServed: (finalizer: string) => boolean;
}

/** Group, kind, namespace and name: where an object is, in whatever version. */
export function coordinatesOf(apiVersion: string, kind: string, namespace: string | undefined, name: string): string {
  return `${parseGroupVersion(apiVersion)?.group ?? apiVersion}/${kind}/${namespace ?? ''}/${name}`;
}

export function coordinatesOfObject({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  return coordinatesOf(apiVersion, kind, metadata?.namespace, metadata?.name ?? '');
}

/**
 * Where the owner that a reference names would be. The namespace is the dependent's, unless the owner's kind is cluster-scoped.
 */
export function coordinatesOfOwner(
  dependent: KubeObject,
  { apiVersion, kind, name }: OwnerReference,
  served: UndoFacts['served'],
): string {
  const namespaced = served(apiVersion, kind)?.namespaced ?? true;
  return coordinatesOf(apiVersion, kind, namespaced ? dependent.metadata?.namespace : undefined, name);
}
