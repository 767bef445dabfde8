import { append } from '../../../base/collections/append.ts';
import { parseQuantity, quantityAsNumber } from '../../quantity.ts';
import { quoted } from '../../meta/quoted.ts';
import { type Fields, objectAt, objectsAt } from '../fields/defaults-fields.ts';
import { type PlacedContainer, portWarnings } from './warnings-ports.ts';

/** Renamed node labels, and kube-apiserver's warnings about them. */
const DEPRECATED_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const DEPRECATED_VOLUMES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

const SECCOMP_OF_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const USE_SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead';

/**
 * Warnings about settings of a pod (`path` empty) or pod template (`spec.template`) that are valid but probably not intended: api/pod
 * `warningsForPodSpecAndMeta`. Not checked: overlapping paths in projected volumes, addresses in unusual notation, AppArmor.
 */
export function podWarnings(pod: Fields | undefined, path = ''): string[] {
  const root = path === '' ? '' : `${path}.`;
  const spec = objectAt(pod, 'spec');
  const at = `${root}spec`;
  const annotations = objectAt(objectAt(pod, 'metadata'), 'annotations') ?? {};
  const containers = containersOf(spec, at);
  return [
    ...labelWarnings(spec, at),
    ...annotationWarnings(annotations, root),
    ...volumeWarnings(spec, at),
    ...duplicates(objectsAt(spec, 'hostAliases'), 'ip', `${at}.hostAliases`),
    ...duplicates(objectsAt(spec, 'imagePullSecrets'), 'name', `${at}.imagePullSecrets`),
    ...fractions(objectAt(spec, 'overhead'), `${at}.overhead`),
    ...seccompWarnings(spec, annotations, root),
    ...containers.flatMap(({ container, at: place }) => containerWarnings(container, place, { annotations, root })),
    ...portWarnings(containers),
    ...graceWarnings(spec, at),
    ...affinityWarnings(spec, at),
  ];
}

function containersOf(spec: Fields | undefined, at: string): PlacedContainer[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    objectsAt(spec, field).map((container, i) => ({ container, at: `${at}.${field}[${i}]` })),
  );
}

