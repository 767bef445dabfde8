import { setKey } from '../../../api/codec/json/json-value.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { GroupVersionKind } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { Reinvocation } from './reinvocation.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Facts about the kinds of a request, for plug-ins that use other versions (apiserver `ObjectInterfaces`). */
export interface ObjectInterfaces {
  /** The other served resources with the same stored objects, in serving order (matchPolicy Equivalent). */
  equivalents(): readonly ResourceInfo[];
  /** The kind of a subresource in one of the equivalents; undefined if that one lacks the subresource. */
  kindOf(resource: ResourceInfo, subresource: string): GroupVersionKind | undefined;
  /** Converts an object to another version of its kind. Returns a new tree, or `object` itself if nothing changes. */
  convert(object: KubeObject, to: GroupVersionKind): Promise<KubeObject> | KubeObject;
  /** Merges an apply configuration into an object of a kind, without managers. Throws an error with its own message if it does not fit. */
  merge(object: KubeObject, configuration: KubeObject, kind: GroupVersionKind): KubeObject;
  /** Decodes an external tree as an object of a kind, by type and with defaults. Throws a 400 for values of the wrong type. */
  decode(tree: KubeObject, kind: GroupVersionKind): KubeObject;
}

/** The view that a plug-in has of a write (apiserver `admission.Attributes`). */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  /** The resource in the version of the request. */
  readonly info: ResourceInfo;
  /** The kind of `object` and `oldObject`: the resource's own, or a subresource's (Scale, Eviction, PodExecOptions). */
  readonly kind: GroupVersionKind;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped objects; for a Namespace, its own name. */
  readonly namespace: string;
  /** Empty for the deletion of a collection, and before a name is generated. */
  readonly name: string;
  /** CreateOptions, UpdateOptions or DeleteOptions of `meta.k8s.io/v1`; a patch has the options of its operation. Absent for CONNECT. */
  readonly options?: KubeObject | undefined;
  /**
   * The next state; absent for DELETE. Mutating plug-ins change its top level and metadata in place. Deeper parts may be shared with {@link
   * oldObject}, so they are replaced.
   */
  readonly object?: KubeObject;
  /** The stored state; absent for CREATE and CONNECT. Never changed. */
  readonly oldObject?: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The time by `Clock.monotonic` at which the request times out; absent if it does not. */
  readonly deadline?: number | undefined;
  readonly interfaces: ObjectInterfaces;
  readonly reinvocation: Reinvocation;
  /** Adds a `Warning` header to the answer (API-010). */
  warn(text: string): void;
  /** Adds an annotation to the request's audit event. The first value of a key wins. */
  annotate(key: string, value: string): void;
}

/** Replaces the content of an object in place, because the write continues with the tree that admission received. */
export function replaceContent(object: KubeObject, content: KubeObject): void {
  for (const key of Object.keys(object)) delete object[key];
  for (const key of Object.keys(content)) setKey(object, key, content[key]);
}
