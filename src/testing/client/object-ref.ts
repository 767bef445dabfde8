import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { ApiObject } from '../../api/meta/api-object.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';

/** Names one object. With a uid it means exactly this object. */
export interface ObjectRef {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  readonly apiVersion: string;
  /** The kind, in the singular: `Deployment`. */
  readonly kind: string;
  /** Its name. */
  readonly name: string;
  /** Default for namespaced kinds: `default`. */
  readonly namespace?: string;
  /** Its identity; with it, no other object of the name is meant. */
  readonly uid?: string;
}

/** How tests name objects: by reference, or by an object that the server returned. */
export type Subject = ObjectRef | ApiObject;

export function refOf(subject: Subject): ObjectRef {
  if (typeof subject !== 'object' || subject === null) throw new TypeError(unnamed(subject));
  const { apiVersion, kind } = subject;
  const metadata = 'metadata' in subject ? (subject as ApiObject).metadata : (subject as Partial<ObjectRef>);
  const { name, namespace, uid } = metadata ?? {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || name === undefined) {
    throw new TypeError(unnamed(subject));
  }
  return { apiVersion, kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
}

function unnamed(subject: unknown): string {
  return `an object needs apiVersion, kind and a name to be found, not ${JSON.stringify(subject)}`;
}

/** `ConfigMap default/web`, for messages. */
export function displayName({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`;
}

/** A requested kind that is not served, with similar kinds. */
export class UnknownKindError extends Error {
  constructor(apiVersion: string, kind: string, served: readonly ResourceInfo[]) {
    const hint = hintFor(kind, served);
    super(`no resource of kind "${kind}" in version "${apiVersion}" is served; ${hint}`);
    this.name = 'UnknownKindError';
  }
}

function hintFor(asked: string, served: readonly ResourceInfo[]): string {
  const others = served.filter(({ kind }) => kind === asked).map(versionOf);
  if (others.length > 0) return `it is served in ${others.join(', ')}`;
  const word = asked.toLowerCase();
  const near = served.find(({ kind, resource, singular, shortNames }) =>
    [kind.toLowerCase(), resource, singular, ...shortNames].includes(word),
  );
  if (near !== undefined) return `did you mean ${near.kind}, in version ${JSON.stringify(versionOf(near))}?`;
  return 'give its CustomResourceDefinition to startCluster({ crds })';
}

const versionOf = ({ group, version }: ResourceInfo): string => (group ? `${group}/${version}` : version);

export function findResource(served: readonly ResourceInfo[], apiVersion: string, kind: string): ResourceInfo {
  const groupVersion = parseGroupVersion(apiVersion);
  const info = served.find(
    (row) => row.kind === kind && row.group === groupVersion?.group && row.version === groupVersion.version,
  );
  if (info === undefined) throw new UnknownKindError(apiVersion, kind, served);
  return info;
}

/** The collection that an object of this kind and namespace lives in. */
export function collectionOf(info: ResourceInfo, namespace: string | undefined): ResourceRef {
  const { group, version, resource } = info;
  const gvr = { group, version, resource };
  return info.namespaced ? { gvr, namespace: namespace ?? 'default' } : { gvr };
}
