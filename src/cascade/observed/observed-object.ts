import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import type { IncompleteResource } from '../documents/document.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** An object as it appears in a list of metadata. */
export interface ObservedObject {
  readonly ref: ObjectReference;
  readonly metadata: ObjectMeta;
}

/** A kind as it appears in discovery. */
export interface ObservedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Objects of a cluster or of a namespace, and the kinds that could not be read. */
export interface Observation {
  /** Milliseconds since the epoch at which reading began. */
  readonly readAt: number;
  readonly objects: readonly ObservedObject[];
  /** Undefined if exactly this version is not served. */
  readonly kindOf: (apiVersion: string, kind: string) => ObservedKind | undefined;
  /** The kind in every served version of its group. */
  readonly versionsOf: (apiVersion: string, kind: string) => readonly ObservedKind[];
  /** Group versions whose discovery failed, so that it is unknown whether they serve a kind. */
  readonly unreadGroups: readonly string[];
  readonly incomplete: readonly IncompleteResource[];
  /** The namespace that was read; absent for the whole cluster. */
  readonly namespace?: string;
}

/** The key of an object's place in any version: group, kind, namespace and name. */
export function placeOf({ apiVersion, kind, namespace, name }: Omit<ObjectReference, 'uid' | 'resource'>): string {
  return `${parseGroupVersion(apiVersion)?.group ?? apiVersion}/${kind}/${namespace ?? ''}/${name}`;
}

/** `deployment/web`: an object in messages. */
export const nameOf = ({ kind, name }: Pick<ObjectReference, 'kind' | 'name'>): string =>
  `${kind.toLowerCase()}/${name}`;

/** True if the object is being deleted. */
export const isTerminating = ({ deletionTimestamp }: ObjectMeta): boolean =>
  deletionTimestamp !== undefined && deletionTimestamp !== null;
