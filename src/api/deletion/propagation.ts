import type { DefaultPropagation } from '../kinds/resource-info.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../meta/object-meta.ts';
import type { DeleteOptions } from './delete-options.ts';

/** The input for the finalizers of garbage collection. */
export interface PropagationInput {
  /** The finalizers of the stored object. */
  readonly finalizers: readonly string[];
  readonly options: Pick<DeleteOptions, 'propagationPolicy' | 'orphanDependents'>;
  /** The default of the kind in the version of the request (API-247). */
  readonly defaultPropagation: DefaultPropagation;
}

export function isGarbageCollectionFinalizer(finalizer: string): boolean {
  return finalizer === FINALIZER_ORPHAN || finalizer === FINALIZER_FOREGROUND;
}

/** True if dependents must be orphaned before the object may be removed (API-245). */
export function shouldOrphan(input: PropagationInput): boolean {
  const { finalizers, options, defaultPropagation } = input;
  if (defaultPropagation === 'Unsupported') return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  const present = finalizers.find(isGarbageCollectionFinalizer);
  if (present !== undefined) return present === FINALIZER_ORPHAN;
  return defaultPropagation === 'Orphan';
}

/** True if blocking dependents must be deleted before the object may be removed (API-246). */
export function shouldForeground(input: PropagationInput): boolean {
  const { finalizers, options, defaultPropagation } = input;
  if (defaultPropagation === 'Unsupported') return false;
  // The older option has only two outcomes: dependents are orphaned or left to the collector.
  if (options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  return finalizers.find(isGarbageCollectionFinalizer) === FINALIZER_FOREGROUND;
}

/**
 * The finalizers after the DELETE (API-244). Other finalizers keep their positions. If the *set* does not change, the list is returned
 * unchanged, so that a repeated DELETE does not reorder it and cause a write (API-252).
 */
export function nextFinalizers(input: PropagationInput): readonly string[] {
  return replaceGarbageCollectionFinalizers(input.finalizers, {
    orphan: shouldOrphan(input),
    foreground: shouldForeground(input),
  });
}

export function replaceGarbageCollectionFinalizers(
  finalizers: readonly string[],
  wanted: { readonly orphan: boolean; readonly foreground: boolean },
): readonly string[] {
  const unchanged =
    finalizers.includes(FINALIZER_ORPHAN) === wanted.orphan &&
    finalizers.includes(FINALIZER_FOREGROUND) === wanted.foreground;
  if (unchanged) return finalizers;
  const next = finalizers.filter((finalizer) => !isGarbageCollectionFinalizer(finalizer));
  if (wanted.orphan) next.push(FINALIZER_ORPHAN);
  if (wanted.foreground) next.push(FINALIZER_FOREGROUND);
  return next;
}
