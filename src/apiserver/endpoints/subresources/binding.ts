import { typeNameOf } from '../../../api/kinds/type-table.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatTime } from '../../../api/meta/time.ts';
import { fieldNotSupported, fieldRequired } from '../../../api/field-error.ts';
import {
  newBadRequest,
  newConflict,
  newInvalid,
  newNotFound,
  newPathNotFound,
  successStatus,
} from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { admitTransient } from '../../registry/admission-attributes.ts';
import { fillNamespace } from '../../registry/create-object.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { updateObject } from '../../registry/update-object.ts';
import { statusResponse } from '../negotiation/body-format.ts';
import { objectSchema, type ObjectSchema } from '../../registry/object/object-schema.ts';
import { decodeObject } from '../request/decode-object.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseWriteOptions } from '../request/write-options.ts';

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string };
}

interface Pod extends KubeObject {
  spec?: { nodeName?: string; schedulingGates?: unknown[] };
  status?: { conditions?: { type?: string }[] };
}

/** `POST pods/<n>/binding` (API-316). */
export function handleBinding(scope: ResourceScope): Promise<HttpResponse> {
  return bind(scope, { pods: scope.resource, podName: scope.name });
}

/** `POST bindings`: the same, with the pod's name in the body. */
export function handleBindings(scope: ResourceScope): Promise<HttpResponse> {
  const pods = scope.resource.siblings.find('', 'v1', 'pods');
  if (pods === undefined) throw newPathNotFound();
  return bind(scope, { pods });
}

interface Bound {
  readonly pods: ResourceStore;
  /** The name in the path; absent if only the body names the pod. */
  readonly podName?: string;
}

async function bind(scope: ResourceScope, { pods, podName }: Bound): Promise<HttpResponse> {
  const { context, namespace } = scope;
  const options = parseWriteOptions(context.query, 'CreateOptions');
  const binding: Binding = await decodeObject(
    context,
    bindingSchema(),
    options.fieldValidation,
    pods.environment.clock,
  );
  const given = binding.metadata?.name ?? '';
  const name = podName ?? given;
  if (given !== '' && given !== name) throw newBadRequest('name in URL does not match name in Binding object');
  const at = writeContext(scope, options.dryRun);
  fillNamespace(binding, namespace, true);
  await admitTransient(scope.resource, {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: 'Binding' },
    subresource: podName === undefined ? '' : 'binding',
    namespace,
    name,
    object: binding,
    context: at,
  });
  validateBinding(binding, name);
  const nodeName = binding.target?.name ?? '';
  const now = formatTime(pods.environment.clock.now());
  await updateObject(pods, {
    namespace,
    name,
    subresource: 'binding',
    part: 'whole',
    method: 'patch',
    next: (previous) => {
      if (previous === undefined) throw newNotFound({ group: '', resource: 'pods' }, name);
      return bound(previous, { nodeName, annotations: binding.metadata?.annotations, uid: binding.metadata?.uid, now });
    },
    context: { ...at, admission: 'skipped' },
  });
  return statusResponse({ ...successStatus({}), code: 201 }, scope.representation);
}

function bindingSchema(): ObjectSchema {
  const typeName = typeNameOf('v1', 'Binding');
  return objectSchema({ group: '', version: 'v1', kind: 'Binding', ...(typeName === undefined ? {} : { typeName }) });
}

function validateBinding(binding: Binding, name: string): void {
  const kind = binding.target?.kind ?? '';
  const errors = [
    ...(kind === '' || kind === 'Node' ? [] : [fieldNotSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...((binding.target?.name ?? '') === '' ? [fieldRequired('target.name', '')] : []),
  ];
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'Binding' }, name, errors);
}

interface Assignment {
  readonly nodeName: string;
  readonly annotations: Record<string, string> | undefined;
  readonly uid: string | undefined;
  readonly now: string;
}

function bound(pod: Pod, { nodeName, annotations, uid, now }: Assignment): KubeObject {
  const name = pod.metadata?.name ?? '';
  const refuse = (why: string): Error => newConflict({ group: '', resource: 'pods/binding' }, name, why);
  if (uid !== undefined && uid !== '' && uid !== pod.metadata?.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata?.uid ?? ''}`);
  }
  if (pod.metadata?.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const current = pod.spec?.nodeName ?? '';
  if (current !== '') throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(current)}`);
  if ((pod.spec?.schedulingGates?.length ?? 0) > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== 'PodScheduled');
  const merged = annotations === undefined ? {} : { annotations: { ...pod.metadata?.annotations, ...annotations } };
  return {
    ...pod,
    metadata: { ...pod.metadata, ...merged },
    spec: { ...pod.spec, nodeName },
    status: { ...pod.status, conditions: [...others, scheduled] },
  };
}
