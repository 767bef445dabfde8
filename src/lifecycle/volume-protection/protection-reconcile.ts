import type { KubeObject } from '../../api/meta/object-meta.ts';
import { volumeAttributesClasses } from '../../api/quota/scopes.ts';

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
export const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';
export const CLASS_FINALIZER = 'kubernetes.io/vac-protection';

type ProtectionDecision =
  | { readonly verdict: 'update'; readonly object: KubeObject; readonly reason: 'unprotected' | 'unused' }
  /** The object terminates and is protected, so the controller must find out whether it is in use. */
  | { readonly verdict: 'look'; readonly reason: 'leaving' }
  | { readonly verdict: 'wait'; readonly reason: 'used' }
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'asItShouldBe' };

/**
 * An object in use keeps its finalizer. A terminating unused one loses it. One without it, created before the admission plug-in was
 * enabled, gets it (LIFE-150, LIFE-151, LIFE-157). An `update` has the resource version on which the decision rests.
 */
export function decideProtection(
  object: KubeObject | undefined,
  finalizer: string,
  use: 'unknown' | 'used' | 'unused',
): ProtectionDecision {
  if (object === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
  const isProtected = finalizers.includes(finalizer);
  if (!deletionTimestamp) {
    if (isProtected) return { verdict: 'nothing', reason: 'asItShouldBe' };
    return { verdict: 'update', reason: 'unprotected', object: withFinalizers(object, [...finalizers, finalizer]) };
  }
  if (!isProtected) return { verdict: 'nothing', reason: 'asItShouldBe' };
  if (use === 'unknown') return { verdict: 'look', reason: 'leaving' };
  if (use === 'used') return { verdict: 'wait', reason: 'used' };
  const left = finalizers.filter((name) => name !== finalizer);
  return { verdict: 'update', reason: 'unused', object: withFinalizers(object, left) };
}

/** A volume is in use as long as it is bound. */
export function volumeUse(volume: KubeObject | undefined): 'used' | 'unused' {
  return (volume?.['status'] as { phase?: string } | undefined)?.phase === 'Bound' ? 'used' : 'unused';
}

/** A VolumeAttributesClass is in use as long as a claim or a volume names it (LIFE-157). */
export function classUse(
  name: string,
  { claims, volumes }: { readonly claims: readonly KubeObject[]; readonly volumes: readonly KubeObject[] },
): 'used' | 'unused' {
  const isUsed =
    volumes.some((volume) => classesOfVolume(volume).includes(name)) ||
    claims.some((claim) => volumeAttributesClasses(claim).includes(name));
  return isUsed ? 'used' : 'unused';
}

/** The VolumeAttributesClass that a volume names, or none. */
export function classesOfVolume({ spec }: KubeObject): readonly string[] {
  const name = (spec as { volumeAttributesClassName?: string } | undefined)?.volumeAttributesClassName ?? '';
  return name === '' ? [] : [name];
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers] } };
}
