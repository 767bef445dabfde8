import { managersProblem } from '../../api/apply/managed-fields.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { type GroupVersionKind, isNamespaces } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { AdmissionAttributes, AdmissionOperation, ObjectInterfaces } from '../admission/chain/attributes.ts';
import { Reinvocation } from '../admission/chain/reinvocation.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import { objectInterfaces } from './object-interfaces.ts';
import type { ResourceStore } from './resource-store.ts';
import type { WriteContext } from './strategy.ts';

export interface AdmittedWrite {
  readonly operation: AdmissionOperation;
  /** Default: the resource's own kind. */
  readonly kind?: GroupVersionKind | undefined;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object?: KubeObject;
  /** Called on first use, because most deleted objects are not even parsed. */
  readonly oldObject?: () => KubeObject;
  /** The options of a DELETE; the context has those of other writes. */
  readonly deleteOptions?: object;
  /** Overrides the context, because options of a DELETE may contain it as well. */
  readonly dryRun?: boolean;
  readonly context: WriteContext;
}

const OPTION_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** A write in the form that admission reads. */
export function admissionAttributes(resource: ResourceStore, write: AdmittedWrite): AdmissionAttributes {
  return new WriteAttributes(resource, write);
}

/** Every write creates one in each phase, and few plug-ins read much of it, so costly parts are computed on first use. */
class WriteAttributes implements AdmissionAttributes {
  readonly info: ResourceInfo;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  readonly object?: KubeObject;
  readonly interfaces: ObjectInterfaces;
  readonly reinvocation = new Reinvocation();
  readonly #write: AdmittedWrite;
  #oldObject: KubeObject | undefined;
  #options: KubeObject | undefined;

  constructor(resource: ResourceStore, write: AdmittedWrite) {
    const { info } = resource;
    const { namespace, name, object } = write;
    const { group, version, kind } = write.kind ?? info;
    this.#write = write;
    this.info = info;
    this.kind = { group, version, kind };
    this.namespace = isNamespaces(info) && namespace === '' ? name : namespace;
    if (object !== undefined) this.object = object;
    this.interfaces = objectInterfaces(resource);
  }

  get operation(): AdmissionOperation {
    return this.#write.operation;
  }

  get subresource(): string {
    return this.#write.subresource;
  }

  get name(): string {
    return this.#write.name;
  }

  get user(): UserInfo {
    return this.#write.context.user;
  }

  get dryRun(): boolean {
    return this.#write.dryRun ?? this.#write.context.dryRun;
  }

  get deadline(): number | undefined {
    return this.#write.context.deadline;
  }

  get options(): KubeObject | undefined {
    return (this.#options ??= optionsOf(this.#write));
  }

  get oldObject(): KubeObject | undefined {
    return (this.#oldObject ??= this.#write.oldObject?.());
  }

  warn(text: string): void {
    this.#write.context.warn(text);
  }

  annotate(key: string, value: string): void {
    this.#write.context.annotate?.(key, value);
  }
}

function optionsOf({ operation, deleteOptions, context }: AdmittedWrite): KubeObject | undefined {
  if (operation === 'CONNECT') return undefined;
  const given = operation === 'DELETE' ? deleteOptions : context.options;
  return { kind: OPTION_KINDS[operation], apiVersion: 'meta.k8s.io/v1', ...given };
}

const INVALID_MANAGED_FIELDS =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ';

/** Runs the mutating phase of a write. If it leaves malformed managers, the previous ones stay (API-215). */
export async function admitWrite(resource: ResourceStore, attributes: AdmissionAttributes): Promise<void> {
  const { metadata: before } = attributes.object ?? {};
  const managers = before?.managedFields;
  await resource.environment.admission.admit(attributes);
  const after = attributes.object?.metadata;
  if (after === undefined || after.managedFields === managers || after.managedFields === undefined) return;
  const why = managersProblem(after.managedFields);
  if (why === undefined) return;
  attributes.warn(INVALID_MANAGED_FIELDS + why);
  if (managers === undefined) delete after.managedFields;
  else after.managedFields = managers;
}

/** Runs both phases for an object that is created but not stored: a review, an Eviction, a Binding. `object` may be changed. */
export async function admitTransient(resource: ResourceStore, write: AdmittedWrite): Promise<void> {
  if (write.context.admission === 'skipped') return;
  await resource.environment.admission.admitAndValidate(admissionAttributes(resource, write));
}
