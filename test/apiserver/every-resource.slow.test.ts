import { beforeAll, describe, expect, it, vi } from 'vitest';
import { MetadataReader } from '../../src/api/codec/metadata/metadata-reader.ts';
import { builtinResources } from '../../src/api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../src/api/kinds/resource-info.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { certificateRequest } from '../../src/apiserver/authentication/certificate-request.fixture.ts';
import { StoredObject } from '../../src/apiserver/storage/stored-object.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';

/**
 * Every stored resource that is served by default does everything that deletion rests on. Kinds are rows: the same test
 * runs for each, and only what a kind cannot do without is listed here.
 */
const labels = { app: 'x' };
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels }, spec: podSpec };
const selector = { matchLabels: labels };
const webhook = {
  name: 'hook.example.com',
  clientConfig: { url: 'https://example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const scaleTarget = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 2 };
const crdName = 'things.example.com';
const crdSpec = {
  group: 'example.com',
  names: { plural: 'things', kind: 'Thing' },
  scope: 'Namespaced',
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
};
const deviceRequest = { name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } };

/** The fields that an object of a kind needs beside metadata; a name where not every name is valid. */
const needed: Readonly<Record<string, { readonly fields?: object; readonly name?: string }>> = {
  pods: { fields: { spec: podSpec } },
  podtemplates: { fields: { template } },
  replicationcontrollers: { fields: { spec: { selector: labels, template } } },
  services: { fields: { spec: { ports: [{ port: 80 }] } } },
  persistentvolumes: {
    fields: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
  },
  persistentvolumeclaims: {
    fields: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  events: { fields: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'R' } },
  'events.events.k8s.io': {
    fields: {
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      eventTime: '2026-11-21T12:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Normal',
    },
  },
  'deployments.apps': { fields: { spec: { selector, template } } },
  'replicasets.apps': { fields: { spec: { selector, template } } },
  'daemonsets.apps': { fields: { spec: { selector, template } } },
  'statefulsets.apps': { fields: { spec: { serviceName: 's', selector, template } } },
  'controllerrevisions.apps': { fields: { revision: 1, data: { a: 1 } } },
  'jobs.batch': { fields: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } } },
  'cronjobs.batch': {
    fields: {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
      },
    },
  },
  'horizontalpodautoscalers.autoscaling': { fields: { spec: scaleTarget } },
  'poddisruptionbudgets.policy': { fields: { spec: { minAvailable: 1, selector } } },
  'rolebindings.rbac.authorization.k8s.io': {
    fields: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } },
  },
  'clusterrolebindings.rbac.authorization.k8s.io': {
    fields: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' } },
  },
  'certificatesigningrequests.certificates.k8s.io': {
    fields: {
      spec: {
        request: certificateRequest(),
        signerName: 'example.com/signer',
        usages: ['client auth'],
      },
    },
  },
  'csidrivers.storage.k8s.io': { fields: { spec: {} } },
  'csinodes.storage.k8s.io': { fields: { spec: { drivers: [] } } },
  'csistoragecapacities.storage.k8s.io': { fields: { storageClassName: 'c' } },
  'storageclasses.storage.k8s.io': { fields: { provisioner: 'example.com/p' } },
  'volumeattachments.storage.k8s.io': {
    fields: { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  },
  'volumeattributesclasses.storage.k8s.io': { fields: { driverName: 'd', parameters: { a: 'b' } } },
  'endpointslices.discovery.k8s.io': { fields: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] } },
  'ingressclasses.networking.k8s.io': { fields: { spec: { controller: 'example.com/c' } } },
  'ingresses.networking.k8s.io': {
    fields: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
  },
  'ipaddresses.networking.k8s.io': {
    name: '10.0.0.9',
    fields: { spec: { parentRef: { resource: 'services', name: 's', namespace: 'default' } } },
  },
  'networkpolicies.networking.k8s.io': { fields: { spec: { podSelector: {} } } },
  'servicecidrs.networking.k8s.io': { fields: { spec: { cidrs: ['10.5.0.0/16'] } } },
  'runtimeclasses.node.k8s.io': { fields: { handler: 'h' } },
  'priorityclasses.scheduling.k8s.io': { fields: { value: 5 } },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': {
    fields: {
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/x"}]' } }],
      },
    },
  },
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': { fields: { spec: { policyName: 'p' } } },
  'validatingadmissionpolicies.admissionregistration.k8s.io': {
    fields: {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    },
  },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': {
    fields: { spec: { policyName: 'p', validationActions: ['Deny'] } },
  },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { fields: { webhooks: [webhook] } },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { fields: { webhooks: [webhook] } },
  'customresourcedefinitions.apiextensions.k8s.io': { name: crdName, fields: { spec: crdSpec } },
  'apiservices.apiregistration.k8s.io': {
    name: 'v1.example.com',
    fields: { spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 } },
  },
  'flowschemas.flowcontrol.apiserver.k8s.io': {
    fields: { spec: { priorityLevelConfiguration: { name: 'p' } } },
  },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': {
    fields: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
  },
  'deviceclasses.resource.k8s.io': { fields: { spec: {} } },
  'resourceclaims.resource.k8s.io': { fields: { spec: { devices: { requests: [deviceRequest] } } } },
  'resourceclaimtemplates.resource.k8s.io': {
    fields: { spec: { spec: { devices: { requests: [deviceRequest] } } } },
  },
  'resourceslices.resource.k8s.io': {
    fields: {
      spec: { driver: 'd.example.com', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
    },
  },
};

