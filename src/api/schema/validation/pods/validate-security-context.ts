import type { Int64 } from '../../../../base/json/exact-json.ts';
import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldDuplicate, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, int64At, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { outsideRange } from '../../fields/validate-fields.ts';
import { validateRelativePath } from './validate-paths.ts';

/** The users that a pod and its containers run as, and their privileges. Closed sets of values are elsewhere. */

const MAX_ID = 2_147_483_647;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL_NAME = new RegExp(SYSCTL);
const MAX_SYSCTL = 253;

/** `securityContext` of a pod. */
export function validatePodSecurity(spec: Fields, path: string): FieldError[] {
  const context = objectAt(spec, 'securityContext');
  if (context === undefined || Object.keys(context).length === 0) return [];
  const at = `${path}.securityContext`;
  return [
    ...validateIds(context, ['fsGroup', 'runAsUser', 'runAsGroup'], at),
    ...validateGroups(context, `${at}.supplementalGroups`),
    ...validateSysctls(context, `${at}.sysctls`),
    ...validateProfile(context, 'seccompProfile', at),
    ...validateProfile(context, 'appArmorProfile', at),
  ];
}

/** `shareProcessNamespace` is a field of the pod, but upstream reports the finding at its security context. */
export function validateProcessSharing(spec: Fields, path: string): FieldError[] {
  if (spec['shareProcessNamespace'] !== true || spec['hostPID'] !== true) return [];
  const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
  return [fieldInvalid(`${path}.securityContext.shareProcessNamespace`, true, detail)];
}

/** `securityContext` of a container. */
export function validateContainerSecurity(container: Fields, path: string, hostUsers: boolean): FieldError[] {
  const context = objectAt(container, 'securityContext');
  if (context === undefined) return [];
  const at = `${path}.securityContext`;
  const errors = validateIds(context, ['runAsUser', 'runAsGroup'], at);
  if (hostUsers && context['procMount'] === 'Unmasked') {
    errors.push(fieldInvalid(`${at}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`'));
  }
  append(errors, validateProfile(context, 'seccompProfile', at));
  if (context['allowPrivilegeEscalation'] === false) append(errors, validateEscalation(context, at));
  return [...errors, ...validateProfile(context, 'appArmorProfile', at)];
}

function validateIds(context: Fields, fields: readonly string[], path: string): FieldError[] {
  return fields.flatMap((field) => validateId(int64At(context, field), `${path}.${field}`));
}

function validateId(id: Int64 | undefined, path: string): FieldError[] {
  if (id === undefined || (id >= 0 && id <= MAX_ID)) return [];
  return [fieldInvalid(path, id, outsideRange(0, MAX_ID))];
}

function validateGroups(context: Fields, path: string): FieldError[] {
  const groups = context['supplementalGroups'];
  if (!Array.isArray(groups)) return [];
  return (groups as Int64[]).flatMap((id, index) => validateId(id, `${path}[${index}]`));
}

function validateSysctls(context: Fields, path: string): FieldError[] {
  const names = new Set<string>();
  return objectsAt(context, 'sysctls').flatMap((sysctl, index) => {
    const name = textAt(sysctl, 'name');
    const at = `${path}[${index}].name`;
    if (name === '') return [];
    if (name.length > MAX_SYSCTL || !SYSCTL_NAME.test(name)) {
      return [fieldInvalid(at, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`)];
    }
    if (names.has(name)) return [fieldDuplicate(at, name)];
    names.add(name);
    return [];
  });
}

const PROFILE_WORDS = { seccompProfile: 'seccomp', appArmorProfile: 'AppArmor' } as const;

/** A localhost profile has a name, the others have none. */
function validateProfile(context: Fields, field: keyof typeof PROFILE_WORDS, path: string): FieldError[] {
  const profile = objectAt(context, field);
  if (profile === undefined) return [];
  const type = textAt(profile, 'type');
  const at = `${path}.${field}`;
  if (type === '') return [fieldRequired(`${at}.type`, `type is required when ${field} is set`)];
  const words = PROFILE_WORDS[field];
  const name = profile['localhostProfile'];
  if (type !== 'Localhost') {
    if (!isGiven(profile, 'localhostProfile')) return [];
    // Upstream prints the whole profile for this type.
    const value = field === 'seccompProfile' ? profile : name;
    return [fieldInvalid(`${at}.localhostProfile`, value, `can only be set when ${words} type is Localhost`)];
  }
  if (typeof name !== 'string' || (name.trim() === '' && field === 'appArmorProfile')) {
    return [fieldRequired(`${at}.localhostProfile`, `must be set when ${words} type is Localhost`)];
  }
  if (field === 'seccompProfile') return validateRelativePath(name, `${at}.localhostProfile`);
  if (name === name.trim()) return [];
  return [fieldInvalid(`${at}.localhostProfile`, name, 'must not be padded with whitespace')];
}

function validateEscalation(context: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (context['privileged'] === true) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    errors.push(fieldInvalid(path, context, detail));
  }
  if (listOfTextsAt(objectAt(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    errors.push(fieldInvalid(path, context, detail));
  }
  return errors;
}
