import type { FieldError } from '../../field-error.ts';
import { fieldInvalid } from '../../field-error.ts';
import { isQualifiedName } from '../../validation/names.ts';
import { invalidFor } from './validate-fields.ts';

/** The meaning of resource names (upstream `pkg/apis/core/helper`). A name without a slash is Kubernetes' own. */

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const COUNTED: readonly string[] = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...COUNTED,
  ...CONTAINER_RESOURCES,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([...QUOTA_RESOURCES, 'storage']);
const WHOLE_NUMBERS: ReadonlySet<string> = new Set(COUNTED);
const HUGE_PAGES = 'hugepages-';

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** The page size as text: `2Mi`. */
export function pageSizeOf(name: string): string {
  return name.slice(HUGE_PAGES.length);
}

/** True for a name without a domain, or with one of Kubernetes' domains. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** The resource of a device plug-in: `example.com/gpu`. */
function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0;
}

/** False if a request must equal its limit. */
export function isOvercommitAllowed(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** True if the resource has no fractions. */
export function isWholeNumber(name: string): boolean {
  return WHOLE_NUMBERS.has(name) || isExtended(name);
}

export function isQuotaResource(name: string): boolean {
  return QUOTA_RESOURCES.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);
}

export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = invalidFor(isQualifiedName(name), path, name);
  if (errors.length > 0 || name.includes('/') || STANDARD_RESOURCES.has(name) || isQuotaResource(name)) return errors;
  return [fieldInvalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, path: string): FieldError[] {
  if (CONTAINER_RESOURCES.has(name)) return [];
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!isHugePages(name)) errors.push(fieldInvalid(path, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(fieldInvalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

export function validateQuotaResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/') && !isQuotaResource(name)) {
    errors.push(fieldInvalid(path, name, 'must be a standard resource for quota'));
  }
  return errors;
}
