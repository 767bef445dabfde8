import type { ResourceInfo } from '../kinds/resource-info.ts';
import { apiVersionOf } from '../meta/group-version-kind.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import type { Status } from '../status-error.ts';
import { successStatus } from '../status-error.ts';
import type { DeleteDecision } from './delete-decision.ts';
import type { DeleteOptions } from './delete-options.ts';

/**
 * The HTTP status of a DELETE. The body says whether the object is gone; the status does not. It is 202 only if the object stays although
 * the client set `orphanDependents: false` (API-254).
 */
export function deleteStatusCode(decision: DeleteDecision, options: DeleteOptions): number {
  if (decision.outcome === 'refuse') return decision.error.code;
  return decision.outcome !== 'remove' && options.orphanDependents === false ? 202 : 200;
}

export interface DeleteAnswer {
  readonly code: number;
  /** An object if it still exists or if its type always answers with objects. A Status if it is gone or the request was refused. */
  readonly body: KubeObject | Status;
}

/**
 * The status and body of a DELETE (API-043, 249, 250, 254, 257). `stored` is the object after the write, with its new resourceVersion, if
 * the decision was an update.
 */
export function deleteAnswer(
  decision: DeleteDecision,
  context: {
    readonly resource: ResourceInfo;
    readonly options: DeleteOptions;
    readonly stored?: KubeObject;
    /** The version of the removal, if the Status names it (API-607). */
    readonly revision?: string | undefined;
  },
): DeleteAnswer {
  const { resource, options, stored, revision } = context;
  const code = deleteStatusCode(decision, options);
  if (decision.outcome === 'refuse') return { code, body: decision.error.status };
  if (decision.outcome !== 'remove') return { code, body: stored ?? decision.object };
  if (decision.answer === 'emptyObject') {
    return { code, body: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata: {} } };
  }
  if (resource.deleteReturnsObject) return { code, body: decision.object };
  const { name = '', uid = '' } = decision.object.metadata ?? {};
  const status = successStatus({ name, group: resource.group, kind: resource.resource, uid });
  return { code, body: revision === undefined ? status : { ...status, metadata: { resourceVersion: revision } } };
}

/** Texts for the `Warning` header of a DELETE, single or of a collection (API-248). */
export function deleteWarnings(
  resource: Pick<ResourceInfo, 'group' | 'resource'>,
  options: DeleteOptions,
): readonly string[] {
  const silent = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (silent || resource.group !== 'batch' || resource.resource !== 'jobs') return [];
  return [
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  ];
}
