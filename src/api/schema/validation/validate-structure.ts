import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldNotSupported, fieldRequired } from '../../field-error.ts';
import type { FieldInfo } from '../../kinds/type-table.ts';
import { fieldsOf, META_V1 } from '../../kinds/type-table.ts';
import type { LabelSelectorObject } from '../../validation/labels.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { supportedValues } from '../fields/supported-values.ts';

const LABEL_SELECTOR = `${META_V1}.LabelSelector`;

/** Fields that the published schema requires although the server accepts them empty or checks them with other messages. */
const NOT_REQUIRED: ReadonlySet<string> = new Set([
  'api/admissionregistration/v1.MutatingWebhook/admissionReviewVersions',
  'api/admissionregistration/v1.MutatingWebhook/sideEffects',
  'api/admissionregistration/v1.ValidatingWebhook/admissionReviewVersions',
  'api/admissionregistration/v1.ValidatingWebhook/sideEffects',
  'api/autoscaling/v2.HPAScalingPolicy/type',
  'api/autoscaling/v2.MetricIdentifier/name',
  'api/autoscaling/v2.MetricSpec/type',
  'api/autoscaling/v2.MetricTarget/type',
  'api/autoscaling/v2.ResourceMetricSource/name',
  'api/batch/v1.PodFailurePolicy/rules',
  'api/batch/v1.PodFailurePolicyOnExitCodesRequirement/operator',
  'api/batch/v1.PodFailurePolicyOnExitCodesRequirement/values',
  'api/batch/v1.PodFailurePolicyOnPodConditionsPattern/status',
  'api/batch/v1.PodFailurePolicyOnPodConditionsPattern/type',
  'api/batch/v1.PodFailurePolicyRule/action',
  'api/core/v1.AppArmorProfile/type',
  'api/core/v1.DownwardAPIVolumeFile/path',
  'api/core/v1.HTTPHeader/name',
  'api/core/v1.HTTPHeader/value',
  'api/core/v1.HostAlias/ip',
  'api/core/v1.LimitRangeItem/type',
  'api/core/v1.LimitRangeSpec/limits',
  'api/core/v1.NodeSelector/nodeSelectorTerms',
  'api/core/v1.NodeSelectorRequirement/key',
  'api/core/v1.NodeSelectorRequirement/operator',
  'api/core/v1.PodAffinityTerm/topologyKey',
  'api/core/v1.PodOS/name',
  'api/core/v1.PodReadinessGate/conditionType',
  'api/core/v1.PodSchedulingGate/name',
  'api/core/v1.ScopedResourceSelectorRequirement/operator',
  'api/core/v1.ScopedResourceSelectorRequirement/scopeName',
  'api/core/v1.SeccompProfile/type',
  'api/core/v1.ServiceAccountTokenProjection/path',
  'api/core/v1.Sysctl/value',
  'api/core/v1.TopologySpreadConstraint/topologyKey',
  'api/core/v1.TopologySpreadConstraint/whenUnsatisfiable',
  'api/networking/v1.HTTPIngressPath/pathType',
  'api/rbac/v1.PolicyRule/verbs',
  'api/storage/v1.CSINodeSpec/drivers',
]);

interface FieldCheck {
  readonly name: string;
  /** `text` must not be empty. `presence` must be present. */
  readonly requires: 'nothing' | 'text' | 'presence';
  readonly supported: readonly string[] | undefined;
  /** The type to continue with: of the field, of its items or of its values. */
  readonly nested: string | undefined;
}

/** The fields to check, by type. Types may refer to each other in cycles, so entries are created on use. */
const checks = new Map<string, readonly FieldCheck[]>();
const hasChecks = new Map<string, boolean>();

/**
 * Checks a decoded object by the type table: required fields, closed sets of values, well-formed label selectors (API-502). Skips `status`,
 * which controllers write.
 */
export function validateStructure(object: Fields, typeName: string): FieldError[] {
  const walk = new Walk();
  for (const check of checksOf(typeName)) {
    if (check.name !== 'status') walk.field(object, check);
  }
  return walk.errors;
}

