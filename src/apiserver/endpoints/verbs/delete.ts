import { deleteAnswer, deleteWarnings } from '../../../api/deletion/delete-answer.ts';
import type { DeleteDecision } from '../../../api/deletion/delete-decision.ts';
import {
  type DeleteOptions,
  deleteOptionsFromBody,
  deleteOptionsFromQuery,
  isDryRun,
  validateDeleteOptions,
} from '../../../api/deletion/delete-options.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { isStatus, newBadRequest, StatusError, successStatus } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { type DeleteResult, deleteObject, deleteUnreadable } from '../../registry/delete-object.ts';
import { TransientObject } from '../../registry/object/served-object.ts';
import { statusResponse } from '../negotiation/body-format.ts';
import { decodeBody } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { deletionContext, type ResourceScope } from '../request/resource-scope.ts';

/** DELETE of one object. */
export async function handleDelete(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, info, namespace, name } = scope;
  const { features } = resource.environment;
  const options = await readDeleteOptions(scope);
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) return handleUnsafeDelete(scope);
  for (const warning of deleteWarnings(info, options)) context.warn(warning);
  const { decision, object } = await deleteObject(resource, {
    namespace,
    name,
    options,
    context: deletionContext(scope, isDryRun(options)),
  });
  const { code, body } = deleteAnswer(shownAs(decision, object), {
    resource: info,
    options,
    stored: object,
    revision: features.deletionVersion && !isDryRun(options) ? object.metadata?.resourceVersion : undefined,
  });
  // A Status is never transformed (API-027).
  if (isStatus(body)) return statusResponse(body, scope.representation, code);
  return writeObject(scope, code, new TransientObject(body));
}

/** The verb that a user needs, besides `delete`, for an object that cannot be read (API-607). */
const UNSAFE_DELETE = 'unsafe-delete-ignore-read-errors';

async function handleUnsafeDelete({
  context,
  resource,
  info,
  namespace,
  name,
  ...scope
}: ResourceScope): Promise<HttpResponse> {
  context.requireVerb(UNSAFE_DELETE);
  await deleteUnreadable(resource, { namespace, name });
  return statusResponse(successStatus({ name, group: info.group, kind: info.resource }), scope.representation, 200);
}

function shownAs(decision: DeleteResult['decision'], object: KubeObject): DeleteDecision {
  if (decision.outcome === 'unchanged') return decision;
  const { outcome, reason } = decision;
  return outcome === 'update' ? { outcome, object, reason } : { outcome, object, answer: decision.answer, reason };
}

/** kube-apiserver reports only the cause for a body of options, without the kind that it expected and the start of the body. */
function withoutFrame(error: unknown): unknown {
  const framed = error instanceof StatusError && error.code === 400 && error.cause instanceof Error;
  return framed ? newBadRequest((error.cause as Error).message) : error;
}

/** If there is a body, the query is ignored (API-240). */
export async function readDeleteOptions({ context, resource }: ResourceScope): Promise<DeleteOptions> {
  const { body } = context.request;
  let options: DeleteOptions;
  if (body !== undefined && body.length > 0) {
    const { object } = await decodeBody(
      context,
      { kind: 'DeleteOptions', protobuf: 'accepted' },
      resource.environment.clock,
    ).catch((error: unknown) => {
      throw withoutFrame(error);
    });
    // The options are the same in every group and version, served or not.
    options = deleteOptionsFromBody(object);
  } else {
    options = context.query.size === 0 ? {} : deleteOptionsFromQuery(context.query);
  }
  if (!resource.environment.features.unsafeDeletion) delete options.ignoreStoreReadErrorWithClusterBreakingPotential;
  const invalid = validateDeleteOptions(options);
  if (invalid !== undefined) throw invalid;
  return options;
}
