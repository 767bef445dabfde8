import {
  isDryRun,
  type DeleteOptions,
  deleteOptionsFromBody,
  validateDeleteOptions,
} from '../../../api/deletion/delete-options.ts';
import { checkDeletePreconditions } from '../../../api/deletion/preconditions.ts';
import { typeNameOf } from '../../../api/kinds/type-table.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatTime } from '../../../api/meta/time.ts';
import { newBadRequest, newNotFound, successStatus } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { admitTransient } from '../../registry/admission-attributes.ts';
import { fillNamespace } from '../../registry/create-object.ts';
import { deleteObject } from '../../registry/delete-object.ts';
import { spendDisruption } from '../../registry/disruption-budget.ts';
import { updateObject } from '../../registry/update-object.ts';
import { statusResponse } from '../negotiation/body-format.ts';
import { objectSchema, type ObjectSchema } from '../../registry/object/object-schema.ts';
import { decodeBody, decodedObject } from '../request/decode-object.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { type FieldValidation, parseWriteOptions } from '../request/write-options.ts';

interface Pod extends KubeObject {
  status?: { phase?: string; conditions?: { type?: string; status?: string }[] };
}

/** `POST pods/<n>/eviction` (API-317..319): a deletion that PodDisruptionBudgets may refuse. */
export async function handleEviction(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, namespace, name, info } = scope;
  const write = parseWriteOptions(context.query, 'CreateOptions');
  const eviction = await decodeEviction(scope, write.fieldValidation);
  if ((eviction.metadata?.name ?? '') !== name)
    throw newBadRequest('name in URL does not match name in Eviction object');
  const options = evictionOptions(eviction, write.dryRun);
  const dryRun = isDryRun(options);
  const at = writeContext(scope, dryRun);
  fillNamespace(eviction, namespace, true);
  await admitTransient(resource, {
    operation: 'CREATE',
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    subresource: 'eviction',
    namespace,
    name,
    object: eviction,
    context: at,
  });
  // The Eviction passed admission, so, as upstream, the deletion does not pass it again.
  const admitted = { ...at, admission: 'skipped' } as const;
  const pod: Pod = (await resource.get(namespace, name)).object();
  requirePreconditions(pod, options);
  if (!ignoresBudgets(pod)) await spendDisruption(resource, pod, at);
  // Marking the pod has changed its version; its uid still identifies it.
  const { resourceVersion: _version, ...preconditions } = options.preconditions ?? {};
  await updateObject(resource, {
    namespace,
    name,
    subresource: 'eviction',
    part: 'whole',
    method: 'patch',
    next: (previous) => {
      if (previous === undefined) throw newNotFound(info, name);
      requirePreconditions(previous, options);
      return withDisruptionTarget(previous, formatTime(resource.environment.clock.now()));
    },
    context: admitted,
  });
  await deleteObject(resource, {
    namespace,
    name,
    options: { ...options, preconditions: { uid: pod.metadata?.uid ?? '', ...preconditions } },
    context: admitted,
  });
  return statusResponse({ ...successStatus({}), code: 201 }, scope.representation);
}

/** Both versions have the same fields; admission sees policy/v1 (API-317; `pkg/registry/core/pod/storage/eviction.go`). */
async function decodeEviction({ context, resource }: ResourceScope, validation: FieldValidation): Promise<KubeObject> {
  const body = await decodeBody(context, { kind: 'Eviction', protobuf: 'accepted' }, resource.environment.clock);
  const version = body.object.apiVersion === 'policy/v1beta1' ? 'v1beta1' : 'v1';
  const eviction = decodedObject(context, body, { expected: { ...evictionSchema(), version }, validation });
  return { ...eviction, apiVersion: 'policy/v1' };
}

function evictionSchema(): ObjectSchema {
  const typeName = typeNameOf('policy/v1', 'Eviction');
  return objectSchema({
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    ...(typeName === undefined ? {} : { typeName }),
  });
}

function evictionOptions(eviction: KubeObject, dryRun: boolean): DeleteOptions {
  const given = eviction['deleteOptions'];
  const options = given === undefined || given === null ? {} : deleteOptionsFromBody(given);
  const invalid = validateDeleteOptions(options);
  if (invalid !== undefined) throw invalid;
  return dryRun ? { ...options, dryRun: ['All'] } : options;
}

/** This comes before the pod is marked and a budget is spent, because a refused eviction changes nothing (API-242). */
function requirePreconditions(pod: KubeObject, options: DeleteOptions): void {
  const conflict = checkDeletePreconditions(pod, options, { group: '', kind: 'Pod' });
  if (conflict !== undefined) throw conflict;
}

/** True for pods that are not serving, because they have finished or not started. */
function ignoresBudgets(pod: Pod): boolean {
  const phase = pod.status?.phase ?? '';
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || Boolean(pod.metadata?.deletionTimestamp);
}

/** The pod with the condition that gives the reason of its eviction (API-319). */
function withDisruptionTarget(pod: Pod, now: string): KubeObject {
  const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } };
}
