import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { FINALIZER_ORPHAN, type KubeObject, type OwnerReference } from '../../api/meta/object-meta.ts';
import { newConflict } from '../../api/status-error.ts';
import { CONTROLLER_MANAGER } from '../authentication/user-info.ts';
import type { WriteOptions } from '../storage/interface.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { OwnerGuard, ResourceStore } from './resource-store.ts';
import type { WriteContext } from './strategy.ts';

interface Adding {
  readonly next: KubeObject;
  /** Absent for a create. */
  readonly previous?: KubeObject;
  readonly user: WriteContext['user'];
}

/** The controller that a checked write adds to an object; undefined for all other writes. An object has at most one controller. */
export function addedController(guard: OwnerGuard, { next, previous, user }: Adding): OwnerReference | undefined {
  const added = controllerOf(next);
  if (added === undefined || guard === 'off' || controllerOf(previous)?.uid === added.uid) return undefined;
  return guard === 'all' || user.username === CONTROLLER_MANAGER ? added : undefined;
}

function controllerOf(object: KubeObject | undefined): OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * The options of a write that adds the controller `owner` to an object of the resource: the owner must still be what was read here. Throws
 * a 409 if the owner with this uid does not exist, or terminates with the finalizer `orphan`. A kind that is not served here proves neither.
 */
export async function guardedByOwner(
  resource: ResourceStore,
  owner: OwnerReference,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<WriteOptions> {
  const owners = ownersOf(resource, owner);
  if (owners === undefined) return resource.lifetime;
  const key = owners.key(owners.info.namespaced ? namespace : '', owner.name);
  const { kv } = await resource.environment.store.get(key);
  if (kv !== undefined) {
    const { uid, deletionTimestamp, finalizers = [] } = new StoredObject(kv).deletionMetadata();
    const isOrphaned = deletionTimestamp !== undefined && finalizers.includes(FINALIZER_ORPHAN);
    if (uid === owner.uid && !isOrphaned) return { ...resource.lifetime, unchanged: { key, revision: kv.modRevision } };
  }
  throw newConflict(resource.info, name, `owner ${owner.kind}/${owner.name} is being orphaned`);
}

function ownersOf({ siblings }: ResourceStore, { apiVersion, kind }: OwnerReference): ResourceStore | undefined {
  const gv = parseGroupVersion(apiVersion);
  const served = siblings
    .resources()
    .find((info) => info.kind === kind && info.group === gv?.group && info.version === gv.version);
  return served === undefined ? undefined : siblings.find(served.group, served.version, served.resource);
}
