import type { Int64 } from '../../../base/json/exact-json.ts';
import { append } from '../../../base/collections/append.ts';
import { fieldForbidden, fieldInvalid, type FieldError } from '../../../api/field-error.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';

type Fields = Record<string, unknown>;

/** The mutable part of a pod's spec. */
export interface ChangingSpec extends Fields {
  /** Go writes the empty list as null. */
  containers?: Fields[] | null;
  initContainers?: Fields[];
  tolerations?: Fields[];
  schedulingGates?: { name?: string }[];
  terminationGracePeriodSeconds?: Int64;
  activeDeadlineSeconds?: Int64;
  nodeSelector?: Record<string, string>;
  affinity?: { nodeAffinity?: NodeAffinity } & Fields;
}

interface NodeAffinity extends Fields {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Fields[] | null };
}

const MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const NODE_TERMS = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';

/** Checks each mutable field and then makes it equal; afterwards nothing may differ (API-315). */
export function validateSpecUpdate(next: ChangingSpec, previous: ChangingSpec): readonly FieldError[] {
  if (deepEqual(next, previous)) return [];
  for (const field of ['containers', 'initContainers'] as const) {
    if ((next[field] ?? []).length === (previous[field] ?? []).length) continue;
    return [fieldForbidden(`spec.${field}`, 'pod updates may not add or remove containers')];
  }
  const [now, before] = [next.activeDeadlineSeconds, previous.activeDeadlineSeconds];
  if (now !== undefined && before !== undefined && now > before) {
    return [fieldInvalid('spec.activeDeadlineSeconds', now, 'must be less than or equal to previous value')];
  }
  const errors = [...deadlineKept(next, previous), ...tolerationsKept(next, previous), ...noNewGates(next, previous)];
  const leveled = levelAlways(next, previous);
  if ((previous.schedulingGates ?? []).length > 0) append(errors, levelPlacement(leveled, previous));
  return deepEqual(leveled, previous) ? errors : [...errors, fieldForbidden('spec', MUTABLE)];
}

function deadlineKept(next: ChangingSpec, previous: ChangingSpec): FieldError[] {
  if (previous.activeDeadlineSeconds === undefined || next.activeDeadlineSeconds !== undefined) return [];
  const detail = 'must not update from a positive integer to nil value';
  return [fieldInvalid('spec.activeDeadlineSeconds', null, detail)];
}

/** Tolerations may be added, and the seconds of each may change. */
function tolerationsKept(next: ChangingSpec, previous: ChangingSpec): FieldError[] {
  const withoutSeconds = (toleration: Fields): Fields => ({ ...toleration, tolerationSeconds: undefined });
  const tolerations = (next.tolerations ?? []).map(withoutSeconds);
  const kept = (previous.tolerations ?? []).every((old) =>
    tolerations.some((toleration) => deepEqual(withoutSeconds(old), toleration)),
  );
  if (kept) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [fieldForbidden('spec.tolerations', detail)];
}

function noNewGates(next: ChangingSpec, previous: ChangingSpec): FieldError[] {
  const known = new Set((previous.schedulingGates ?? []).map(({ name }) => name));
  return (next.schedulingGates ?? []).flatMap(({ name = '' }, index) => {
    if (known.has(name)) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [fieldForbidden(`spec.schedulingGates[${index}].name`, detail)];
  });
}

function levelAlways(next: ChangingSpec, previous: ChangingSpec): ChangingSpec {
  const leveled: ChangingSpec = {
    ...next,
    ...withImages(next.containers, previous.containers, 'containers'),
    ...withImages(next.initContainers, previous.initContainers, 'initContainers'),
  };
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) level(leveled, previous, field);
  if ((previous.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1) {
    level(leveled, previous, 'terminationGracePeriodSeconds');
  }
  return leveled;
}

function level(spec: Fields, previous: Fields, field: string): void {
  if (previous[field] === undefined) delete spec[field];
  else spec[field] = previous[field];
}

function withImages(
  containers: readonly Fields[] | null | undefined,
  previous: readonly Fields[] | null | undefined,
  field: 'containers' | 'initContainers',
): Partial<ChangingSpec> {
  if (!containers) return {};
  return { [field]: containers.map((container, i) => ({ ...container, image: previous?.[i]?.['image'] })) };
}

/** The nodes of a gated pod may be narrowed, because it is not scheduled yet. */
function levelPlacement(spec: ChangingSpec, previous: ChangingSpec): FieldError[] {
  const errors = [...selectorNarrowed(spec, previous), ...affinityNarrowed(spec, previous)];
  level(spec, previous, 'nodeSelector');
  const affinity: Fields = { ...spec.affinity };
  level(affinity, previous.affinity ?? {}, 'nodeAffinity');
  if (previous.affinity === undefined && Object.keys(affinity).length === 0) delete spec.affinity;
  else spec.affinity = affinity;
  return errors;
}

function selectorNarrowed(spec: ChangingSpec, previous: ChangingSpec): FieldError[] {
  const selector = spec.nodeSelector ?? {};
  if (Object.entries(previous.nodeSelector ?? {}).every(([key, value]) => selector[key] === value)) return [];
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [fieldInvalid('spec.nodeSelector', spec.nodeSelector ?? null, detail)];
}

function termsOf(spec: ChangingSpec): readonly Fields[] {
  return spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

function affinityNarrowed(spec: ChangingSpec, previous: ChangingSpec): FieldError[] {
  const old = termsOf(previous);
  const terms = termsOf(spec);
  if (old.length === 0) return [];
  if (terms.length !== old.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [fieldInvalid(NODE_TERMS, terms, detail)];
  }
  return terms.flatMap((term, index) => {
    if (onlyMore(term, old[index] ?? {})) return [];
    return [fieldInvalid(`${NODE_TERMS}[${index}]`, term, 'only additions are allowed (no mutations or deletions)')];
  });
}

/** A term without requirements selects nothing, and must stay so. */
function onlyMore(term: Fields, old: Fields): boolean {
  const parts = ['matchExpressions', 'matchFields'].map((field) => ({
    now: (term[field] ?? []) as unknown[],
    before: (old[field] ?? []) as unknown[],
  }));
  if (parts.every(({ before }) => before.length === 0)) return parts.every(({ now }) => now.length === 0);
  return parts.every(({ now, before }) => deepEqual(now.slice(0, before.length), before));
}
