import { isJsonObject, textOf, textsOf } from '../../../api/codec/json/json-value.ts';
import { formatGroupVersionKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { StatusCause, StatusDetails } from '../../../api/status-error.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { Invocation } from '../matching/match-resources.ts';

/** The objects of a request in the version for a webhook. */
export interface VersionedObjects {
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

export interface ReviewRequest extends VersionedObjects {
  readonly uid: string;
  readonly attributes: AdmissionAttributes;
  readonly invocation: Invocation;
}

const KNOWN_VERSIONS = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof KNOWN_VERSIONS)[number];

/** The first supported version in the webhook's list; undefined if there is none. */
export function reviewVersion(versions: readonly string[] | null | undefined): ReviewVersion | undefined {
  for (const version of versions ?? []) {
    const known = KNOWN_VERSIONS.find((candidate) => candidate === version);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Builds the review (API-350). Absent fields are null, as in Go. */
export function admissionReview(version: ReviewVersion, request: ReviewRequest): object {
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: admissionRequest(request),
  };
}

/** The request of a review. CEL expressions use the same one, without its objects. */
export function admissionRequest({ uid, attributes, invocation, object, oldObject }: ReviewRequest) {
  const { info, kind, subresource, name, namespace, operation, user, dryRun, options } = attributes;
  return {
    uid,
    kind: invocation.kind,
    resource: invocation.resource,
    ...(invocation.subresource === '' ? {} : { subResource: invocation.subresource }),
    requestKind: kind,
    requestResource: { group: info.group, version: info.version, resource: info.resource },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.username,
      ...((user.uid ?? '') === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(user.extra === undefined || Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: options ?? null,
  };
}

/** The fields of a Status that a denial uses. */
export interface ReviewResult {
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details?: StatusDetails;
}

export interface ReviewPatch {
  readonly text: string;
  /** `JSONPatch`, or any other word of the webhook, which is checked where the patch is used. */
  readonly type: string;
}

/** The answer of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** The reason for a denial. */
  readonly result?: ReviewResult;
  /** Absent if the webhook changes nothing. */
  readonly patch?: ReviewPatch;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export type VerifiedResponse =
  | { readonly outcome: 'response'; readonly response: ReviewResponse }
  | { readonly outcome: 'invalid'; readonly why: string };

interface Expected {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutating: boolean;
}

/** Checks the answer of a webhook (API-351). A v1beta1 answer may lack kind and uid, and its patch needs no type. */
export function verifyReview(answer: unknown, { version, uid, mutating }: Expected): VerifiedResponse {
  if (!isJsonObject(answer)) return invalid('webhook response was absent');
  const { response } = answer;
  if (!isJsonObject(response)) return invalid('webhook response was absent');
  if (version === 'v1') {
    const given = textOf(response['uid']);
    if (given !== uid) return invalid(`expected response.uid=${quoted(uid)}, got ${quoted(given)}`);
    const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview';
    const kind = kindText(answer);
    if (kind !== wanted) return invalid(`expected webhook response of ${wanted}, got ${kind}`);
  }
  const allowed = response['allowed'] ?? false;
  if (typeof allowed !== 'boolean') return invalid('response.allowed is not a boolean');
  const patch = patchOf(response, mutating, version);
  if ('why' in patch) return invalid(patch.why);
  const status = response['status'];
  return {
    outcome: 'response',
    response: {
      allowed,
      ...(isJsonObject(status) ? { result: readResult(status) } : {}),
      ...patch,
      warnings: textsOf(response['warnings']),
      auditAnnotations: stringMap(response['auditAnnotations']),
    },
  };
}

function patchOf(
  response: Record<string, unknown>,
  mutating: boolean,
  version: ReviewVersion,
): { readonly patch?: ReviewPatch } | { readonly why: string } {
  const encoded = textOf(response['patch']);
  const type = response['patchType'] ?? undefined;
  if (version === 'v1') {
    if (!mutating && encoded !== '') return { why: 'validating webhook may not return response.patch' };
    if (!mutating && type !== undefined) return { why: 'validating webhook may not return response.patchType' };
    if (encoded !== '' && type === undefined) {
      return { why: 'webhook returned response.patch but not response.patchType' };
    }
    if (encoded === '' && type !== undefined) {
      return { why: 'webhook returned response.patchType but not response.patch' };
    }
    if (type === '') return { why: 'webhook returned invalid response.patchType of ""' };
  }
  if (!mutating || encoded === '') return {};
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return { patch: { text, type: version === 'v1' ? textOf(type) : 'JSONPatch' } };
}

function readResult({ message, reason, code, details }: Record<string, unknown>): ReviewResult {
  return {
    message: textOf(message),
    reason: textOf(reason),
    code: typeof code === 'number' ? code : 0,
    ...(isJsonObject(details) ? { details: readDetails(details) } : {}),
  };
}

function readDetails({ name, group, kind, uid, causes, retryAfterSeconds }: Record<string, unknown>): StatusDetails {
  const list = Array.isArray(causes) ? causes.filter(isJsonObject) : [];
  return {
    name: textOf(name),
    group: textOf(group),
    kind: textOf(kind),
    uid: textOf(uid),
    causes: list.map(readCause),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
  };
}

function readCause({ reason, message, field }: Record<string, unknown>): StatusCause {
  return {
    ...(textOf(reason) === '' ? {} : { reason: textOf(reason) }),
    message: textOf(message),
    ...(textOf(field) === '' ? {} : { field: textOf(field) }),
  };
}

function kindText({ apiVersion, kind }: Record<string, unknown>): string {
  const gv = parseGroupVersion(textOf(apiVersion)) ?? { group: '', version: textOf(apiVersion) };
  return formatGroupVersionKind({ ...gv, kind: textOf(kind) });
}

function invalid(why: string): VerifiedResponse {
  return { outcome: 'invalid', why };
}

function stringMap(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
