import { fieldElement, type PathElement } from '../../../api/apply/path-element.ts';
import { managersAfterScaling, type ReplicasPaths } from '../../../api/apply/scale-managers.ts';
import { findResource } from '../../../api/kinds/builtin-resources.ts';
import { fieldInvalid } from '../../../api/field-error.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { typeNameOf } from '../../../api/kinds/type-table.ts';
import { apiVersionOf, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../../../api/meta/object-meta.ts';
import { labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';
import { newBadRequest, newInvalid, newNotFound } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { setManagedFields } from '../../registry/field-tracking.ts';
import { TransientObject } from '../../registry/object/served-object.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { ScalePaths } from '../../registry/strategy.ts';
import { updateObject, type UpdateRequest } from '../../registry/update-object.ts';
import { objectSchema, type ObjectSchema } from '../../registry/object/object-schema.ts';
import { customScale, type ScaleValues, stepsOf, withCustomReplicas } from './custom-scale.ts';
import { fieldManager } from '../request/field-manager.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';

const SCALE_VERSION = 'autoscaling/v1';

export function scaleSchema(): ObjectSchema {
  const typeName = typeNameOf(SCALE_VERSION, 'Scale');
  return objectSchema({
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    ...(typeName === undefined ? {} : { typeName }),
  });
}

interface Workload {
  readonly spec?: { readonly replicas?: number; readonly selector?: Record<string, unknown> };
  readonly status?: { readonly replicas?: number };
}

/** The Scale of an object: its name and version, and the counts (API-331, API-467). */
function scaleOf(parent: KubeObject, paths: ScalePaths | undefined): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata ?? {};
  const metadata: ObjectMeta = { ...pick({ name, namespace, uid, resourceVersion, creationTimestamp }) };
  const {
    wanted = 0,
    current = 0,
    selector,
  } = paths === undefined ? workloadScale(parent) : customScale(parent, paths);
  return {
    kind: 'Scale',
    apiVersion: SCALE_VERSION,
    metadata,
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: current, ...(selector === '' ? {} : { selector }) },
  };
}

function wantedReplicas(parent: KubeObject, paths: ScalePaths | undefined): number {
  return (paths === undefined ? (parent as Workload).spec?.replicas : customScale(parent, paths).wanted) ?? 0;
}

function workloadScale(parent: KubeObject): ScaleValues {
  const { spec, status } = parent as Workload;
  const selector = selectorText(parent, spec?.selector);
  return { wanted: spec?.replicas, current: status?.replicas, selector };
}

function pick(meta: { [K in keyof ObjectMeta]: ObjectMeta[K] | undefined }): ObjectMeta {
  return Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined)) as ObjectMeta;
}

/** Replication controllers have a plain map as selector, the others a LabelSelector. */
function selectorText(parent: KubeObject, selector: Record<string, unknown> | undefined): string {
  if (selector === undefined) return '';
  const matchLabels = parent.kind === 'ReplicationController' ? { matchLabels: selector } : selector;
  return labelSelectorFromObject(matchLabels as Parameters<typeof labelSelectorFromObject>[0]).toString();
}

export interface Scaling {
  readonly method: UpdateRequest['method'];
  readonly dryRun: boolean;
  /** The managers afterwards, if an apply computed them. If absent, the writer manages the number. */
  readonly managers?: (parent: KubeObject, scale: KubeObject) => ManagedFieldsEntry[] | undefined;
  /** The Scale that the client wants, computed from the current parent. */
  wanted(parent: KubeObject): KubeObject | Promise<KubeObject>;
}

/** The replica path in each version of the parent; see {@link ReplicasPaths}. */
export function replicasPaths({ strategy, siblings, info }: ResourceStore): ReplicasPaths {
  return (apiVersion) => {
    const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
    const { versions } = strategy;
    if (versions === undefined) {
      return siblings.find(group, version, info.resource) === undefined ? undefined : BUILT_IN_REPLICAS;
    }
    const found = group === info.group ? versions.find(version) : undefined;
    if (found === undefined) return undefined;
    return found.scale === undefined ? 'nowhere' : stepsOf(found.scale.specReplicas).map(fieldElement);
  };
}

const BUILT_IN_REPLICAS: readonly PathElement[] = ['f:spec', 'f:replicas'];

/** The managers of the parent after an update of its Scale (API-216). */
function managersAfterUpdate(
  { context, resource }: ResourceScope,
  parent: KubeObject,
  next: KubeObject,
): ManagedFieldsEntry[] | undefined {
  const entries = parent.metadata?.managedFields;
  const paths = resource.strategy.scale;
  const replicas = wantedReplicas(parent, paths) === wantedReplicas(next, paths) ? 'same' : 'changed';
  const manager = fieldManager(context.query.get('fieldManager'), context.header('user-agent'));
  const apiVersion = apiVersionOf(resource.info);
  return managersAfterScaling({ entries, replicas: replicasPaths(resource), apiVersion }, { manager, replicas });
}

