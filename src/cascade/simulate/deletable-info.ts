import { findResource } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { deletionOf } from '../../api/kinds/resource-rules.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';

/** The facts about a resource for the rules of deletion: the table row of a built-in one, otherwise the defaults of custom resources. */
export function deletableInfo(resource: DiscoveredResource): ResourceInfo {
  const { group, version, resource: plural, kind, singular, namespaced, shortNames, categories } = resource;
  const builtin = findResource(group, version, plural);
  if (builtin !== undefined) return builtin;
  return {
    group,
    version,
    resource: plural,
    kind,
    listKind: `${kind}List`,
    singular,
    namespaced,
    verbs: ['delete', 'list'],
    shortNames,
    categories,
    subresources: [],
    ...deletionOf({ group, resource: plural }),
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    generation: 'keep',
    nameRule: 'dnsSubdomain',
  };
}
