import { isJsonObject } from '../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { GuardRequest } from './guard-request.ts';
import type { GuardVerdict } from './judge.ts';

/** A body that is no AdmissionReview of `admission.k8s.io/v1`. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
}

/** The fields of an AdmissionRequest that the guard reads. */
interface AdmissionRequest {
  readonly uid?: string;
  readonly resource?: { readonly group?: string; readonly version?: string; readonly resource?: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation?: string;
  readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] };
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
  readonly options?: GuardRequest['options'] | null;
  readonly dryRun?: boolean;
}

const OPERATIONS: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** Reads a review. Throws a {@link ReviewError} that describes the problem. */
export function parseReview(text: string): { readonly uid: string; readonly request: GuardRequest } {
  const { uid, resource, operation, userInfo, ...rest } = requestOf(text);
  if (typeof uid !== 'string' || uid === '') throw new ReviewError('the AdmissionReview has no request.uid');
  if (operation === undefined || !OPERATIONS.has(operation)) {
    throw new ReviewError(`the AdmissionReview has no operation that is known: ${JSON.stringify(operation)}`);
  }
  if (typeof resource?.resource !== 'string') throw new ReviewError('the AdmissionReview has no request.resource');
  const { groups } = userInfo ?? {};
  const request: GuardRequest = {
    operation: operation as GuardRequest['operation'],
    group: resource.group ?? '',
    version: resource.version ?? '',
    resource: resource.resource,
    subresource: rest.subResource ?? '',
    namespace: rest.namespace ?? '',
    name: rest.name ?? '',
    user: { username: userInfo?.username ?? '', groups: Array.isArray(groups) ? groups : [] },
    dryRun: rest.dryRun === true,
    options: rest.options ?? undefined,
    object: rest.object ?? undefined,
    oldObject: rest.oldObject ?? undefined,
  };
  return { uid, request };
}

function requestOf(text: string): AdmissionRequest {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    throw new ReviewError('the body is no JSON');
  }
  const { kind, apiVersion, request } = (review ?? {}) as Record<string, unknown>;
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
    throw new ReviewError('the body is no AdmissionReview of admission.k8s.io/v1');
  }
  if (!isJsonObject(request)) throw new ReviewError('the AdmissionReview has no request');
  return request;
}

/** The answer to a review, as an object of JSON. */
export function reviewAnswer(uid: string, { verdict, reason, message, warnings }: GuardVerdict): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: verdict === 'allow',
      ...(verdict === 'allow' ? {} : { status: { code: 403, reason: 'Forbidden', message } }),
      ...(warnings.length === 0 ? {} : { warnings }),
      auditAnnotations: { reason },
    },
  };
}
