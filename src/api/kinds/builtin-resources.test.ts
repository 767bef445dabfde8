import { describe, expect, it } from 'vitest';
import { apiGroups, builtinResources, findResource } from './builtin-resources.ts';
import type { ResourceInfo } from './resource-info.ts';
import { fieldOf, typeInfo, typeNameOf } from './type-table.ts';

const all = builtinResources();
const named = (holds: (info: ResourceInfo) => boolean): string[] =>
  all
    .filter(holds)
    .map((info) => (info.group === '' ? info.resource : `${info.resource}.${info.group.split('.', 1)[0]!}`));

describe('builtin resources', () => {
  it('API-399 serves stable versions only', () => {
    expect(all.filter((info) => /alpha|beta/.test(info.version))).toEqual([]);
    expect(all).toHaveLength(51 + 17);
  });

  it('API-398 the groups under /apis come in their published order, preferred versions first', () => {
    expect(apiGroups().map(({ group }) => group)).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
      'certificates.k8s.io',
      'networking.k8s.io',
      'policy',
      'rbac.authorization.k8s.io',
      'storage.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'scheduling.k8s.io',
      'coordination.k8s.io',
      'node.k8s.io',
      'discovery.k8s.io',
      'resource.k8s.io',
      'flowcontrol.apiserver.k8s.io',
    ]);
    expect(apiGroups().find(({ group }) => group === 'autoscaling')?.versions).toEqual(['v2', 'v1']);
  });

  it('API-398 the core group comes first', () => {
    const groups = all.map((info) => info.group);
    expect(groups.lastIndexOf('')).toBe(groups.filter((group) => group === '').length - 1);
  });

  it('every resource has a type with metadata, found by its kind too', () => {
    for (const info of all) {
      const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`;
      expect(typeNameOf(apiVersion, info.kind)).toBe(info.typeName);
      expect(typeInfo(info.typeName!), info.typeName).toBeDefined();
      expect(fieldOf(info.typeName!, 'metadata')?.type).toBe('apimachinery/pkg/apis/meta/v1.ObjectMeta');
      if (info.verbs.includes('list')) expect(typeNameOf(apiVersion, info.listKind)).toBeDefined();
    }
  });

  it('API-391 a row carries names, verbs and subresources with the kinds they speak', () => {
    expect(findResource('apps', 'v1', 'deployments')).toMatchObject({
      kind: 'Deployment',
      listKind: 'DeploymentList',
      singular: 'deployment',
      namespaced: true,
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
        { name: 'status', kind: { group: 'apps', version: 'v1', kind: 'Deployment' } },
      ],
    });
    expect(findResource('', 'v1', 'namespaces')?.verbs).not.toContain('deletecollection');
    expect(findResource('', 'v1', 'serviceaccounts')?.subresources).toMatchObject([
      {
        name: 'token',
        verbs: ['create'],
        kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      },
    ]);
    expect(findResource('apps', 'v2', 'deployments')).toBeUndefined();
  });

  it('API-247 default propagation', () => {
    expect(named((info) => info.defaultPropagation === 'Orphan')).toEqual(['replicationcontrollers', 'jobs.batch']);
    expect(named((info) => info.defaultPropagation === 'Unsupported')).toEqual(['events', 'events.events']);
  });

  it('API-250 who answers a DELETE with the object', () => {
    expect(named((info) => info.deleteReturnsObject).sort()).toEqual([
      'csidrivers.storage',
      'csinodes.storage',
      'deviceclasses.resource',
      'namespaces',
      'persistentvolumeclaims',
      'persistentvolumes',
      'pods',
      'podtemplates',
      'resourceclaims.resource',
      'resourceclaimtemplates.resource',
      'resourcequotas',
      'resourceslices.resource',
      'serviceaccounts',
      'services',
      'storageclasses.storage',
      'volumeattachments.storage',
      'volumeattributesclasses.storage',
    ]);
  });

  it('API-173 who is created by PUT', () => {
    expect(named((info) => info.allowCreateOnUpdate).sort()).toEqual([
      'clusterrolebindings.rbac',
      'clusterroles.rbac',
      'endpoints',
      'events',
      'events.events',
      'leases.coordination',
      'limitranges',
      'rolebindings.rbac',
      'roles.rbac',
      'runtimeclasses.node',
      'services',
    ]);
  });

  it('API-172 who needs a resourceVersion in a PUT', () => {
    expect(named((info) => !info.allowUnconditionalUpdate).sort()).toEqual([
      'apiservices.apiregistration',
      'csidrivers.storage',
      'csinodes.storage',
      'csistoragecapacities.storage',
      'customresourcedefinitions.apiextensions',
      'leases.coordination',
      'mutatingadmissionpolicies.admissionregistration',
      'mutatingadmissionpolicybindings.admissionregistration',
      'mutatingwebhookconfigurations.admissionregistration',
      'poddisruptionbudgets.policy',
      'runtimeclasses.node',
      'validatingadmissionpolicies.admissionregistration',
      'validatingadmissionpolicybindings.admissionregistration',
      'validatingwebhookconfigurations.admissionregistration',
      'volumeattachments.storage',
    ]);
  });

  it('API-074 who counts generations', () => {
    expect(named((info) => info.generation === 'fixed')).toEqual(['priorityclasses.scheduling']);
    expect(named((info) => info.generation === 'rises')).toEqual(['csidrivers.storage']);
    expect(named((info) => info.generation === 'spec').sort()).toEqual([
      'cronjobs.batch',
      'customresourcedefinitions.apiextensions',
      'daemonsets.apps',
      'deployments.apps',
      'deviceclasses.resource',
      'endpointslices.discovery',
      'flowschemas.flowcontrol',
      'ingressclasses.networking',
      'ingresses.networking',
      'jobs.batch',
      'mutatingadmissionpolicies.admissionregistration',
      'mutatingadmissionpolicybindings.admissionregistration',
      'mutatingwebhookconfigurations.admissionregistration',
      'networkpolicies.networking',
      'poddisruptionbudgets.policy',
      'pods',
      'podtemplates',
      'prioritylevelconfigurations.flowcontrol',
      'replicasets.apps',
      'replicationcontrollers',
      'resourceslices.resource',
      'statefulsets.apps',
      'validatingadmissionpolicies.admissionregistration',
      'validatingadmissionpolicybindings.admissionregistration',
      'validatingwebhookconfigurations.admissionregistration',
    ]);
  });

  it('API-063 name rules', () => {
    expect(findResource('', 'v1', 'namespaces')?.nameRule).toBe('dnsLabel');
    expect(findResource('apps', 'v1', 'statefulsets')?.nameRule).toBe('dnsLabel');
    expect(findResource('', 'v1', 'services')?.nameRule).toBe('service');
    expect(findResource('', 'v1', 'pods')?.nameRule).toBe('dnsSubdomain');
    expect(findResource('rbac.authorization.k8s.io', 'v1', 'clusterroles')?.nameRule).toBe('pathSegment');
    expect(findResource('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.nameRule).toBe(
      'customResourceDefinition',
    );
  });
});
