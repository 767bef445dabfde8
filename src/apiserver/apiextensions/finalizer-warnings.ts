import type { KubeObject } from '../../api/meta/object-meta.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import { quoted } from '../../api/meta/quoted.ts';
import { isQualifiedName } from '../../api/validation/names.ts';

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([FINALIZER_ORPHAN, FINALIZER_FOREGROUND, 'kubernetes']);

/** Warnings about new finalizers with unusual names, which custom resources may have (API-071). */
export function finalizerWarnings(next: KubeObject, previous?: KubeObject): string[] {
  const known = new Set(previous?.metadata?.finalizers);
  const added = (next.metadata?.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
  return [...new Set(added)].sort().flatMap((finalizer) => {
    const remark = (text: string): string => `metadata.finalizers: ${quoted(finalizer)}: ${text}`;
    const warnings = isQualifiedName(finalizer).map(remark);
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      const including = finalizer.includes('.') ? ' including a path (/)' : '';
      const why = 'to avoid accidental conflicts with other finalizer writers';
      warnings.push(remark(`prefer a domain-qualified finalizer name${including} ${why}`));
    }
    return warnings;
  });
}
