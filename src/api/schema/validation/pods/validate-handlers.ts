import type { Int64 } from '../../../../base/json/exact-json.ts';
import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { isHttpHeaderName } from '../../../validation/value-forms.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, int64At, numberAt, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validatePortOrName } from './validate-container-ports.ts';
import { invalidFor, validateNonNegative } from '../../fields/validate-fields.ts';

/** Calls to a running container: probes and lifecycle handlers. */

const PROBE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const LIFECYCLE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

export const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** `lifecycle` and the probes of one container. `grace` is the termination grace period in seconds. */
export function validateHandlers(container: Fields, path: string, grace: Int64 | undefined): FieldError[] {
  const lifecycle = objectAt(container, 'lifecycle');
  const errors = lifecycle === undefined ? [] : validateLifecycle(lifecycle, `${path}.lifecycle`, grace);
  for (const field of PROBES) {
    const probe = objectAt(container, field);
    if (probe !== undefined) append(errors, validateProbe(probe, `${path}.${field}`, field === 'readinessProbe'));
  }
  return errors;
}

function validateLifecycle(lifecycle: Fields, path: string, grace: Int64 | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const moment of ['postStart', 'preStop']) {
    const handler = objectAt(lifecycle, moment);
    if (handler === undefined) continue;
    append(errors, validateHandler(handler, LIFECYCLE_HANDLERS, { path: `${path}.${moment}`, grace }));
  }
  return errors;
}

function validateProbe(probe: Fields, path: string, isReadiness: boolean): FieldError[] {
  const errors = validateHandler(probe, PROBE_HANDLERS, { path, grace: undefined });
  for (const field of PROBE_NUMBERS) append(errors, validateNonNegative(probe, field, path));
  const grace = int64At(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined) {
    const at = `${path}.terminationGracePeriodSeconds`;
    if (grace <= 0) errors.push(fieldInvalid(at, grace, 'must be greater than 0'));
    if (isReadiness) errors.push(fieldInvalid(at, grace, 'must not be set for readinessProbes'));
  }
  if (isReadiness) return errors;
  const threshold = numberAt(probe, 'successThreshold') ?? 0;
  if (threshold !== 1) errors.push(fieldInvalid(`${path}.successThreshold`, threshold, 'must be 1'));
  return errors;
}

interface HandlerPlace {
  readonly path: string;
  readonly grace: Int64 | undefined;
}

function validateHandler(handler: Fields, types: readonly string[], place: HandlerPlace): FieldError[] {
  const first = types.find((type) => isGiven(handler, type));
  if (first === undefined) return [fieldRequired(place.path, 'must specify a handler type')];
  const errors = validateAction(first, objectAt(handler, first) ?? {}, place);
  for (const type of types) {
    if (type === first || !isGiven(handler, type)) continue;
    errors.push(fieldForbidden(`${place.path}.${type}`, 'may not specify more than 1 handler type'));
  }
  return errors;
}

function validateAction(type: string, action: Fields, { path, grace }: HandlerPlace): FieldError[] {
  const at = `${path}.${type}`;
  if (type === 'exec') {
    const command = action['command'];
    return Array.isArray(command) && command.length > 0 ? [] : [fieldRequired(`${at}.command`)];
  }
  if (type === 'sleep') return validateSleep(int64At(action, 'seconds') ?? 0, at, grace);
  const errors = validatePortOrName(action['port'], `${at}.port`);
  if (type === 'httpGet' && isGiven(action, 'httpHeaders')) append(errors, validateHeaders(action, at));
  return errors;
}

function validateHeaders(action: Fields, path: string): FieldError[] {
  return objectsAt(action, 'httpHeaders').flatMap((header) => {
    const name = textAt(header, 'name');
    return invalidFor(isHttpHeaderName(name), `${path}.httpHeaders`, name);
  });
}

function validateSleep(seconds: Int64, path: string, grace: Int64 | undefined): FieldError[] {
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return [];
  return [fieldInvalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`)];
}
