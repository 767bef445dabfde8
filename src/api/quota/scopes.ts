import type { Int64 } from '../../base/json/exact-json.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { podResources, type PodResources } from './pod-resources.ts';

interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

interface Pod extends KubeObject {
  spec?: PodResources & {
    readonly activeDeadlineSeconds?: Int64;
    readonly priorityClassName?: string;
    readonly affinity?: { readonly podAffinity?: Affinity; readonly podAntiAffinity?: Affinity };
  };
}

interface Claim extends KubeObject {
  spec?: { readonly volumeAttributesClassName?: string };
  status?: {
    readonly currentVolumeAttributesClassName?: string;
    readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string };
  };
}

interface Term {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: unknown;
}

interface Affinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly Term[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly podAffinityTerm?: Term }[];
}

interface QuotaSpec {
  readonly scopes?: readonly string[];
  readonly scopeSelector?: {
    readonly matchExpressions?: readonly { scopeName?: string; operator?: string; values?: readonly string[] }[];
  };
}

/** The scopes of a quota. Only objects that match all of them count. */
export function scopesOf(spec: unknown): readonly ScopeRequirement[] {
  const { scopes = [], scopeSelector } = (spec ?? {}) as QuotaSpec;
  return [
    ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...(scopeSelector?.matchExpressions ?? []).map(({ scopeName = '', operator = '', values = [] }) => ({
      scopeName,
      operator,
      values,
    })),
  ];
}

/** Whether an object is within all of the scopes. Scopes are about pods and claims of volumes: no other object is within one. */
export function isWithin(
  { group, resource }: { readonly group: string; readonly resource: string },
  object: KubeObject,
  scopes: readonly ScopeRequirement[],
): boolean {
  if (scopes.length === 0) return true;
  if (group !== '') return false;
  if (resource === 'persistentvolumeclaims') return scopes.every((scope) => matchesClaim(object as Claim, scope));
  return resource === 'pods' && scopes.every((scope) => matches(object as Pod, scope));
}

/** Whether a claim moves into the scope of a VolumeAttributesClass or out of it. */
export function changesVolumeAttributesClass(previous: KubeObject, next: KubeObject): boolean {
  const [before, after] = [previous, next].map((claim) => volumeAttributesClasses(claim).toSorted().join());
  return before !== after;
}

/** The VolumeAttributesClasses that a claim wants, has, or is on its way to. */
export function volumeAttributesClasses(claim: KubeObject): readonly string[] {
  const { spec, status } = claim as Claim;
  const named = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(named.filter((name) => name !== undefined && name !== ''))] as string[];
}

function matchesClaim(claim: Claim, { scopeName, operator, values }: ScopeRequirement): boolean {
  if (scopeName !== 'VolumeAttributesClass') return false;
  const classes = volumeAttributesClasses(claim);
  if (classes.length === 0) return matchesClass('', operator, values);
  return classes.some((name) => matchesClass(name, operator, values));
}

function matches({ spec = {} }: Pod, { scopeName, operator, values }: ScopeRequirement): boolean {
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(spec.activeDeadlineSeconds);
    case 'NotTerminating':
      return !isTerminating(spec.activeDeadlineSeconds);
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return matchesClass(spec.priorityClassName ?? '', operator, values);
    case 'CrossNamespacePodAffinity':
      return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some(reachesElsewhere);
    default:
      return false;
  }
}

/** True for a pod with a deadline, which ends by itself. */
function isTerminating(deadline: Int64 | undefined): boolean {
  return deadline !== undefined && deadline >= 0;
}

function isBestEffort(spec: PodResources): boolean {
  return podResources(spec, 'requests').size === 0 && podResources(spec, 'limits').size === 0;
}

function matchesClass(name: string, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'Exists':
      return name !== '';
    case 'DoesNotExist':
      return name === '';
    case 'In':
      return name !== '' && values.includes(name);
    case 'NotIn':
      return !values.includes(name);
    default:
      return false;
  }
}

function reachesElsewhere(affinity: Affinity | undefined): boolean {
  const terms = [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ];
  return terms.some(
    (term) => term !== undefined && ((term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined),
  );
}
