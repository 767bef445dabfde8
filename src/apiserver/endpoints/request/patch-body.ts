import type { Steps } from '../../../base/time/steps.ts';
import { foundName } from '../../../api/schema/decoding/decode-problem.ts';
import { boundTextValues } from '../../../api/codec/json/body-values.ts';
import { isJsonObject } from '../../../api/codec/json/json-value.ts';
import { decodeUtf8, duplicateFieldsOf, parseJsonText } from '../../../api/codec/json/json.ts';
import { applyJsonPatch, jsonPatchSteps, unknownJsonPatchFields } from '../../../api/patch/json-patch.ts';
import { applyMergePatch } from '../../../api/patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../../../api/patch/strategic-merge-patch.ts';
import { newBadRequest, newUnsupportedMediaType } from '../../../api/status-error.ts';
import { APPLY_PATCH } from './apply-body.ts';
import { strictFindings } from './decode-object.ts';
import type { RequestContext } from './request-context.ts';

/** A parsed patch: how it changes a document, and the strict findings about its text. */
export interface PatchBody {
  apply(document: unknown): unknown;
  /** The same with pauses, for a patch of many operations. */
  readonly steps?: (document: unknown) => Steps<unknown>;
  readonly text: string;
  /**
   * The part of a document that the patch reads or writes; other parts stay, and need not be decoded. `metadata` is kind, apiVersion and
   * metadata without managedFields; `fields` is all but managedFields (API-219).
   */
  readonly sees: 'metadata' | 'fields' | 'everything';
  /** Strict findings: duplicate keys, and members that no JSON patch operation has (API-199). */
  readonly findings: readonly string[];
}

/** A patch of more operations is applied in steps. */
const MANY_OPERATIONS = 100;

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** The media type without parameters (API-190). */
export function patchType(context: Pick<RequestContext, 'header'>): string {
  return (context.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Parses the body of a patch (API-190). `typeName` is absent for custom resources, which do not support strategic merge. */
export function readPatchBody(context: RequestContext, typeName: string | undefined): PatchBody {
  const contentType = patchType(context);
  const apply = applier(contentType, typeName);
  const body = context.request.body ?? new Uint8Array(0);
  const text = decodeUtf8(body);
  boundTextValues(text);
  const parsed = parseJsonText(text, prefixOf(contentType));
  // Go decodes null as a map without members; a merge patch of null is refused.
  const patch = parsed === null && contentType === STRATEGIC_MERGE_PATCH ? {} : parsed;
  if (contentType !== JSON_PATCH && !isJsonObject(patch)) {
    if (patch === null && contentType === MERGE_PATCH) throw newBadRequest('Invalid JSON Patch');
    throw newBadRequest(
      `${prefixOf(contentType)}json: cannot unmarshal ${foundName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return {
    apply: (document) => apply(document, patch),
    ...(contentType === JSON_PATCH && Array.isArray(patch) && patch.length > MANY_OPERATIONS
      ? { steps: (document) => jsonPatchSteps(document, patch) }
      : {}),
    text,
    // Operations of a JSON patch can refer to any other field.
    sees: contentType === JSON_PATCH || text.includes('managedFields') ? 'everything' : seenByMerge(patch),
    findings: findingsOf(contentType, patch, text),
  };
}

/** kube-apiserver names the failed step only for the two patch types that every kind supports. */
function prefixOf(contentType: string): string {
  return contentType === STRATEGIC_MERGE_PATCH ? '' : 'error decoding patch: ';
}

/** A merge changes the members of the patch; directives of a strategic merge patch are members as well. */
function seenByMerge(patch: unknown): 'metadata' | 'fields' {
  for (const member in patch as object) {
    if (member !== 'metadata' && member !== 'kind' && member !== 'apiVersion') return 'fields';
  }
  return 'metadata';
}

function findingsOf(contentType: string, patch: unknown, text: string): string[] {
  const duplicates = duplicateFieldsOf(text, patch);
  if (contentType !== JSON_PATCH) return strictFindings([], duplicates);
  return strictFindings(unknownJsonPatchFields(patch), duplicates).map((finding) => `json patch ${finding}`);
}

function applier(contentType: string, typeName: string | undefined): (document: unknown, patch: unknown) => unknown {
  if (contentType === JSON_PATCH) return applyJsonPatch;
  if (contentType === MERGE_PATCH) return applyMergePatch;
  if (contentType === STRATEGIC_MERGE_PATCH && typeName !== undefined) {
    return (document, patch) => applyStrategicMergePatch(document, patch, typeName);
  }
  throw unsupported(contentType, typeName);
}

function unsupported(contentType: string, typeName: string | undefined): Error {
  // kubectl recognizes this answer to an apply that the server does not support.
  if (typeName !== undefined || contentType === APPLY_PATCH) {
    return newUnsupportedMediaType('415: Unsupported Media Type');
  }
  const accepted = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH].join(', ');
  return newUnsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}
