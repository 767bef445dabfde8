import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** A write as admission sees it, whether it comes from the embedded server or from an AdmissionReview. */
export interface GuardRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly group: string;
  readonly version: string;
  /** Plural, as the API server resolved it: short names and singular names never reach admission. */
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty for an object of a collection that is deleted. */
  readonly name: string;
  readonly user: { readonly username: string; readonly groups: readonly string[] };
  readonly dryRun: boolean;
  /** DeleteOptions of a DELETE. */
  readonly options?: { readonly propagationPolicy?: string; readonly orphanDependents?: boolean } | undefined;
  readonly object?: KubeObject | undefined;
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
