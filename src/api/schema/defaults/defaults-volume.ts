import { defaultFieldRef } from './defaults-container.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultResourceRequirements } from './defaults-resources.ts';
import { defaultPullPolicy } from './image-reference.ts';

/** Octal 0644. */
const DEFAULT_MODE = 420;

/** Old in-tree volume sources and the defaults of their fields. */
const LEGACY_SOURCES: Readonly<Record<string, Fields>> = {
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** A volume of a pod. */
export function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).every((field) => field === 'name' || volume[field] === null)) volume['emptyDir'] = {};
  defaultVolumeSource(volume);
  for (const field of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const source = objectAt(volume, field);
    if (source !== undefined) setIfUnset(source, 'defaultMode', DEFAULT_MODE);
  }
  defaultDownwardApi(objectAt(volume, 'downwardAPI'));
  for (const projection of objectsAt(objectAt(volume, 'projected'), 'sources')) {
    defaultDownwardApi(objectAt(projection, 'downwardAPI'));
    const token = objectAt(projection, 'serviceAccountToken');
    if (token !== undefined) setIfUnset(token, 'expirationSeconds', 3600);
  }
  const image = objectAt(volume, 'image');
  if (image !== undefined) setIfZero(image, 'pullPolicy', defaultPullPolicy(image['reference']));
  defaultClaimSpec(objectAt(objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate'), 'spec'));
}

/** Volume sources that pods and persistent volumes share. */
export function defaultVolumeSource(owner: Fields): void {
  const hostPath = objectAt(owner, 'hostPath');
  if (hostPath !== undefined) setIfUnset(hostPath, 'type', '');
  for (const [field, defaults] of Object.entries(LEGACY_SOURCES)) {
    const source = objectAt(owner, field);
    if (source === undefined) continue;
    for (const [name, value] of Object.entries(defaults)) setIfZero(source, name, value);
  }
}

/** The spec of a persistent volume claim or claim template. */
export function defaultClaimSpec(spec: Fields | undefined): void {
  if (spec === undefined) return;
  setIfUnset(spec, 'volumeMode', 'Filesystem');
  defaultResourceRequirements(spec);
}

function defaultDownwardApi(source: Fields | undefined): void {
  for (const item of objectsAt(source, 'items')) defaultFieldRef(item);
}
