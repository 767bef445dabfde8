import { decodeManagers } from '../../api/apply/managed-fields.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../api/meta/object-meta.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../admission/attributes.ts';
import { Reinvocation } from '../admission/reinvocation.ts';
import { objectInterfaces } from './object-interfaces.ts';
import type { ResourceStore } from './resource-store.ts';
import type { WriteContext } from './strategy.ts';

export interface AdmittedWrite {
  readonly operation: AdmissionOperation;
  /** Default: the resource's own. */
  readonly kind?: GroupVersionKind;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
  /** Of a DELETE; those of other writes are in the context. */
  readonly deleteOptions?: object;
  /** Where it is not the context's: options of a DELETE say it as well. */
  readonly dryRun?: boolean;
  readonly context: WriteContext;
}

const OPTION_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** A write as admission sees it. */
export function admissionAttributes(resource: ResourceStore, write: AdmittedWrite): AdmissionAttributes {
  const { info } = resource;
  const { operation, subresource, namespace, name, object, oldObject, context } = write;
  const isNamespace = info.group === '' && info.resource === 'namespaces';
  const { group, version, kind } = write.kind ?? info;
  const attributes: Mutable<AdmissionAttributes> = {
    operation,
    info,
    kind: { group, version, kind },
    subresource,
    namespace: isNamespace && namespace === '' ? name : namespace,
    name,
    user: context.user,
    dryRun: write.dryRun ?? context.dryRun,
    interfaces: objectInterfaces(resource),
    reinvocation: new Reinvocation(),
    warn: context.warn,
    annotate: context.annotate ?? noAnnotation,
  };
  // Assigned one by one: every write passes here twice, and spreading what may be absent costs more than all the rest.
  if (operation !== 'CONNECT') {
    const options = operation === 'DELETE' ? write.deleteOptions : context.options;
    attributes.options = { kind: OPTION_KINDS[operation], apiVersion: 'meta.k8s.io/v1', ...options };
  }
  if (object !== undefined) attributes.object = object;
  if (oldObject !== undefined) attributes.oldObject = oldObject;
  if (context.deadline !== undefined) attributes.deadline = context.deadline;
  return attributes;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function noAnnotation(): void {}

const INVALID_MANAGED_FIELDS =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ';

/** The mutating phase of a write. Managers that cannot be understood afterwards are those of before (API-215). */
export async function admitWrite(resource: ResourceStore, attributes: AdmissionAttributes): Promise<void> {
  const { metadata: before } = attributes.object ?? {};
  const managers = before?.managedFields;
  await resource.environment.admission.admit(attributes);
  const after = attributes.object?.metadata;
  if (after === undefined || after.managedFields === managers || after.managedFields === undefined) return;
  const why = managedFieldsProblem(after.managedFields);
  if (why === undefined) return;
  attributes.warn(INVALID_MANAGED_FIELDS + why);
  if (managers === undefined) delete after.managedFields;
  else after.managedFields = managers;
}

function managedFieldsProblem(entries: readonly ManagedFieldsEntry[]): string | undefined {
  for (const [index, entry] of entries.entries()) {
    if (decodeManagers([entry]) === undefined) return `entry ${index} cannot be read`;
  }
  return undefined;
}

/** Runs both phases for something that is created but not stored: a review, an Eviction, a Binding. `object` may be changed. */
export async function admitTransient(resource: ResourceStore, write: AdmittedWrite): Promise<void> {
  if (write.context.admission === 'skipped') return;
  await resource.environment.admission.admitAndValidate(admissionAttributes(resource, write));
}
