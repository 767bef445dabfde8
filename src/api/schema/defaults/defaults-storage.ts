import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultResourceList } from './defaults-resources.ts';
import { defaultClaimSpec, defaultVolumeSource } from './defaults-volume.ts';

export function defaultPersistentVolume(volume: Fields): void {
  setIfZero(ensureObjectAt(volume, 'status'), 'phase', 'Pending');
  const spec = ensureObjectAt(volume, 'spec');
  setIfZero(spec, 'persistentVolumeReclaimPolicy', 'Retain');
  setIfUnset(spec, 'volumeMode', 'Filesystem');
  defaultResourceList(spec, 'capacity');
  defaultVolumeSource(spec);
}

export function defaultPersistentVolumeClaim(claim: Fields): void {
  const status = ensureObjectAt(claim, 'status');
  setIfZero(status, 'phase', 'Pending');
  defaultResourceList(status, 'capacity');
  defaultResourceList(status, 'allocatedResources');
  defaultClaimSpec(ensureObjectAt(claim, 'spec'));
}

export function defaultStorageClass(storageClass: Fields): void {
  setIfUnset(storageClass, 'reclaimPolicy', 'Delete');
  setIfUnset(storageClass, 'volumeBindingMode', 'Immediate');
}

export function defaultCsiDriver(driver: Fields): void {
  const spec = ensureObjectAt(driver, 'spec');
  setIfUnset(spec, 'attachRequired', true);
  setIfUnset(spec, 'podInfoOnMount', false);
  setIfUnset(spec, 'storageCapacity', false);
  setIfUnset(spec, 'requiresRepublish', false);
  setIfUnset(spec, 'seLinuxMount', false);
  setIfUnset(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  const modes = spec['volumeLifecycleModes'];
  if (!Array.isArray(modes) || modes.length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
}
