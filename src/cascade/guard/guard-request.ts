import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** A write as admission sees it, whether it comes from the embedded server or from an AdmissionReview. */
export interface GuardRequest {
  /** `CONNECT` is never refused. */
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** Empty for the core group. */
  readonly group: string;
  /** `v1` */
  readonly version: string;
  /** Plural, as the API server resolved it: short names and singular names never reach admission. */
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** Empty for an object of a collection that is deleted. */
  readonly name: string;
  /** The sender. */
  readonly user: { readonly username: string; readonly groups: readonly string[] };
  /** A dry run gets the same answer. */
  readonly dryRun: boolean;
  /** DeleteOptions of a DELETE. */
  readonly options?: { readonly propagationPolicy?: string; readonly orphanDependents?: boolean } | undefined;
  /** The object after the write; absent for a DELETE. */
  readonly object?: KubeObject | undefined;
  /** The object before the write; absent for a CREATE. */
  readonly oldObject?: KubeObject | undefined;
}

/** The object of a request for messages: `deployments.apps "web" in namespace "shop"`. */
export function subjectOf(request: GuardRequest): string {
  const { group, resource, namespace, name, oldObject } = request;
  const type = group === '' ? resource : `${resource}.${group}`;
  const shown = name || oldObject?.metadata?.name || '';
  const isCluster = namespace === '' || isNamespaces(request);
  return `${type} "${shown}"${isCluster ? '' : ` in namespace "${namespace}"`}`;
}
