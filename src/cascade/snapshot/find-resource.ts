import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';

/**
 * The resource that a person means: plural, singular, short name or kind in any case, alone or with version and group
 * (`deploy`, `deployments.apps`, `deployments.v1.apps`), as kubectl finds it.
 *
 * Returns the matches in the order in which kubectl prefers them: the first is the one, further ones are of other groups. Empty
 * when the server serves nothing of that name.
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
  // kubectl takes the beginning of a group for it: deployments.ext is deployments.extensions.
  return group === wanted.group || (wanted.group !== '' && group.startsWith(wanted.group));
}

/** `pod`, `deployment.apps`: what kubectl prints before an object's name. */
export function typeNameOf({ singular, kind, group }: Pick<DiscoveredResource, 'singular' | 'kind' | 'group'>): string {
  const name = singular === '' ? kind.toLowerCase() : singular;
  return group === '' ? name : `${name}.${group}`;
}
