import { formatTime } from './time.ts';

/** One entry of `status.conditions` in its usual form (apimachinery `metav1.Condition` and its predecessors). */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** RFC 3339. */
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export function findCondition(
  conditions: readonly Condition[] | null | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | null | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** The list with a condition set. Its transition time changes only with its status. `now` is in epoch ms. */
export function withCondition(
  conditions: readonly Condition[] | null | undefined,
  condition: Condition,
  now: number,
): Condition[] {
  const known = conditions ?? [];
  const before = findCondition(known, condition.type);
  const stays = before !== undefined && before.status === condition.status && Boolean(before.lastTransitionTime);
  const lastTransitionTime = (stays ? before.lastTransitionTime : undefined) ?? formatTime(now);
  const { type, status, ...words } = condition;
  const next: Condition = { type, status, lastTransitionTime, ...words };
  return before === undefined ? [...known, next] : known.map((each) => (each === before ? next : each));
}
