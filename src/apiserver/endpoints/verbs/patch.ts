import { isJsonObject } from '../../../api/codec/json/json-value.ts';
import { fieldInvalid } from '../../../api/field-error.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { foundName } from '../../../api/schema/decoding/decode-problem.ts';
import { newBadRequest, newInvalid, newNotFound } from '../../../api/status-error.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { inTurns } from '../../../base/time/steps.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { checkName, metadataOf } from '../../registry/object/object-meta.ts';
import type { ObjectSchema } from '../../registry/object/object-schema.ts';
import { updateObject } from '../../registry/update-object.ts';
import { APPLY_PATCH } from '../request/apply-body.ts';
import { handleApply } from './apply-patch.ts';
import { strictFindings } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { patchType, type PatchBody, readPatchBody } from '../request/patch-body.ts';
import type { RequestContext } from '../request/request-context.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { updatedPart } from './update.ts';
import { type FieldValidation, parseWriteOptions } from '../request/write-options.ts';

/** PATCH of an object or of a subresource that has the object's own kind. */
export async function handlePatch(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, info, namespace, name } = scope;
  if (patchType(context) === APPLY_PATCH) return handleApply(scope);
  // The type of the patch determines which options exist, so it is checked first.
  const patch = readPatchBody(context, resource.schema.typeName);
  const options = parseWriteOptions(context.query, 'PatchOptions');
  const result = await updateObject(resource, {
    namespace,
    name,
    ...updatedPart(scope),
    method: 'patch',
    next: (previous) => {
      if (previous === undefined) throw newNotFound(info, name);
      const patching = { patch, expected: resource.schema, validation: options.fieldValidation, context };
      const named = (next: KubeObject): KubeObject => {
        checkName(next, name);
        return next;
      };
      if (patch.steps === undefined) return named(patched(previous, patching));
      return patchedInTurns(previous, patching, resource.environment.clock).then(named);
    },
    context: writeContext(scope, options.dryRun),
  });
  return writeObject(scope, 200, result.object);
}

interface Patching {
  readonly patch: PatchBody;
  readonly expected: ObjectSchema;
  readonly validation: FieldValidation;
  readonly context: Pick<RequestContext, 'warn'>;
}

/**
 * The patched document as an object of its kind with defaults. Its top level and metadata are new; deeper parts are shared with the
 * document if the patch does not touch them.
 */
export function patched(document: KubeObject, patching: Patching): KubeObject {
  const { patch, expected } = patching;
  const sees = patch.sees === 'metadata' && expected.defaultsMetadata === true ? 'fields' : patch.sees;
  return decodedPatch(document, patch.apply(seenPart(document, sees)), { ...patching, sees });
}

/** The same for a patch of many operations, which may refer to every part of the document. */
async function patchedInTurns(document: KubeObject, patching: Patching, clock: Clock): Promise<KubeObject> {
  const result = await inTurns(clock, patching.patch.steps!(document));
  return decodedPatch(document, result, { ...patching, sees: 'everything' });
}

function decodedPatch(
  document: KubeObject,
  result: unknown,
  { patch, expected, validation, context, sees }: Patching & Pick<PatchBody, 'sees'>,
): KubeObject {
  if (!isJsonObject(result)) throw newBadRequest('the patch does not leave an object');
  const object = result as KubeObject;
  refuseOtherKind(object, expected);
  const decoded = expected.decode(object);
  if (validation !== 'Ignore') {
    const findings = [...patch.findings, ...strictFindings(decoded.unknownFields, [])];
    if (findings.length > 0 && validation === 'Strict') {
      const detail = `strict decoding error: ${findings.join(', ')}`;
      throw newInvalid({ group: '', kind: '' }, '', [fieldInvalid('patch', patch.text, detail)]);
    }
    for (const finding of findings) context.warn(finding);
  }
  // The object that was read already has its defaults.
  if (sees === 'metadata') return { ...document, metadata: metadataOf(decoded.object) };
  expected.applyDefaults(decoded.object);
  return decoded.object;
}

/** A copy down to the members of metadata, without managedFields; or all of the document. */
function seenPart(document: KubeObject, sees: PatchBody['sees']): KubeObject {
  if (sees === 'everything') return document;
  const { managedFields: _, ...metadata } = document.metadata ?? {};
  if (sees === 'fields') return { ...document, metadata };
  const seen: KubeObject = { metadata };
  for (const member of ['kind', 'apiVersion']) if (document[member] !== undefined) seen[member] = document[member];
  return seen;
}

function refuseOtherKind(object: KubeObject, expected: ObjectSchema): void {
  for (const field of ['apiVersion', 'kind']) {
    const given = object[field] ?? '';
    if (typeof given === 'string') continue;
    throw newBadRequest(`json: cannot unmarshal ${foundName(given)} into Go struct field .${field} of type string`);
  }
  const apiVersion = apiVersionOf(expected);
  if (object.apiVersion !== apiVersion) {
    throw newBadRequest(
      `the API version in the data (${object.apiVersion ?? ''}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (object.kind !== expected.kind) {
    throw newBadRequest(
      `the kind in the data (${object.kind ?? ''}) does not match the expected kind (${expected.kind})`,
    );
  }
}
