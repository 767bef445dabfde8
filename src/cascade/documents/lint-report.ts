import type { DataOrigin, Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

export type Severity = 'error' | 'warning' | 'info';

export interface LintFinding {
  readonly code: string;
  readonly severity: Severity;
  /** Absent for a finding about no single object. */
  readonly ref?: ObjectReference;
  readonly message: string;
  readonly fix?: string;
}

/** Problems of ownership in a cluster or in manifests (`lint -o json`, CAS-094). */
export interface LintReport extends Document<'LintReport'>, DataOrigin {
  /** Empty when nothing is wrong. */
  readonly findings: readonly LintFinding[];
}