function labelWarnings(spec: Fields | undefined, at: string): string[] {
  const warnings: string[] = [];
  for (const label of Object.keys(objectAt(spec, 'nodeSelector') ?? {})) {
    const text = DEPRECATED_NODE_LABELS.get(label);
    if (text !== undefined) warnings.push(`${at}.nodeSelector[${label}]: ${text}`);
  }
  const affinity = objectAt(objectAt(spec, 'affinity'), 'nodeAffinity');
  const terms = objectsAt(objectAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'), 'nodeSelectorTerms');
  const required = `${at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  for (const [i, term] of terms.entries()) append(warnings, termWarnings(term, `${required}[${i}]`));
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  for (const [i, term] of objectsAt(affinity, preferred).entries()) {
    const place = `${at}.affinity.nodeAffinity.${preferred}[${i}].preference`;
    append(warnings, termWarnings(objectAt(term, 'preference'), place));
  }
  for (const [i, constraint] of objectsAt(spec, 'topologySpreadConstraints').entries()) {
    const place = `${at}.topologySpreadConstraints[${i}]`;
    append(warnings, deprecatedLabel(constraint['topologyKey'], `${place}.topologyKey`));
    if (objectAt(constraint, 'labelSelector') === undefined) warnings.push(`${place}.${MATCHES_NONE}`);
  }
  return warnings;
}

const MATCHES_NONE = 'labelSelector: a null labelSelector results in matching no pod';

function termWarnings(term: Fields | undefined, at: string): string[] {
  return objectsAt(term, 'matchExpressions').flatMap(({ key }, i) =>
    deprecatedLabel(key, `${at}.matchExpressions[${i}].key`),
  );
}

function deprecatedLabel(label: unknown, at: string): string[] {
  const text = DEPRECATED_NODE_LABELS.get(String(label));
  return text === undefined ? [] : [`${at}: ${String(label)} is ${text}`];
}

function annotationWarnings(annotations: Fields, root: string): string[] {
  return Object.entries(DEPRECATED_ANNOTATIONS)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, text]) => `${root}metadata.annotations[${key}]: ${text}`);
}

function volumeWarnings(spec: Fields | undefined, at: string): string[] {
  return objectsAt(spec, 'volumes').flatMap((volume, i) => {
    const claim = objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate');
    return [
      ...Object.entries(DEPRECATED_VOLUMES)
        .filter(([source]) => volume[source] !== undefined)
        .map(([source, text]) => `${at}.volumes[${i}].${source}: ${text}`),
      ...claimSpecWarnings(objectAt(claim, 'spec'), `${at}.volumes[${i}].ephemeral.volumeClaimTemplate.spec`),
    ];
  });
}

export function claimSpecWarnings(spec: Fields | undefined, at: string): string[] {
  const resources = objectAt(spec, 'resources');
  return ['requests', 'limits'].flatMap((field) =>
    fractions(objectAt(resources, field), `${at}.resources.${field}`, ['storage']),
  );
}

function duplicates(items: readonly Fields[], field: 'ip' | 'name', at: string): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [i, item] of items.entries()) {
    const value = String(item[field] ?? '');
    if (seen.has(value)) warnings.push(`${at}[${i}].${field}: duplicate ${field} ${quoted(value)}`);
    seen.add(value);
    if (field === 'name' && value === '') warnings.push(`${at}[${i}].name: invalid empty name ""`);
  }
  return warnings;
}

/** Bytes are whole numbers, so an amount such as `100m` of memory is probably a mistake. */
function fractions(amounts: Fields | undefined, at: string, names = ['memory', 'ephemeral-storage']): string[] {
  return names.flatMap((name) => {
    const amount = amounts?.[name];
    if (amount === undefined || Number.isInteger(quantityAsNumber(parseQuantity(String(amount))))) return [];
    return [`${at}[${name}]: fractional byte value ${quoted(String(amount))} is invalid, must be an integer`];
  });
}

function seccompWarnings(spec: Fields | undefined, annotations: Fields, root: string): string[] {
  const profile = objectAt(spec, 'securityContext')?.['seccompProfile'];
  if (profile !== undefined || annotations[SECCOMP_OF_POD] === undefined) return [];
  return [`${root}metadata.annotations[${SECCOMP_OF_POD}]: ${USE_SECCOMP_FIELD}`];
}

function containerWarnings(
  container: Fields,
  at: string,
  { annotations, root }: { readonly annotations: Fields; readonly root: string },
): string[] {
  const warnings: string[] = [];
  const key = SECCOMP_OF_CONTAINER + String(container['name']);
  const profile = objectAt(container, 'securityContext')?.['seccompProfile'];
  if (profile === undefined && annotations[key] !== undefined) {
    warnings.push(`${root}metadata.annotations[${key}]: ${USE_SECCOMP_FIELD}`);
  }
  const resources = objectAt(container, 'resources');
  for (const name of ['memory', 'ephemeral-storage']) {
    for (const field of ['limits', 'requests']) {
      append(warnings, fractions(objectAt(resources, field), `${at}.resources.${field}`, [name]));
    }
  }
  return [...warnings, ...hiddenVariables(objectsAt(container, 'env'), `${at}.env`)];
}

/** A variable that is set twice, unless the second value uses the first. */
function hiddenVariables(env: readonly Fields[], at: string): string[] {
  const seen = new Set<unknown>();
  return env.flatMap(({ name, value, valueFrom }, i) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${String(name)})`;
    const text = String(value ?? '');
    if (valueFrom === undefined && text !== reference && text.includes(reference)) return [];
    const hidden = quoted(String(name));
    return [`${at}[${i}]: hides previous definition of ${hidden}, which may be dropped when using apply`];
  });
}

function graceWarnings(spec: Fields | undefined, at: string): string[] {
  if (Number(spec?.['terminationGracePeriodSeconds'] ?? 0) >= 0) return [];
  return [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`];
}

function affinityWarnings(spec: Fields | undefined, at: string): string[] {
  const warnings: string[] = [];
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = objectAt(objectAt(spec, 'affinity'), kind);
    for (const [field, inner] of [
      ['requiredDuringSchedulingIgnoredDuringExecution', ''],
      ['preferredDuringSchedulingIgnoredDuringExecution', 'podAffinityTerm'],
    ] as const) {
      for (const [i, item] of objectsAt(affinity, field).entries()) {
        const term = inner === '' ? item : objectAt(item, inner);
        if (objectAt(term, 'labelSelector') !== undefined) continue;
        warnings.push(`${at}.affinity.${kind}.${field}[${i}].${inner === '' ? '' : `${inner}.`}${MATCHES_NONE}`);
      }
    }
  }
  return warnings;
}
