import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../meta/object-meta.ts';
import { parseFieldSelector } from './field-selector.ts';
import {
  checkFieldSelector,
  customSelectableFields,
  matchesFields,
  selectableFields,
  unknownFieldWording,
} from './selectable-fields.ts';

const BOTH = ['metadata.name', 'metadata.namespace'];
const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The selectable fields of each type, row by row. */
const TABLE: readonly [string, string, readonly string[]][] = [
  [
    '',
    'pods',
    [
      ...BOTH,
      'spec.nodeName',
      'spec.host',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
    ],
  ],
  ['', 'nodes', ['metadata.name', 'spec.unschedulable']],
  ['', 'namespaces', ['metadata.name', 'status.phase']],
  ['', 'secrets', [...BOTH, 'type']],
  ['', 'services', [...BOTH, 'spec.clusterIP', 'spec.type']],
  ['', 'replicationcontrollers', [...BOTH, 'status.replicas']],
  ['batch', 'jobs', [...BOTH, 'status.successful']],
  [
    '',
    'events',
    [...BOTH, ...REFERENCE.map((part) => `involvedObject.${part}`), 'reason', 'reportingComponent', 'source', 'type'],
  ],
  [
    'events.k8s.io',
    'events',
    [...BOTH, ...REFERENCE.map((part) => `regarding.${part}`), 'reason', 'reportingController', 'type'],
  ],
  ['certificates.k8s.io', 'certificatesigningrequests', ['metadata.name', 'spec.signerName']],
  ['certificates.k8s.io', 'clustertrustbundles', ['metadata.name', 'spec.signerName']],
  ['certificates.k8s.io', 'podcertificaterequests', [...BOTH, 'spec.signerName', 'spec.podName', 'spec.nodeName']],
  ['resource.k8s.io', 'resourceslices', ['metadata.name', 'spec.nodeName', 'spec.driver']],
];

describe('selectableFields', () => {
  it.each(TABLE)('API-102 %s %s', (group, resource, want) => {
    expect([...selectableFields(group, resource).keys()].sort()).toEqual(want.toSorted());
    expect(unknownFieldWording(group, resource)).toBe('fieldLabel');
  });

  it.each([
    ['', 'configmaps'],
    ['apps', 'replicasets'],
    ['apps', 'deployments'],
    ['x.io', 'pods'],
  ])('API-102 %s %s has no list of its own', (group, resource) => {
    expect([...selectableFields(group, resource).keys()]).toEqual(BOTH);
    expect(unknownFieldWording(group, resource)).toBe('metadataOnly');
  });
});

describe('values', () => {
  const value = (group: string, resource: string, field: string, object: KubeObject): string | undefined =>
    selectableFields(group, resource).get(field)?.(object);

  it.each<[string, string, string, KubeObject, string]>([
    ['', 'configmaps', 'metadata.name', { metadata: { name: 'n' } }, 'n'],
    ['', 'configmaps', 'metadata.namespace', {}, ''],
    ['', 'pods', 'spec.host', { spec: { nodeName: 'node' } }, 'node'],
    ['', 'pods', 'spec.hostNetwork', {}, 'false'],
    ['', 'pods', 'spec.hostNetwork', { spec: { hostNetwork: true } }, 'true'],
    ['', 'pods', 'status.podIP', { status: { podIP: '1.1.1.1', podIPs: [{ ip: '2.2.2.2' }] } }, '2.2.2.2'],
    ['', 'pods', 'status.podIP', { status: { podIP: '1.1.1.1' } }, '1.1.1.1'],
    ['', 'pods', 'status.podIP', {}, ''],
    ['', 'nodes', 'spec.unschedulable', {}, 'false'],
    ['', 'nodes', 'spec.unschedulable', { spec: { unschedulable: true } }, 'true'],
    ['', 'secrets', 'type', { type: 'Opaque' }, 'Opaque'],
    ['', 'replicationcontrollers', 'status.replicas', {}, '0'],
    ['', 'replicationcontrollers', 'status.replicas', { status: { replicas: 3 } }, '3'],
    ['batch', 'jobs', 'status.successful', { status: { succeeded: 2 } }, '2'],
    ['', 'events', 'involvedObject.name', { involvedObject: { name: 'p' } }, 'p'],
    ['', 'events', 'involvedObject.name', { regarding: { name: 'p' } }, 'p'],
    ['events.k8s.io', 'events', 'regarding.uid', { involvedObject: { uid: 'u' } }, 'u'],
    ['', 'events', 'source', { source: { component: 'kubelet' }, reportingComponent: 'x' }, 'kubelet'],
    ['', 'events', 'source', { source: {}, reportingComponent: 'x' }, 'x'],
    ['', 'services', 'spec.type', { spec: { type: ['x'] } }, ''],
    ['', 'namespaces', 'status.phase', { status: null }, ''],
  ])('API-102 %s %s %s of %o', (group, resource, field, object, want) => {
    expect(value(group, resource, field, object)).toBe(want);
  });
});

describe('checkFieldSelector', () => {
  it('API-102 words its refusal by type', () => {
    const selector = parseFieldSelector('metadata.name=x,spec.color=red');
    expect(checkFieldSelector(selector, selectableFields('', 'pods'), 'fieldLabel')).toMatchObject({
      code: 400,
      message: 'field label not supported: spec.color',
    });
    expect(checkFieldSelector(selector, selectableFields('', 'configmaps'), 'metadataOnly')).toMatchObject({
      code: 400,
      message: '"spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });

  it('API-469 custom resources know the fields of their version', () => {
    const fields = customSelectableFields(['.spec.color', '.spec.size']);
    const selector = parseFieldSelector('spec.color=red,spec.size=2');
    expect(checkFieldSelector(selector, fields, 'fieldLabel')).toBeUndefined();
    expect(matchesFields(selector, fields, { spec: { color: 'red', size: 2 } })).toBe(true);
    expect(matchesFields(selector, fields, { spec: { color: 'red' } })).toBe(false);
    expect(matchesFields(parseFieldSelector('spec.color='), fields, {})).toBe(true);
  });
});