/** Formats the path only for a finding, because most objects have none. */
class Walk {
  readonly errors: FieldError[] = [];
  /** Path from the object: names of fields, indices of items, keys of maps. */
  readonly #steps: (string | number | MapKey)[] = [];

  get #path(): string {
    let path = '';
    for (const step of this.#steps) {
      if (typeof step === 'string') path += path === '' ? step : `.${step}`;
      else path += `[${typeof step === 'number' ? step : step.key}]`;
    }
    return path;
  }

  field(object: Fields, check: FieldCheck): void {
    const value = object[check.name];
    // Most fields are absent and optional.
    if (value === undefined && check.requires === 'nothing') return;
    this.#steps.push(check.name);
    this.#value(value, check);
    this.#steps.pop();
  }

  #value(value: unknown, { requires, supported, nested }: FieldCheck): void {
    const absent = value === undefined || value === null;
    if (requires !== 'nothing' && (absent || (requires === 'text' && value === ''))) {
      this.errors.push(fieldRequired(this.#path));
      return;
    }
    if (absent) return;
    if (supported !== undefined && !supported.includes(value as string)) this.#supported(value, supported);
    if (nested !== undefined) this.#nested(value, nested);
  }

  #supported(value: unknown, supported: readonly string[]): void {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item !== '' && !supported.includes(item as string)) {
        this.errors.push(fieldNotSupported(this.#path, item, supported));
      }
    }
  }

  #nested(value: unknown, type: string): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) this.#within(index, value[index], type);
    } else if (type === LABEL_SELECTOR) {
      append(this.errors, validateLabelSelector(value as LabelSelectorObject, this.#path));
    } else if (type.startsWith('map:')) {
      for (const [key, item] of Object.entries(value)) this.#within({ key }, item, type.slice('map:'.length));
    } else {
      for (const check of checksOf(type)) this.field(value as Fields, check);
    }
  }

  #within(step: number | MapKey, item: unknown, type: string): void {
    this.#steps.push(step);
    this.#nested(item, type);
    this.#steps.pop();
  }
}

interface MapKey {
  readonly key: string;
}

function checksOf(typeName: string): readonly FieldCheck[] {
  let found = checks.get(typeName);
  if (found === undefined) {
    found = fieldsOf(typeName)
      .map((field) => checkOf(typeName, field))
      .filter((check) => check.requires !== 'nothing' || check.supported !== undefined || check.nested !== undefined);
    checks.set(typeName, found);
  }
  return found;
}

function checkOf(owner: string, field: FieldInfo): FieldCheck {
  const container = field.pointer || field.list || field.map;
  const required = field.required && !NOT_REQUIRED.has(`${owner}/${field.name}`);
  const requires = !required ? 'nothing' : container ? 'presence' : field.type === 'string' ? 'text' : 'nothing';
  const nested = reachesChecks(field.type, new Set()) ? `${field.map ? 'map:' : ''}${field.type}` : undefined;
  return { name: field.name, requires, supported: supportedValues(owner, field.name), nested };
}

/** True if some object inside a value of the type has a check; most have none. */
function reachesChecks(typeName: string, visiting: Set<string>): boolean {
  const known = hasChecks.get(typeName);
  if (known !== undefined) return known;
  if (typeName === LABEL_SELECTOR) return true;
  // Metadata is validated elsewhere.
  if (typeName === `${META_V1}.ObjectMeta` || visiting.has(typeName)) return false;
  visiting.add(typeName);
  const reaches = fieldsOf(typeName).some(
    (field) =>
      (field.required && (field.type === 'string' || field.pointer || field.list || field.map)) ||
      supportedValues(typeName, field.name) !== undefined ||
      reachesChecks(field.type, visiting),
  );
  // In a cycle, the result of a member is final only after the whole cycle was visited.
  if (reaches || visiting.size === 1) hasChecks.set(typeName, reaches);
  return reaches;
}
