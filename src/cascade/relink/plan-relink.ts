import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { RelinkChange, RelinkPlan, UnresolvedReference } from '../documents/relink-plan.ts';
import { isTerminating, nameOf, type Observation, type ObservedObject, placeOf } from '../observed/observed-object.ts';

/**
 * Finds owner references whose uid is stale but whose kind, namespace and name resolve, and plans the correct ones (CAS-067).
 * @param wanted objects of files: their references are the ones that objects of these names should have, also where a backup tool dropped
 *   them. Absent: the references of the objects themselves.
 */
export function planRelink(observation: Observation, wanted?: readonly KubeObject[]): RelinkPlan {
  const { objects: observed, readAt, incomplete } = observation;
  const byPlace = new Map(observed.map((object) => [placeOf(object.ref), object]));
  const objects: RelinkChange[] = [];
  const unresolved: UnresolvedReference[] = [];
  let valid = 0;
  for (const { object, references } of subjects(observed, byPlace, wanted)) {
    if (isTerminating(object.metadata)) continue;
    const repair = repairOf(object, references, { byPlace, observation });
    valid += repair.valid;
    for (const each of repair.unresolved) unresolved.push(each);
    if (repair.change !== undefined) objects.push(repair.change);
  }
  return {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'RelinkPlan',
    readAt: formatTime(readAt),
    source: 'list',
    ...(incomplete.length === 0 ? {} : { incomplete }),
    objects,
    unresolved,
    valid,
  };
}

interface Subject {
  readonly object: ObservedObject;
  /** References that the object should have. */
  readonly references: readonly OwnerReference[];
}

function* subjects(
  observed: readonly ObservedObject[],
  byPlace: ReadonlyMap<string, ObservedObject>,
  wanted: readonly KubeObject[] | undefined,
): Generator<Subject> {
  if (wanted === undefined) {
    for (const object of observed) yield { object, references: object.metadata.ownerReferences ?? [] };
    return;
  }
  for (const { apiVersion = '', kind = '', metadata } of wanted) {
    const { namespace, name = '', ownerReferences = [] } = metadata ?? {};
    const place = placeOf({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
    const object = byPlace.get(place);
    if (object !== undefined) yield { object, references: ownerReferences };
  }
}

interface Context {
  readonly byPlace: ReadonlyMap<string, ObservedObject>;
  readonly observation: Observation;
}

interface Repair {
  readonly change: RelinkChange | undefined;
  readonly unresolved: readonly UnresolvedReference[];
  readonly valid: number;
}

function repairOf({ ref, metadata }: ObservedObject, references: readonly OwnerReference[], context: Context): Repair {
  const before = metadata.ownerReferences ?? [];
  const after = new Map(before.map((reference) => [reference.uid, reference]));
  const changes: string[] = [];
  const unresolved: UnresolvedReference[] = [];
  let valid = 0;
  for (const reference of references) {
    const found = ownerOf(ref.namespace, reference, context);
    if (typeof found === 'string') {
      unresolved.push({ ref, reference, message: found });
      continue;
    }
    const { uid } = found.ref;
    const present = after.get(uid);
    if (present !== undefined && (uid === reference.uid || !after.has(reference.uid))) {
      valid++;
      continue;
    }
    // The stale reference is removed, whether it is on the object or only in the file.
    after.delete(reference.uid);
    if (present === undefined) after.set(uid, { ...reference, uid });
    const owner = nameOf(reference);
    if (uid === reference.uid) changes.push(`adds its owner ${owner} (${uid})`);
    else changes.push(`owner ${owner}: uid ${reference.uid} becomes ${uid}`);
  }
  const change = changes.length === 0 ? undefined : { ref, before, after: [...after.values()], changes };
  return { change, unresolved, valid };
}

/** The owner that exists now, or the reason why none can be used. */
function ownerOf(
  namespace: string | undefined,
  reference: OwnerReference,
  { byPlace, observation }: Context,
): ObservedObject | string {
  const { apiVersion, kind, name } = reference;
  const served = observation.kindOf(apiVersion, kind);
  const owner = nameOf(reference);
  if (served === undefined) return `${owner}: the server does not serve ${kind} in ${apiVersion}`;
  if (served.namespaced && namespace === undefined) {
    return `${owner}: a cluster-scoped object cannot have a namespaced owner`;
  }
  const at = placeOf({
    apiVersion,
    kind,
    name,
    ...(served.namespaced && namespace !== undefined ? { namespace } : {}),
  });
  const found = byPlace.get(at);
  if (found === undefined) {
    const unread = observation.incomplete.find(({ resource }) => resource.split('.')[0] === served.resource);
    return unread === undefined
      ? `${owner} does not exist`
      : `${owner}: it is not known whether it exists, because ${unread.resource} could not be read`;
  }
  if (found.ref.uid !== reference.uid && isTerminating(found.metadata)) return `${owner} is being deleted`;
  return found;
}
