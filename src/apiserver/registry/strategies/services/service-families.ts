import { append } from '../../../../base/collections/append.ts';
import { fieldInvalid } from '../../../../api/field-error.ts';
import type { FieldError } from '../../../../api/field-error.ts';
import { validateFirst } from '../../../../api/schema/validation/validate-service-addresses.ts';
import { HEADLESS, isHeadlessWithoutSelector, type ServiceSpec } from './service-spec.ts';

/** The only family with cluster addresses. */
const OWN_FAMILY = 'IPv4';
const OTHER_FAMILY = 'IPv6';

/**
 * Sets `ipFamilies` and `ipFamilyPolicy` as on a single-stack cluster (registry core/service `initIPFamilyFields`), or returns the reason
 * why it cannot. `old` is the stored service of an update.
 */
export function settleFamilies(spec: ServiceSpec, old?: ServiceSpec): FieldError[] {
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isHeadlessWithoutSelector(spec) ? 'RequireDualStack' : 'SingleStack');
  const errors = validateFirst(spec.clusterIP ?? '', spec.clusterIPs ?? []);
  if (errors.length > 0) return errors;
  if (old !== undefined) append(errors, settleSecondFamily(spec, old));
  append(errors, countErrors(spec), inferFamilies(spec));
  if (errors.length > 0) return errors;
  if (isHeadlessWithoutSelector(spec)) {
    settleFreely(spec);
    return [];
  }
  append(errors, unavailable(spec));
  if (errors.length === 0 && (spec.ipFamilies ?? []).length === 0) spec.ipFamilies = [OWN_FAMILY];
  return errors;
}

/** A change to a single family must be explicit. */
function settleSecondFamily(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const before = old.ipFamilies ?? [];
  const now = spec.ipFamilies ?? [];
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (now.length > 1 && now.length === before.length && now.every((family, i) => family === before[i])) {
      spec.ipFamilies = now.slice(0, 1);
    }
    return [];
  }
  if (before.length < 2 || now.length !== 1) return [];
  return [
    fieldInvalid(
      'spec.ipFamilyPolicy',
      spec.ipFamilyPolicy,
      "must be 'SingleStack' to release the secondary IP family",
    ),
  ];
}

function countErrors({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const wants = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  const errors: FieldError[] = [];
  if (clusterIPs.length === 2) {
    errors.push(fieldInvalid('spec.ipFamilyPolicy', ipFamilyPolicy, `${wants} cluster IPs are specified`));
  }
  if (ipFamilies.length === 2) {
    errors.push(fieldInvalid('spec.ipFamilyPolicy', ipFamilyPolicy, `${wants} IP families are specified`));
  }
  return errors;
}

/** A requested address determines its family. */
function inferFamilies(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const families = [...(spec.ipFamilies ?? [])];
  for (const [i, address] of (spec.clusterIPs ?? []).entries()) {
    if (address === HEADLESS) break;
    if (i < families.length) continue;
    const family = address.includes(':') ? OTHER_FAMILY : OWN_FAMILY;
    if (family === OWN_FAMILY) families.push(family);
    else {
      errors.push(
        fieldInvalid(`spec.clusterIPs[${i}]`, spec.clusterIPs, `${family} is not configured on this cluster`),
      );
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

function settleFreely(spec: ServiceSpec): void {
  const families = spec.ipFamilies ?? [];
  const [first = OWN_FAMILY] = families;
  const second = first === OWN_FAMILY ? OTHER_FAMILY : OWN_FAMILY;
  if (families.length < 2) spec.ipFamilies = spec.ipFamilyPolicy === 'SingleStack' ? [first] : [first, second];
}

function unavailable({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack') {
    const problem = 'this cluster is not configured for dual-stack services';
    errors.push(fieldInvalid('spec.ipFamilyPolicy', ipFamilyPolicy, problem));
  }
  for (const [i, family] of ipFamilies.entries()) {
    if (family === OWN_FAMILY) continue;
    errors.push(fieldInvalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  }
  return errors;
}
