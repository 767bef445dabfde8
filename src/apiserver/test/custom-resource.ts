import type { ResourceInfo, SubresourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { ResourceRegistration } from '../registry/resource-registry.ts';
import { plainStrategy } from '../registry/strategy.ts';

export interface CustomResourceOptions extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources?: readonly SubresourceInfo[];
}

/** A registration like that of a CustomResourceDefinition, without one. It has no type and no schema. */
export function customResource(options: CustomResourceOptions): ResourceRegistration {
  const { group, version, resource, kind, namespaced, subresources = [] } = options;
  const info: ResourceInfo = {
    group,
    version,
    resource,
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    namespaced,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: [],
    categories: [],
    subresources,
    defaultPropagation: 'Background',
    deleteReturnsObject: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    generation: 'spec',
    nameRule: 'dnsSubdomain',
  };
  return { info, strategy: plainStrategy };
}
