import type { KubeObject } from '../meta/object-meta.ts';
import { quoted } from '../meta/quoted.ts';
import type { StatusError } from '../status-error.ts';
import { newBadRequest } from '../status-error.ts';
import type { FieldSelector } from './field-selector.ts';

/** Reads one selectable field of an object; returns an empty text if it is unset. */
export type FieldGetter = (object: KubeObject) => string;
export type SelectableFields = ReadonlyMap<string, FieldGetter>;

/** The value at a dotted path as text. Booleans and numbers are formatted; objects and lists count as unset. */
function at(path: string, unset = ''): FieldGetter {
  const steps = path.split('.');
  return (object) => {
    let value: unknown = object;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) {
        return unset;
      }
      value = (value as Record<string, unknown>)[step];
    }
    if (typeof value === 'string') return value === '' ? unset : value;
    return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : unset;
  };
}

/** The first of several paths that is set, because stored objects and requests may have different versions of a type. */
function firstOf(...paths: readonly string[]): FieldGetter {
  const getters = paths.map((path) => at(path));
  return (object) => {
    for (const get of getters) {
      const value = get(object);
      if (value !== '') return value;
    }
    return '';
  };
}

const paths = (...names: readonly string[]): [string, FieldGetter][] => names.map((name) => [name, at(name)]);

const NAME = paths('metadata.name');
const NAME_AND_NAMESPACE = paths('metadata.name', 'metadata.namespace');

const podIP: FieldGetter = (pod) => {
  const { podIPs, podIP: single } = (pod['status'] ?? {}) as { podIPs?: { ip?: unknown }[]; podIP?: unknown };
  const address = podIPs?.[0]?.ip ?? single;
  return typeof address === 'string' ? address : '';
};

const REFERENCE_PARTS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The two forms of Event are one kind in two groups, so each field is read under either name. */
function eventReference(prefix: string): [string, FieldGetter][] {
  return REFERENCE_PARTS.map((part) => [`${prefix}.${part}`, firstOf(`involvedObject.${part}`, `regarding.${part}`)]);
}

const reportingController = firstOf('reportingComponent', 'reportingController');

type FieldEntries = readonly (readonly [string, FieldGetter])[];

function fieldTable(rows: readonly (readonly [string, FieldEntries])[]): ReadonlyMap<string, SelectableFields> {
  return new Map(rows.map(([type, fields]) => [type, new Map(fields)]));
}

/** Types with a list of their own; keys as `resource` or `resource.group`. */
const OWN_FIELDS: ReadonlyMap<string, SelectableFields> = fieldTable([
  [
    'pods',
    [
      ...NAME_AND_NAMESPACE,
      ['spec.nodeName', at('spec.nodeName')],
      ['spec.host', at('spec.nodeName')],
      ...paths('spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
      ['spec.hostNetwork', at('spec.hostNetwork', 'false')],
      ...paths('status.phase', 'status.nominatedNodeName'),
      ['status.podIP', podIP],
      // Upstream accepts this field but never sets it.
      ['status.podIPs', () => ''],
    ],
  ],
  ['nodes', [...NAME, ['spec.unschedulable', at('spec.unschedulable', 'false')]]],
  ['namespaces', [...NAME, ...paths('status.phase')]],
  ['secrets', [...NAME_AND_NAMESPACE, ...paths('type')]],
  ['services', [...NAME_AND_NAMESPACE, ...paths('spec.clusterIP', 'spec.type')]],
  ['replicationcontrollers', [...NAME_AND_NAMESPACE, ['status.replicas', at('status.replicas', '0')]]],
  ['jobs.batch', [...NAME_AND_NAMESPACE, ['status.successful', at('status.succeeded', '0')]]],
  [
    'events',
    [
      ...NAME_AND_NAMESPACE,
      ...eventReference('involvedObject'),
      ...paths('reason', 'type'),
      ['reportingComponent', reportingController],
      [
        'source',
        firstOf('source.component', 'deprecatedSource.component', 'reportingComponent', 'reportingController'),
      ],
    ],
  ],
  [
    'events.events.k8s.io',
    [
      ...NAME_AND_NAMESPACE,
      ...eventReference('regarding'),
      ...paths('reason', 'type'),
      ['reportingController', reportingController],
    ],
  ],
  ['certificatesigningrequests.certificates.k8s.io', [...NAME, ...paths('spec.signerName')]],
  ['clustertrustbundles.certificates.k8s.io', [...NAME, ...paths('spec.signerName')]],
  [
    'podcertificaterequests.certificates.k8s.io',
    [...NAME_AND_NAMESPACE, ...paths('spec.signerName', 'spec.podName', 'spec.nodeName')],
  ],
  ['resourceslices.resource.k8s.io', [...NAME, ...paths('spec.nodeName', 'spec.driver')]],
]);

const DEFAULT_FIELDS: ReadonlyMap<string, FieldGetter> = new Map(NAME_AND_NAMESPACE);

function keyOf(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** The fields of a built-in type that a field selector may name (API-102). */
export function selectableFields(group: string, resource: string): SelectableFields {
  return OWN_FIELDS.get(keyOf(group, resource)) ?? DEFAULT_FIELDS;
}

/**
 * The selectable fields of a custom resource (API-469): name and namespace, and the version's `selectableFields`, given as JSON paths like
 * `.spec.color`.
 */
export function customSelectableFields(jsonPaths: readonly string[]): SelectableFields {
  return new Map([...DEFAULT_FIELDS, ...paths(...jsonPaths.map((path) => path.replace(/^\./, '')))]);
}

/** The wording of a type's refusal of an unknown field (API-102). */
export type UnknownFieldWording = 'fieldLabel' | 'metadataOnly';

/** The name in messages of built-in types; custom resources always say `fieldLabel`. */
export function unknownFieldWording(group: string, resource: string): UnknownFieldWording {
  return OWN_FIELDS.has(keyOf(group, resource)) ? 'fieldLabel' : 'metadataOnly';
}

/** The 400 for the first field that the type does not support; undefined if it supports all (API-102). */
export function checkFieldSelector(
  selector: FieldSelector,
  fields: SelectableFields,
  wording: UnknownFieldWording,
): StatusError | undefined {
  const unknown = selector.requirements.find(({ field }) => !fields.has(field));
  if (unknown === undefined) return undefined;
  return newBadRequest(
    wording === 'fieldLabel'
      ? `field label not supported: ${unknown.field}`
      : `${quoted(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** True if the object matches the selector, which must have passed {@link checkFieldSelector}. */
export function matchesFields(selector: FieldSelector, fields: SelectableFields, object: KubeObject): boolean {
  return selector.matches((field) => fields.get(field)?.(object) ?? '');
}
