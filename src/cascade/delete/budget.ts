import type { CascadePlan, OutcomeCounts } from '../documents/cascade-plan.ts';

/** The maximum that a deletion may remove (CAS-052). */
export interface Budget {
  /** Objects altogether. */
  readonly total?: number;
  /** Objects of a kind, by resource: `pods`, `deployments.apps`. */
  readonly byKind: ReadonlyMap<string, number>;
}

/** The limits of the budget that a plan exceeds, one sentence each; empty if it fits. Every object that may be deleted counts. */
export function exceededBudget({ summary }: CascadePlan, { total, byKind }: Budget): string[] {
  const found: string[] = [];
  const all = goes(summary.byOutcome);
  if (total !== undefined && all > total) found.push(`${all} objects would go, and the budget is ${total}`);
  for (const [kind, most] of byKind) {
    const [name = '', ...group] = kind.split('.');
    const count = Object.entries(summary.byKind)
      .filter(([key]) => key === kind || (group.length === 0 && key.split('.')[0] === name))
      .reduce((sum, [, counts]) => sum + goes(counts), 0);
    if (count > most) found.push(`${count} ${kind} would go, and the budget is ${most}`);
  }
  return found;
}

function goes({ deleted = 0, waits = 0, stuck = 0, unknown = 0 }: OutcomeCounts): number {
  return deleted + waits + stuck + unknown;
}
