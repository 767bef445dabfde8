import type { KindMapping } from '../decide/target.ts';
import type { VersionedKind } from '../decide/gather-facts.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import { versionNumber } from '../types/version-number.ts';

/**
 * The version that a read of an owner names. The answer then comes from no older state than the one in which a dependent referred to the
 * owner. kube-apiserver stores its own resources together, except Events, so that one version is valid for all of them: the built-in ones,
 * and those of `local`, the apiVersions whose APIServices it registered itself. An extension server may count versions in another way. For
 * its resources the read names at most the newest version that their own watch has shown (`newest`, NaN if none is known), so that such a
 * server never refuses the read for ever.
 */
export function versionFor(
  owner: KindMapping,
  dependent: VersionedKind,
  { newest, local }: { readonly newest: number; readonly local: ReadonlySet<string> },
): string | undefined {
  const version = versionNumber(dependent.version);
  if (Number.isNaN(version)) return undefined;
  const areTogether = [owner, dependent].every(
    ({ apiVersion, resource }) =>
      resource !== 'events' && (isServedByKubeApiserver(apiVersion) || local.has(apiVersion)),
  );
  if (areTogether) return dependent.version;
  return Number.isNaN(newest) ? undefined : String(Math.min(version, newest));
}
