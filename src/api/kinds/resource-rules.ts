import type { GroupResource } from '../meta/group-version-kind.ts';
import type { ResourceInfo } from './resource-info.ts';

/**
 * Facts about a built-in resource that discovery lacks. Keys are `group/resource` with an empty group for core. A row applies to every
 * version of the resource, because the versions served by default never differ here.
 */
const key = (resource: GroupResource): string => `${resource.group}/${resource.resource}`;

/** The oldest controllers orphan their dependents by default (API-247). */
const ORPHANS_BY_DEFAULT: ReadonlySet<string> = new Set(['/replicationcontrollers', 'batch/jobs']);
/** Garbage collection does not apply to these resources (API-247). */
const WITHOUT_GARBAGE_COLLECTION: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events']);

/** These resources answer a DELETE with the object (API-250), as do all of resource.k8s.io. */
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

/** Types that a PUT may create (API-173). */
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

/** A PUT of these resources needs a resourceVersion (API-172), as does one of admissionregistration.k8s.io. */
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

/**
 * The rules for generation (API-074). All of apps except controllerrevisions, and all of admissionregistration.k8s.io, count changes of the
 * spec too.
 */
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
 * Rules for names (API-063). The name of a StatefulSet becomes the host name of its pods, hence a label (apps `ValidateStatefulSetName`).
 * APIServices (such as `v1.`) and IP addresses have names that are not DNS subdomains; CertificateSigningRequests may have any name.
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
