import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { isTerminating, nameOf, type Observation, type ObservedObject, placeOf } from './observed-object.ts';

/** The class of an owner reference by the observation. */
export type ReferenceClass =
  /** The owner exists. */
  | 'solid'
  /** The owner exists and waits for its dependents. */
  | 'waiting'
  /** No object has the owner's name or uid. */
  | 'dangling'
  /** Another object has the owner's name. */
  | 'staleUid'
  /** The owner is in another namespace. */
  | 'otherNamespace'
  /** The uid belongs to an object of another kind or name. */
  | 'otherIdentity'
  /** A cluster-scoped object names an owner of a namespaced kind. */
  | 'namespacedOwner'
  /** The kind is served only in other versions. */
  | 'unservedVersion'
  /** The kind is not served at all. */
  | 'unservedKind'
  /** The owner's kind could not be read. */
  | 'unread';

export interface ClassifiedReference {
  readonly class: ReferenceClass;
  readonly reference: OwnerReference;
  /** The proof of the class, as one sentence. */
  readonly proof: string;
  /** The object with the uid or the name; absent if there is none. */
  readonly owner?: ObservedObject;
}

/** Classes that the collector treats as absent: if all owners are such, it deletes the object. */
export const ABSENT_CLASSES: ReadonlySet<ReferenceClass> = new Set([
  'dangling',
  'staleUid',
  'otherNamespace',
  'otherIdentity',
]);

/** An observation by uid, by place and by owner. Immutable. */
export class OwnershipIndex {
  readonly observation: Observation;
  readonly #byUid = new Map<string, ObservedObject>();
  readonly #byPlace = new Map<string, ObservedObject>();
  readonly #dependents = new Map<string, ObservedObject[]>();

  constructor(observation: Observation) {
    this.observation = observation;
    for (const object of observation.objects) {
      this.#byUid.set(object.ref.uid, object);
      this.#byPlace.set(placeOf(object.ref), object);
      for (const uid of new Set((object.metadata.ownerReferences ?? []).map((reference) => reference.uid))) {
        const dependents = this.#dependents.get(uid);
        if (dependents === undefined) this.#dependents.set(uid, [object]);
        else dependents.push(object);
      }
    }
  }

  byUid(uid: string): ObservedObject | undefined {
    return this.#byUid.get(uid);
  }

  at(apiVersion: string, kind: string, namespace: string | undefined, name: string): ObservedObject | undefined {
    return this.#byPlace.get(placeOf({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }));
  }

  /** Objects with a reference to this uid, each once. */
  dependentsOf(uid: string): readonly ObservedObject[] {
    return this.#dependents.get(uid) ?? [];
  }

  /** The class of one reference of an object. */
  classify({ ref }: ObservedObject, reference: OwnerReference): ClassifiedReference {
    const { apiVersion, kind, name, uid } = reference;
    const { observation } = this;
    const owner = nameOf(reference);
    const as = (cls: ReferenceClass, proof: string, found?: ObservedObject): ClassifiedReference => ({
      class: cls,
      reference,
      proof,
      ...(found === undefined ? {} : { owner: found }),
    });
    if (observation.unreadGroups.includes(apiVersion)) {
      return as('unread', `discovery of ${apiVersion} failed, so it is not known whether ${owner} exists`);
    }
    const served = observation.kindOf(apiVersion, kind);
    if (served === undefined) {
      const versions = observation.versionsOf(apiVersion, kind).map((each) => each.apiVersion);
      return versions.length === 0
        ? as('unservedKind', `the server does not serve ${kind} in the group of ${apiVersion}`)
        : as('unservedVersion', `the server serves ${kind} in ${versions.join(', ')}, not in ${apiVersion}`);
    }
    if (served.namespaced && ref.namespace === undefined) {
      return as('namespacedOwner', `${kind} is namespaced, and the dependent is not`, this.byUid(uid));
    }
    const named = this.at(apiVersion, kind, served.namespaced ? ref.namespace : undefined, name);
    if (named?.ref.uid === uid) {
      const waits = isTerminating(named.metadata) && named.metadata.finalizers?.includes('foregroundDeletion') === true;
      return waits
        ? as('waiting', `${owner} is being deleted and waits for its dependents`, named)
        : as('solid', `${owner} exists with this uid`, named);
    }
    const same = this.byUid(uid);
    if (same !== undefined) {
      const { namespace = '' } = same.ref;
      return same.ref.kind === kind && same.ref.name === name
        ? as('otherNamespace', `${owner} with this uid is in namespace ${namespace}`, same)
        : as('otherIdentity', `the uid belongs to ${nameOf(same.ref)}`, same);
    }
    if (named !== undefined) return as('staleUid', `${owner} has the uid ${named.ref.uid} now`, named);
    const unread = observation.incomplete.find(
      ({ resource }) => resource === resourceName(served.resource, apiVersion),
    );
    if (unread !== undefined) {
      return as('unread', `${unread.resource} could not be read, so it is not known whether ${owner} exists`);
    }
    return as('dangling', `nothing is named ${owner}, and no object that was read has this uid`);
  }
}

function resourceName(resource: string, apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? resource : `${resource}.${apiVersion.slice(0, slash)}`;
}
