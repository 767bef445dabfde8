import type { KindMapping } from '../decide/target.ts';
import type { VersionedKind } from '../decide/gather-facts.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import { versionNumber } from '../types/version-number.ts';

/**
 * The version that a read of an owner names, so that it comes from no older state than the one in which a dependent referred to it. What
 * kube-apiserver serves by itself is stored together, apart from Events, so that one version is good for all. Of any other resource nobody
 * can tell whether it is of the same storage: of that at most the newest version is named that its own watch has shown (`newest`, NaN
 * where none is known), and so a server that counts otherwise never refuses it for ever.
 */
export function versionFor(owner: KindMapping, dependent: VersionedKind, newest: number): string | undefined {
  const version = versionNumber(dependent.version);
  if (Number.isNaN(version)) return undefined;
  if (isStoredWithOthers(owner) && isStoredWithOthers(dependent)) return dependent.version;
  return Number.isNaN(newest) ? undefined : String(Math.min(version, newest));
}

function isStoredWithOthers({ apiVersion, resource }: Pick<KindMapping, 'apiVersion' | 'resource'>): boolean {
  return resource !== 'events' && isServedByKubeApiserver(apiVersion);
}