/** Distinguishes a patch that leaves out a missing number from one that sets 0. */
const NOT_SET = -2_147_483_648;

export function patchedScale({ resource }: ResourceScope, parent: KubeObject): KubeObject {
  const scale = scaleOf(parent, resource.strategy.scale);
  return hasNumber(resource, parent) ? scale : { ...scale, spec: { replicas: NOT_SET } };
}

function hasNumber({ strategy }: ResourceStore, parent: KubeObject): boolean {
  return strategy.scale === undefined || customScale(parent, strategy.scale).wanted !== undefined;
}

/** The Scale that an apply starts from. A number that does not exist yet has no manager, so there is no conflict. */
export function liveScale({ resource }: ResourceScope, parent: KubeObject): KubeObject {
  return scaleOf(parent, resource.strategy.scale);
}

/**
 * Marks a number that neither the parent nor the applied Scale has. Upstream passes the mark to the apply, and cannot apply to the Scale of
 * a custom resource at all (API-467).
 */
export function withMissingNumber({ resource }: ResourceScope, parent: KubeObject, scale: KubeObject): KubeObject {
  const missing = (scale as Workload).spec?.replicas === undefined && !hasNumber(resource, parent);
  return missing ? { ...scale, spec: { replicas: NOT_SET } } : scale;
}

/** uid and resourceVersion of the Scale are preconditions on the parent. */
export async function scaleParent(
  scope: ResourceScope,
  { method, dryRun, wanted, managers }: Scaling,
): Promise<HttpResponse> {
  const { resource, namespace, name, info } = scope;
  const paths = resource.strategy.scale;
  const result = await updateObject(resource, {
    namespace,
    name,
    subresource: 'scale',
    part: 'whole',
    method,
    next: async (parent) => {
      if (parent === undefined) throw newNotFound(info, name);
      const scale = await wanted(parent);
      const next = scaled(withPreconditions(parent, scale.metadata ?? {}), scale, paths);
      const entries = managers === undefined ? managersAfterUpdate(scope, parent, next) : managers(parent, scale);
      setManagedFields(next, entries);
      return next;
    },
    view: {
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      of: (parent) => scaleOf(parent, paths),
      merge: (parent, scale) => scaled(parent, scale, paths),
    },
    // Its managers are determined above.
    context: { ...writeContext(scope, dryRun), tracking: { by: 'apply' } },
  });
  return writeScale(scope, result.object.object());
}

/** The parent with the number of a Scale. Throws a 400 or 422 for an invalid one. */
function scaled(parent: KubeObject, scale: KubeObject, paths: ScalePaths | undefined): KubeObject {
  const replicas = (scale as Workload).spec?.replicas ?? 0;
  if (replicas === NOT_SET && paths !== undefined) {
    throw newBadRequest(`the spec replicas field ${JSON.stringify(paths.specReplicas)} cannot be empty`);
  }
  if (replicas < 0) {
    const error = fieldInvalid('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, parent.metadata?.name ?? '', [error]);
  }
  return paths === undefined ? withReplicas(parent, replicas) : withCustomReplicas(parent, paths, replicas);
}

function withReplicas(parent: KubeObject, replicas: number): KubeObject {
  return { ...parent, spec: { ...(parent as Workload).spec, replicas } };
}

function withPreconditions(parent: KubeObject, scale: ObjectMeta): KubeObject {
  const metadata: ObjectMeta = { ...parent.metadata };
  if (scale.uid !== undefined && scale.uid !== '') metadata.uid = scale.uid;
  // Without a version the scale is unconditional, so the stored version is used, which always passes.
  if (scale.resourceVersion !== undefined && scale.resourceVersion !== '') {
    metadata.resourceVersion = scale.resourceVersion;
  }
  return { ...parent, metadata };
}

export function writeScale(scope: ResourceScope, parent: KubeObject): Promise<HttpResponse> {
  const scale = scaleOf(parent, scope.resource.strategy.scale);
  return writeObject({ ...scope, info: scaleInfo(scope.info) }, 200, new TransientObject(scale));
}

/** Only the fields that the writer reads: the kind, for tables and messages. */
function scaleInfo(parent: ResourceInfo): ResourceInfo {
  const typeName = typeNameOf(SCALE_VERSION, 'Scale');
  return {
    ...(findResource('autoscaling', 'v1', 'horizontalpodautoscalers') ?? parent),
    group: 'autoscaling',
    version: 'v1',
    resource: 'scales',
    kind: 'Scale',
    listKind: 'ScaleList',
    ...(typeName === undefined ? {} : { typeName }),
  };
}
