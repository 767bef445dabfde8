import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotFound, fieldNotSupported, fieldRequired } from '../../../field-error.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateNoBacksteps, validateRelativePath } from './validate-paths.ts';

/** The valid volumes of a pod, by name. */
export type PodVolumes = ReadonlyMap<string, Fields>;

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

/** `volumeMounts` and `volumeDevices` of one container. */
export function validateMounts(container: Fields, volumes: PodVolumes, path: string): FieldError[] {
  if (!isGiven(container, 'volumeMounts') && !isGiven(container, 'volumeDevices')) return [];
  const mounts = objectsAt(container, 'volumeMounts');
  const devices = objectsAt(container, 'volumeDevices');
  const errors: FieldError[] = [];
  const seen = new Set<unknown>();
  const others = takenBy(devices, 'volumeDevices', 'devicePath');
  for (const [index, mount] of mounts.entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    append(errors, validateMount(mount, { volumes, at, seen }));
    append(errors, validateOverlap(mount, 'mountPath', { others, at }));
    append(errors, validateMountOptions(mount, { at, list: `${path}.volumeMounts`, volumes, container }));
    seen.add(mount['mountPath']);
  }
  return devices.length === 0 ? errors : [...errors, ...validateDevices(devices, mounts, { volumes, path })];
}

function validateMount(
  mount: Fields,
  among: { readonly volumes: PodVolumes; readonly at: string; readonly seen: ReadonlySet<unknown> },
): FieldError[] {
  const { volumes, at, seen } = among;
  const name = textAt(mount, 'name');
  const mountPath = textAt(mount, 'mountPath');
  const errors: FieldError[] = [];
  if (name !== '' && !volumes.has(name)) errors.push(fieldNotFound(`${at}.name`, name));
  if (mountPath !== '' && seen.has(mountPath))
    errors.push(fieldInvalid(`${at}.mountPath`, mountPath, 'must be unique'));
  return errors;
}

/** Names and paths that only one mount, or device, of a container may use. */
interface Taken {
  readonly in: 'volumeMounts' | 'volumeDevices';
  readonly names: ReadonlySet<string>;
  readonly places: ReadonlySet<string>;
}

function takenBy(items: readonly Fields[], list: Taken['in'], field: 'mountPath' | 'devicePath'): Taken {
  const [names, places] = ['name', field].map((member) => new Set(items.map((item) => textAt(item, member))));
  return { in: list, names: names!, places: places! };
}

/** A container uses a volume as a directory or as a device, not as both. */
function validateOverlap(
  item: Fields,
  field: 'mountPath' | 'devicePath',
  { others, at }: { readonly others: Taken; readonly at: string },
): FieldError[] {
  const name = textAt(item, 'name');
  const place = textAt(item, field);
  const errors: FieldError[] = [];
  if (others.names.has(name)) errors.push(fieldInvalid(`${at}.name`, name, `must not already exist in ${others.in}`));
  if (others.places.has(place)) {
    errors.push(fieldInvalid(`${at}.${field}`, place, `must not already exist as a path in ${others.in}`));
  }
  return errors;
}

interface MountPlace {
  readonly at: string;
  /** Some findings concern the list instead of the mount. */
  readonly list: string;
  readonly volumes: PodVolumes;
  readonly container: Fields;
}

function validateMountOptions(mount: Fields, { at, list, volumes, container }: MountPlace): FieldError[] {
  const subPath = textAt(mount, 'subPath');
  const expression = textAt(mount, 'subPathExpr');
  const errors: FieldError[] = [];
  if (isGiven(volumes.get(textAt(mount, 'name')), 'image')) {
    const detail = 'not allowed in image volume sources';
    if (subPath !== '') errors.push(fieldInvalid(`${at}.subPath`, subPath, detail));
    if (expression !== '') errors.push(fieldInvalid(`${at}.subPathExpr`, expression, detail));
  }
  if (subPath !== '') append(errors, validateRelativePath(subPath, `${list}.subPath`));
  if (expression !== '' && subPath !== '') {
    errors.push(fieldInvalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'));
  }
  if (expression !== '') append(errors, validateRelativePath(expression, `${list}.subPathExpr`));
  const propagation = mount['mountPropagation'];
  if (typeof propagation === 'string') {
    append(errors, validatePropagation(propagation, container, `${list}.mountPropagation`));
  }
  append(errors, validateRecursion(mount, `${list}.recursiveReadOnly`));
  return errors;
}

function validatePropagation(propagation: string, container: Fields, path: string): FieldError[] {
  if (!PROPAGATIONS.includes(propagation)) return [fieldNotSupported(path, propagation, PROPAGATIONS)];
  const privileged = objectAt(container, 'securityContext')?.['privileged'] === true;
  if (propagation !== 'Bidirectional' || privileged) return [];
  return [fieldForbidden(path, 'Bidirectional mount propagation is available only to privileged containers')];
}

function validateRecursion(mount: Fields, path: string): FieldError[] {
  const recursive = mount['recursiveReadOnly'];
  if (typeof recursive !== 'string' || recursive === 'Disabled') return [];
  if (!RECURSIVE.includes(recursive)) return [fieldNotSupported(path, recursive, RECURSIVE)];
  const errors: FieldError[] = [];
  if (mount['readOnly'] !== true) {
    errors.push(fieldForbidden(path, 'may only be specified when readOnly is true'));
  }
  if (isGiven(mount, 'mountPropagation') && mount['mountPropagation'] !== 'None') {
    errors.push(fieldForbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
  return errors;
}

function validateDevices(
  devices: readonly Fields[],
  mounts: readonly Fields[],
  { volumes, path }: { readonly volumes: PodVolumes; readonly path: string },
): FieldError[] {
  const names = new Set<string>();
  const places = new Set<string>();
  const others = takenBy(mounts, 'volumeMounts', 'mountPath');
  return devices.flatMap((device, index) => {
    const at = `${path}.volumeDevices[${index}]`;
    const name = textAt(device, 'name');
    const place = textAt(device, 'devicePath');
    const errors = validateDeviceName(name, volumes, at);
    if (names.has(name)) errors.unshift(fieldInvalid(`${at}.name`, name, 'must be unique'));
    if (place === '') errors.push(fieldRequired(`${at}.devicePath`));
    else if (places.has(place)) errors.push(fieldInvalid(`${at}.devicePath`, place, 'must be unique'));
    if (validateNoBacksteps(place, at).length > 0) {
      errors.push(fieldInvalid(`${at}.devicePath`, place, "can not contain backsteps ('..')"));
    } else if (place !== '') places.add(place);
    if (name !== '') names.add(name);
    return [...errors, ...validateOverlap(device, 'devicePath', { others, at })];
  });
}

function validateDeviceName(name: string, volumes: PodVolumes, at: string): FieldError[] {
  if (name === '') return [fieldRequired(`${at}.name`)];
  const volume = volumes.get(name);
  if (volume === undefined) return [fieldNotFound(`${at}.name`, name)];
  if (isGiven(volume, 'persistentVolumeClaim') || isGiven(volume, 'ephemeral')) return [];
  const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return [fieldInvalid(`${at}.name`, name, detail)];
}
