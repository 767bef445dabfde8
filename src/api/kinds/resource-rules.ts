import type { GroupResource } from '../meta/group-version-kind.ts';
import type { ResourceInfo } from './resource-info.ts';

/**
 * Facts about a built-in resource that discovery lacks. Keys are `group/resource` with an empty group for core; a row
 * holds for every version of the resource (the versions served by default never differ here).
 */
const key = (resource: GroupResource): string => `${resource.group}/${resource.resource}`;

/** API-247: the controllers of old orphan their dependents by default. */
const ORPHANS_BY_DEFAULT: ReadonlySet<string> = new Set(['/replicationcontrollers', 'batch/jobs']);
/** API-247: garbage collection does not apply at all. */
const WITHOUT_GARBAGE_COLLECTION: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events']);

/** API-250; all of resource.k8s.io besides. */
const RETURNS_DELETED_OBJECT: ReadonlySet<string> = new Set([
  '/namespaces',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
]);

/** API-173. */
const CREATED_BY_PUT: ReadonlySet<string> = new Set([
  '/endpoints',
  '/events',
  '/limitranges',
  '/services',
  'coordination.k8s.io/leases',
  'events.k8s.io/events',
  'node.k8s.io/runtimeclasses',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
]);

/** API-172; all of admissionregistration.k8s.io besides. */
const PUT_NEEDS_RESOURCE_VERSION: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'coordination.k8s.io/leases',
  'node.k8s.io/runtimeclasses',
  'policy/poddisruptionbudgets',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/csistoragecapacities',
  'storage.k8s.io/volumeattachments',
]);

/** API-074; all of apps except controllerrevisions and all of admissionregistration.k8s.io besides. */
const COUNTS_GENERATIONS: ReadonlySet<string> = new Set([
  '/pods',
  '/podtemplates',
  '/replicationcontrollers',
  'apiextensions.k8s.io/customresourcedefinitions',
  'batch/cronjobs',
  'batch/jobs',
  'discovery.k8s.io/endpointslices',
  'flowcontrol.apiserver.k8s.io/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
  'networking.k8s.io/ingressclasses',
  'networking.k8s.io/ingresses',
  'networking.k8s.io/networkpolicies',
  'policy/poddisruptionbudgets',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceslices',
]);

export function deletionOf(resource: GroupResource): Pick<ResourceInfo, 'defaultPropagation' | 'deleteReturnsObject'> {
  const name = key(resource);
  return {
    defaultPropagation: WITHOUT_GARBAGE_COLLECTION.has(name)
      ? 'Unsupported'
      : ORPHANS_BY_DEFAULT.has(name)
        ? 'Orphan'
        : 'Background',
    deleteReturnsObject: RETURNS_DELETED_OBJECT.has(name) || resource.group === 'resource.k8s.io',
  };
}

export function updateRulesOf(
  resource: GroupResource,
): Pick<ResourceInfo, 'allowCreateOnUpdate' | 'allowUnconditionalUpdate'> {
  const name = key(resource);
  return {
    allowCreateOnUpdate: CREATED_BY_PUT.has(name),
    allowUnconditionalUpdate:
      !PUT_NEEDS_RESOURCE_VERSION.has(name) && resource.group !== 'admissionregistration.k8s.io',
  };
}

export function generationOf(resource: GroupResource): ResourceInfo['generation'] {
  const name = key(resource);
  if (name === 'scheduling.k8s.io/priorityclasses') return 'fixed';
  if (name === 'storage.k8s.io/csidrivers') return 'rises';
  if (resource.group === 'apps') return resource.resource === 'controllerrevisions' ? 'keep' : 'spec';
  if (resource.group === 'admissionregistration.k8s.io') return 'spec';
  return COUNTS_GENERATIONS.has(name) ? 'spec' : 'keep';
}

/**
 * API-063. The name of a StatefulSet becomes the host name of its pods, hence a label (apps `ValidateStatefulSetName`).
 * APIServices (`v1.` is one) and IP addresses have names that are no DNS subdomains; requests for certificates may have any.
 */
export function nameRuleOf(resource: GroupResource): ResourceInfo['nameRule'] {
  if (resource.group === 'rbac.authorization.k8s.io') return 'pathSegment';
  switch (key(resource)) {
    case '/namespaces':
    case 'apps/statefulsets':
      return 'dnsLabel';
    case '/services':
      return 'service';
    case 'apiextensions.k8s.io/customresourcedefinitions':
      return 'customResourceDefinition';
    case 'apiregistration.k8s.io/apiservices':
    case 'certificates.k8s.io/certificatesigningrequests':
    case 'networking.k8s.io/ipaddresses':
      return 'pathSegment';
    default:
      return 'dnsSubdomain';
  }
}
