import { rm } from 'node:fs/promises';
import { normalize } from 'node:path';
import type { PersistentVolume } from './persistent-volume.ts';

/** Deletes the storage behind a volume. Called again after a failure, so storage that is gone already is success. */
export interface StorageDeleter {
  /** The name of the plug-in, as `pv.kubernetes.io/provisioned-by` has it. */
  readonly name: string;
  /** Resolves when the storage is gone. Throws {@link VolumeInUseError} while somebody uses it, and any other error as its message says. */
  delete(volume: PersistentVolume, signal: AbortSignal): Promise<void>;
}

/** The storage cannot be deleted yet; the volume stays as it is and is tried again. */
export class VolumeInUseError extends Error {
  override readonly name = 'VolumeInUseError';
}

const UNDER_TMP = /^\/tmp\/.+/;

/** Removes the directory of a `hostPath` volume from this machine, below /tmp only, as kube-controller-manager's plug-in for tests does. */
export const hostPathDeleter: StorageDeleter = {
  name: 'kubernetes.io/host-path',
  delete: async (volume) => {
    const path = volume.spec?.hostPath?.path ?? '';
    // A path like /tmp/../etc must not leave /tmp.
    if (!UNDER_TMP.test(normalize(path)) || normalize(path) === '/tmp/') {
      throw new Error(`host_path deleter only supports /tmp/.+ but received provided ${path}`);
    }
    await rm(path, { recursive: true, force: true });
  },
};
