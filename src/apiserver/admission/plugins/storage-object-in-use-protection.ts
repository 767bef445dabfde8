import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
};

/**
 * Protects storage objects in use from deletion (API-341): every new volume, claim and VolumeAttributesClass gets a finalizer, which a
 * controller removes when the object is no longer used. Without such a controller the object could never be deleted.
 */
export class StorageObjectInUseProtection implements AdmissionPlugin {
  readonly name = 'StorageObjectInUseProtection';
  readonly operations = ['CREATE'] as const;

  admit({ info, subresource, object }: AdmissionAttributes): void {
    if (subresource !== '' || object === undefined) return;
    const finalizer = finalizers[`${info.group}/${info.resource}`];
    if (finalizer === undefined) return;
    const meta = (object.metadata ??= {});
    if (meta.finalizers?.includes(finalizer) === true) return;
    meta.finalizers = [...(meta.finalizers ?? []), finalizer];
  }
}