const stored = builtinResources().filter(({ verbs }) => verbs.includes('create') && verbs.includes('list'));
const keyOf = ({ resource, group }: ResourceInfo): string => (group === '' ? resource : `${resource}.${group}`);

function collectionOf({ group, version, resource, namespaced }: ResourceInfo): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespaced ? '/namespaces/default' : ''}/${resource}`;
}

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataProtobuf = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: '11111111-2222-4333-8444-555555555555' };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  // A client that changes an object from the store changes it for all other readers; here such a change throws.
  const { object } = StoredObject.prototype;
  vi.spyOn(StoredObject.prototype, 'object').mockImplementation(function (this: StoredObject) {
    return deepFreeze(object.call(this));
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

describe.each(stored.map((info) => ({ info, title: `${keyOf(info)}/${info.version}` })))('$title', ({ info }) => {
  const collection = collectionOf(info);
  const { fields, name = `n-${info.version}` } = needed[keyOf(info)] ?? {};
  const object: KubeObject = {
    apiVersion: info.group === '' ? info.version : `${info.group}/${info.version}`,
    kind: info.kind,
    ...fields,
    metadata: { name, ownerReferences: [owner], finalizers: ['example.com/hold'] },
  };
  const path = `${collection}/${name}`;

  it('API-150 API-091 API-566 is created, read, listed and shown as metadata, with owners and finalizers', async () => {
    const created = await server.post(collection, object);
    expect(created.text.slice(0, 400)).toContain('"uid"');
    expect([created.status, created.json.kind]).toEqual([201, info.kind]);
    const read = await server.get(path);
    expect(read.json.metadata).toMatchObject({ name, ownerReferences: [owner] });
    expect(read.json.metadata?.finalizers).toContain('example.com/hold');
    const listed = await server.get(`${collection}?fieldSelector=metadata.name%3D${name}`);
    expect([listed.json.kind, listed.json.items.length]).toEqual([info.listKind, 1]);
    const metadata = await server.get(path, { accept: metadataOnly });
    expect([metadata.json.kind, metadata.json.metadata]).toEqual(['PartialObjectMetadata', read.json.metadata]);
    const reader = new MetadataReader();
    const { bytes } = await server.get(path, { accept: metadataProtobuf });
    expect(reader.read(bytes, 0, bytes.length)).toBe(true);
    expect([reader.ownerCount, reader.otherFinalizers]).toEqual([1, true]);
  });

  it('API-191 API-193 API-194 a merge that reaches no further than metadata does what a JSON patch of the whole does', async () => {
    const annotate = (size: string) => ({ metadata: { annotations: { 'example.com/size': size } } });
    const add = [{ op: 'add', path: '/metadata/annotations', value: { 'example.com/size': '1' } }];
    const outcomes = [
      await server.patch(path, add, 'json'),
      await server.patch(path, annotate('2'), 'merge'),
      await server.patch(path, annotate('3'), 'strategic'),
    ];
    const apart = outcomes.map(({ status, json: { metadata, ...content } }) => {
      const { resourceVersion: _version, managedFields, annotations, ...kept } = metadata ?? {};
      const managers = managedFields?.map(({ time: _time, ...entry }) => entry);
      return { status, size: annotations?.['example.com/size'], rest: { content, kept, managers } };
    });
    expect(apart.map(({ status, size }) => [status, size])).toEqual([
      [200, '1'],
      [200, '2'],
      [200, '3'],
    ]);
    expect(apart[1]?.rest).toEqual(apart[0]?.rest);
    expect(apart[2]?.rest).toEqual(apart[0]?.rest);
    expect((await server.get(path)).json).toEqual(outcomes[2]?.json);
  });

  it('API-070 API-193 API-250 API-251 is watched while it is patched, deleted, held by its finalizer, and removed', async () => {
    const { json } = await server.get(path);
    const watch = await server.watch(
      `${collection}?watch=true&resourceVersion=${json.metadata?.resourceVersion ?? ''}&fieldSelector=metadata.name%3D${name}`,
      { accept: metadataOnly },
    );
    expect((await server.patch(path, { metadata: { ownerReferences: null } })).status).toBe(200);
    const deleted = await server.delete(path, { propagationPolicy: 'Background', gracePeriodSeconds: 0 });
    expect(deleted.status).toBe(200);
    const held = (await server.get(path)).json;
    expect(held.metadata?.deletionTimestamp).toBeDefined();
    // A namespace, and what protects a kind, may hold it beside ours.
    expect((await server.patch(path, { metadata: { finalizers: null } })).status).toBe(200);
    if (info.resource === 'namespaces') await server.put(`${path}/finalize`, { ...held, metadata: { name }, spec: {} });
    expect((await server.get(path)).status).toBe(404);
    const types: string[] = [];
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      types.push(event.type);
      if (event.type === 'DELETED') break;
    }
    watch.close();
    expect(types.slice(0, 2)).toEqual(['MODIFIED', 'MODIFIED']);
    expect(types.at(-1)).toBe('DELETED');
  });
});
