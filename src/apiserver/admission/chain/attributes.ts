import { setKey } from '../../../api/codec/json/json-value.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { GroupVersionKind } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { Reinvocation } from './reinvocation.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Facts about the kinds around a request, for plug-ins that use other versions (apiserver `ObjectInterfaces`). */
export interface ObjectInterfaces {
  /** The other served resources whose objects are the same stored ones, in the order they are served (matchPolicy Equivalent). */
  equivalents(): readonly ResourceInfo[];
  /** Kind of a subresource's objects in one of the equivalents; undefined when it does not have the subresource there. */
  kindOf(resource: ResourceInfo, subresource: string): GroupVersionKind | undefined;
  /** In another version of its kind. A new tree, or `object` itself where nothing changes. */
  convert(object: KubeObject, to: GroupVersionKind): Promise<KubeObject> | KubeObject;
  /** An apply configuration merged into an object of a kind, without managers. Throws an error of its own words where it does not fit. */
  merge(object: KubeObject, configuration: KubeObject, kind: GroupVersionKind): KubeObject;
  /** A tree that comes from outside as an object of a kind: decoded by type, defaulted. 400 for values of the wrong type. */
  decode(tree: KubeObject, kind: GroupVersionKind): KubeObject;
}

/** The view that a plug-in has of a write (apiserver `admission.Attributes`). */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  /** The resource as requested. */
  readonly info: ResourceInfo;
  /** Of `object` and `oldObject`: the resource's own, or a subresource's (Scale, Eviction, PodExecOptions). */
  readonly kind: GroupVersionKind;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped objects; of a Namespace its own name. */
  readonly namespace: string;
  /** Empty for the deletion of a collection, and while a name is still to be generated. */
  readonly name: string;
  /** CreateOptions, UpdateOptions or DeleteOptions of `meta.k8s.io/v1`; a patch has the options of what it does. Absent for CONNECT. */
  readonly options?: KubeObject | undefined;
  /**
   * Next state; absent for DELETE. Mutating plug-ins change its top level and metadata in place; what is below may be shared with
   * {@link oldObject}, and is replaced.
   */
  readonly object?: KubeObject;
  /** Stored state; absent for CREATE and CONNECT. Never changed. */
  readonly oldObject?: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** When the request is answered with a time-out, by `Clock.monotonic`; absent where nobody waits. */
  readonly deadline?: number | undefined;
  readonly interfaces: ObjectInterfaces;
  readonly reinvocation: Reinvocation;
  /** Adds a `Warning` header to the answer (API-010). */
  warn(text: string): void;
  /** Adds an annotation to the request's audit event; the first value of a key counts. */
  annotate(key: string, value: string): void;
}

/** Gives an object the content of another one: the tree that admission works on stays the one the write was started with. */
export function replaceContent(object: KubeObject, content: KubeObject): void {
  for (const key of Object.keys(object)) delete object[key];
  for (const key of Object.keys(content)) setKey(object, key, content[key]);
}
