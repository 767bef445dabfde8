import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, objectAt } from '../fields/defaults-fields.ts';
import { validateNonNegative } from '../fields/validate-fields.ts';
import { isNone, validateAtMostAll, validateIntOrPercent } from './validate-int-or-percent.ts';

/** Strategies by which a workload replaces its pods. */

/** `spec.strategy` of a Deployment. */
export function validateDeploymentStrategy(spec: Fields | undefined): FieldError[] {
  const strategy = objectAt(spec, 'strategy');
  const rolling = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.strategy.rollingUpdate';
  if (rolling === undefined) return [];
  if (strategy?.['type'] === 'Recreate') {
    return [fieldForbidden(path, "may not be specified when strategy `type` is 'Recreate'")];
  }
  const { maxSurge, maxUnavailable } = rolling;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    errors.push(fieldInvalid(`${path}.maxUnavailable`, maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`)];
}

/** `spec.updateStrategy` of a DaemonSet, with a surge or with unavailable pods. */
export function validateDaemonSetStrategy(spec: Fields | undefined): FieldError[] {
  const strategy = objectAt(spec, 'updateStrategy');
  const rolling = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy.rollingUpdate';
  if (strategy?.['type'] !== 'RollingUpdate' || rolling === undefined) return [];
  const { maxSurge, maxUnavailable } = rolling;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...validateAtMostAll(maxSurge, `${path}.maxSurge`),
  ];
  if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    errors.push(fieldInvalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    errors.push(fieldRequired(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

/** `spec.updateStrategy` of a StatefulSet. */
export function validateStatefulSetStrategy(spec: Fields | undefined): FieldError[] {
  const strategy = objectAt(spec, 'updateStrategy');
  const rolling = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy';
  if (strategy?.['type'] === 'OnDelete') {
    if (rolling === undefined) return [];
    return [fieldInvalid(`${path}.rollingUpdate`, rolling, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (strategy?.['type'] !== 'RollingUpdate') {
    return [fieldInvalid(path, strategy ?? null, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  const errors = validateNonNegative(rolling, 'partition', `${path}.rollingUpdate`);
  if (!isGiven(rolling, 'maxUnavailable')) return errors;
  const at = `${path}.rollingUpdate.maxUnavailable`;
  const maxUnavailable = rolling?.['maxUnavailable'];
  append(errors, validateIntOrPercent(maxUnavailable, at));
  if (isNone(maxUnavailable)) errors.push(fieldInvalid(at, maxUnavailable, 'cannot be 0'));
  return [...errors, ...validateAtMostAll(maxUnavailable, at)];
}

const RETENTION = ['Retain', 'Delete'];

/** The retention policy for the claims of a StatefulSet. */
export function validateRetention(spec: Fields | undefined): FieldError[] {
  const policy = objectAt(spec, 'persistentVolumeClaimRetentionPolicy');
  if (policy === undefined) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((field) => {
    const value = policy[field] ?? '';
    const path = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    return RETENTION.includes(value as string) ? [] : [fieldNotSupported(path, value, RETENTION)];
  });
}
