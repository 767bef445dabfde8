import { rm } from 'node:fs/promises';
import { normalize } from 'node:path';
import type { PersistentVolume } from './persistent-volume.ts';

/** Deletes the storage of a volume. It is called again after a failure, so storage that is already gone is a success. */
export interface StorageDeleter {
  /** The name of the plug-in in `pv.kubernetes.io/provisioned-by`. */
  readonly name: string;
  /** Resolves when the storage is gone. Throws {@link VolumeInUseError} while it is in use, and any other error with its message. */
  delete(volume: PersistentVolume, signal: AbortSignal): Promise<void>;
}

/** The storage cannot be deleted yet. The volume stays unchanged and is retried. */
export class VolumeInUseError extends Error {
  override readonly name = 'VolumeInUseError';
}

const UNDER_TMP = /^\/tmp\/.+/;

/** Removes the directory of a `hostPath` volume from this machine, only below /tmp, like kube-controller-manager's plug-in for tests. */
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
