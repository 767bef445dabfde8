import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import type { IncompleteResource } from '../documents/document.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** An object as a list of metadata shows it. */
export interface ObservedObject {
  readonly ref: ObjectReference;
  readonly metadata: ObjectMeta;
}

/** A kind of object as discovery offers it. */
export interface ObservedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Objects of a cluster or of a namespace, and what could not be read of them. */
export interface Observation {
  /** Milliseconds since the epoch, when reading began. */
  readonly readAt: number;
  readonly objects: readonly ObservedObject[];
  /** Undefined: not served in exactly this version. */
  readonly kindOf: (apiVersion: string, kind: string) => ObservedKind | undefined;
  /** The kind in every version of its group that is served. */
  readonly versionsOf: (apiVersion: string, kind: string) => readonly ObservedKind[];
  /** Group versions whose discovery failed: whether they serve a kind is not known. */
  readonly unreadGroups: readonly string[];
  readonly incomplete: readonly IncompleteResource[];
  /** The namespace that was read; absent for the whole cluster. */
  readonly namespace?: string;
}

/** Group, kind, namespace and name: where an object is, in whatever version. */
export function placeOf({ apiVersion, kind, namespace, name }: Omit<ObjectReference, 'uid' | 'resource'>): string {
  return `${parseGroupVersion(apiVersion)?.group ?? apiVersion}/${kind}/${namespace ?? ''}/${name}`;
}

/** `deployment/web`: an object in messages. */
export const nameOf = ({ kind, name }: Pick<ObjectReference, 'kind' | 'name'>): string =>
  `${kind.toLowerCase()}/${name}`;

/** Whether the metadata say that the object is being deleted. */
export const isTerminating = ({ deletionTimestamp }: ObjectMeta): boolean =>
  deletionTimestamp !== undefined && deletionTimestamp !== null;
