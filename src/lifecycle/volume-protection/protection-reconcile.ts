import type { KubeObject } from '../../api/meta/object-meta.ts';

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
export const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

type ProtectionDecision =
  | { readonly verdict: 'update'; readonly object: KubeObject; readonly reason: 'unprotected' | 'unused' }
  /** It is terminating and protected, so its use must be determined. */
  | { readonly verdict: 'look'; readonly reason: 'leaving' }
  | { readonly verdict: 'wait'; readonly reason: 'used' }
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'asItShouldBe' };

/**
 * An object in use keeps its finalizer. A terminating unused one loses it. One without it, created before the admission plug-in was
 * enabled, gets it (LIFE-150, LIFE-151). An `update` has the resource version on which the decision rests.
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

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers] } };
}
