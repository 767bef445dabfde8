import { compareQuantities, parseQuantity, type Quantity } from '../../api/quantity.ts';
import { labelSelectorFromObject } from '../../api/selectors/label-selector.ts';
import {
  classOfClaim,
  classOfVolume,
  type PersistentVolume,
  type PersistentVolumeClaim,
  refersTo,
} from './persistent-volume.ts';

const NONE: Quantity = parseQuantity('0');
const storageOf = (amounts: Readonly<Record<string, string>> | undefined): Quantity =>
  amounts?.['storage'] === undefined ? NONE : parseQuantity(amounts['storage']);
const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.volumeMode ?? 'Filesystem';

type Mismatch = 'volumeMode' | 'size' | 'class' | 'accessModes' | 'attributesClass';

/** The reason why a volume that a claim names cannot serve it; undefined if it can (`checkVolumeSatisfyClaim`). */
export function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): Mismatch | undefined {
  if (compareQuantities(storageOf(volume.spec?.capacity), storageOf(claim.spec?.resources?.requests)) < 0)
    return 'size';
  if (classOfVolume(volume) !== (classOfClaim(claim) ?? '')) return 'class';
  if ((volume.spec?.volumeAttributesClassName ?? '') !== (claim.spec?.volumeAttributesClassName ?? '')) {
    return 'attributesClass';
  }
  if (modeOf(volume) !== modeOf(claim)) return 'volumeMode';
  return (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode))
    ? undefined
    : 'accessModes';
}

export const modesDiffer = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  modeOf(volume) !== modeOf(claim);

/**
 * The volume for a claim (LIFE-158): a reserved one, otherwise the smallest available one that fits; of equal ones the first by name. While
 * the choice waits for a pod's node, only a reserved volume counts.
 */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { waitsForNode }: { readonly waitsForNode: boolean },
): PersistentVolume | undefined {
  const selector = claim.spec?.selector ? labelSelectorFromObject(claim.spec.selector) : undefined;
  const living = volumes.filter((volume) => !volume.metadata?.deletionTimestamp);
  const big = (volume: PersistentVolume): boolean =>
    compareQuantities(storageOf(volume.spec?.capacity), storageOf(claim.spec?.resources?.requests)) >= 0;
  const reserved = living.find(
    (volume) => refersTo(volume.spec?.claimRef, claim) && !modesDiffer(volume, claim) && big(volume),
  );
  if (reserved !== undefined || waitsForNode) return reserved;
  let best: PersistentVolume | undefined;
  for (const volume of living) {
    if (volume.spec?.claimRef || volume.status?.phase !== 'Available') continue;
    if (mismatchOf(volume, claim) !== undefined) continue;
    if (selector !== undefined && !selector.matches(volume.metadata?.labels ?? {})) continue;
    if (best === undefined || isBefore(volume, best)) best = volume;
  }
  return best;
}

function isBefore(a: PersistentVolume, b: PersistentVolume): boolean {
  const sizes = compareQuantities(storageOf(a.spec?.capacity), storageOf(b.spec?.capacity));
  return sizes < 0 || (sizes === 0 && (a.metadata?.name ?? '') < (b.metadata?.name ?? ''));
}
