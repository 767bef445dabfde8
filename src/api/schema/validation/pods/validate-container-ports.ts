import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldDuplicate, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { isPortName } from '../../../validation/value-forms.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, numberAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { invalidFor, outsideRange, validateEach } from '../../fields/validate-fields.ts';

const MAX_PORT = 65_535;

/** Between 1 and 65535. */
export function validatePort(port: unknown, path: string): FieldError[] {
  if (typeof port === 'number' && port >= 1 && port <= MAX_PORT) return [];
  return [fieldInvalid(path, port ?? 0, outsideRange(1, MAX_PORT))];
}

/** A number, or the name of a container port. An absent port is 0. */
export function validatePortOrName(port: unknown, path: string): FieldError[] {
  return typeof port === 'string' ? invalidFor(isPortName(port), path, port) : validatePort(port, path);
}

/** `ports` of one container. Protocols are checked elsewhere. */
export function validateContainerPorts(container: Fields, path: string): FieldError[] {
  if (!isGiven(container, 'ports')) return [];
  const names = new Set<string>();
  return validateEach(container, 'ports', { path, check: (port, at) => validateContainerPort(port, names, at) });
}

function validateContainerPort(port: Fields, names: Set<string>, path: string): FieldError[] {
  const number = port['containerPort'] ?? 0;
  const errors = validatePortName(textAt(port, 'name'), names, path);
  if (number === 0) errors.push(fieldRequired(`${path}.containerPort`));
  else append(errors, validatePort(number, `${path}.containerPort`));
  if (hostPortOf(port) !== 0) append(errors, validatePort(port['hostPort'], `${path}.hostPort`));
  return errors;
}

function validatePortName(name: string, names: Set<string>, path: string): FieldError[] {
  if (name === '') return [];
  const problems = isPortName(name);
  if (problems.length > 0) return invalidFor(problems, `${path}.name`, name);
  if (names.has(name)) return [fieldDuplicate(`${path}.name`, name)];
  names.add(name);
  return [];
}

function hostPortOf(port: Fields): number {
  return numberAt(port, 'hostPort') ?? 0;
}

/** Only one container may use a host port. `path` is the path of the list of containers. */
export function validateHostPorts(containers: readonly Fields[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [number, port] of objectsAt(container, 'ports').entries()) {
      const hostPort = hostPortOf(port);
      if (hostPort === 0) continue;
      const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${hostPort}`;
      if (taken.has(key)) errors.push(fieldDuplicate(`${path}[${index}].ports[${number}].hostPort`, key));
      taken.add(key);
    }
  }
  return errors;
}

/** With host network, container port and host port are equal; a template may omit the host port. */
export function validateHostNetwork(spec: Fields, path: string, isPod: boolean): FieldError[] {
  if (spec['hostNetwork'] !== true) return [];
  return objectsAt(spec, 'containers').flatMap((container, index) =>
    objectsAt(container, 'ports').flatMap((port, number) => {
      const hostPort = hostPortOf(port);
      if ((hostPort === 0 && !isPod) || hostPort === (numberAt(port, 'containerPort') ?? 0)) return [];
      const at = `${path}.containers[${index}].ports[${number}].hostPort`;
      return [fieldInvalid(at, hostPort, 'must match `containerPort` when `hostNetwork` is true')];
    }),
  );
}
