import { parseThreshold, type Signal, thresholdMet } from '../config/eviction-threshold.ts';
import type { DiskReading } from '../images/thresholds.ts';

/** Where images and writable layers are stored (NODE-111). */
export type DiskLayout = 'one' | 'separateImages' | 'split';
export type ReclaimStep = 'containers' | 'images' | 'deadLogs';

/** Signals of file systems whose threshold is met, in the order of their names. */
export function signalsUnderPressure(
  thresholds: Readonly<Record<string, string>>,
  disks: { readonly nodefs: DiskReading | undefined; readonly imagefs: DiskReading | undefined },
): Signal[] {
  const met = (signal: Signal): boolean => {
    const text = thresholds[signal];
    const threshold = text === undefined ? undefined : parseThreshold(text);
    const [disk, what] = signal.split('.');
    const reading = disk === 'nodefs' ? disks.nodefs : disk === 'imagefs' ? disks.imagefs : undefined;
    if (threshold === undefined || reading === undefined) return false;
    const have =
      what === 'available'
        ? { available: reading.available, capacity: reading.capacity }
        : { available: reading.inodesFree, capacity: reading.inodes };
    // A file system without a reading counts as not full. One without a count of inodes counts as having enough inodes.
    if (have.available === undefined || have.capacity === undefined || have.capacity === 0n) return false;
    return thresholdMet(threshold, { available: have.available, capacity: have.capacity });
  };
  return (['imagefs.available', 'imagefs.inodesFree', 'nodefs.available', 'nodefs.inodesFree'] as const).filter(met);
}

/**
 * The resources reclaimed when a signal's threshold is met, before any pod is evicted (NODE-111).
 * @param trimLogs reclaims logs of dead containers where the kubelet reclaims nothing (NODE-224)
 */
export function reclaimSteps(
  signal: Signal,
  layout: DiskLayout,
  { trimLogs }: { readonly trimLogs: boolean },
): ReclaimStep[] {
  const disk = signal.split('.')[0];
  if (disk !== 'nodefs' && disk !== 'imagefs') return [];
  if (layout === 'one') return ['containers', 'images'];
  if (layout === 'split') return disk === 'nodefs' ? ['containers'] : ['images'];
  if (disk === 'imagefs') return ['containers', 'images'];
  return trimLogs ? ['deadLogs'] : [];
}
