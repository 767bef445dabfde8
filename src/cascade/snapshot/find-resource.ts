import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';

/**
 * Finds the resource of a typed name: plural, singular, short name or kind in any case, alone or with version and group (`deploy`,
 * `deployments.apps`, `deployments.v1.apps`), like kubectl. Returns the matches in kubectl's order of preference: the first is the one,
 * further ones are in other groups. Empty if the server has no such resource.
 */
export function findResources(discovery: DiscoveryResult, text: string): readonly DiscoveredResource[] {
  const wanted = text.toLowerCase();
  const [name = '', ...rest] = wanted.split('.');
  const candidates: readonly Wanted[] = [
    ...(rest.length === 0 ? [{ name }] : []),
    ...(rest.length > 0 ? [{ name, group: rest.join('.') }] : []),
    ...(rest.length > 0 ? [{ name, version: rest[0]!, group: rest.slice(1).join('.') }] : []),
  ];
  for (const candidate of candidates) {
    const pool = candidate.version === undefined ? discovery.preferred : discovery.resources;
    for (const isNamed of [byResource, byShortName, byKind]) {
      const found = pool.filter((resource) => isNamed(resource, candidate.name) && isIn(resource, candidate));
      if (found.length > 0) return found;
    }
  }
  return [];
}

interface Wanted {
  readonly name: string;
  readonly version?: string;
  readonly group?: string;
}

const byResource = ({ resource, singular }: DiscoveredResource, name: string): boolean =>
  resource === name || singular === name;
const byShortName = ({ shortNames }: DiscoveredResource, name: string): boolean => shortNames.includes(name);
const byKind = ({ kind }: DiscoveredResource, name: string): boolean => kind.toLowerCase() === name;

function isIn({ group, version }: DiscoveredResource, wanted: Wanted): boolean {
  if (wanted.version !== undefined && wanted.version !== version) return false;
  if (wanted.group === undefined) return true;
  // kubectl accepts the beginning of a group: deployments.ext is deployments.extensions.
  return group === wanted.group || (wanted.group !== '' && group.startsWith(wanted.group));
}

/** `pod`, `deployment.apps`: kubectl's prefix of an object's name. */
export function typeNameOf({ singular, kind, group }: Pick<DiscoveredResource, 'singular' | 'kind' | 'group'>): string {
  const name = singular === '' ? kind.toLowerCase() : singular;
  return group === '' ? name : `${name}.${group}`;
}
