import { parseTime } from '../../api/meta/time.ts';
import type { Pod } from './pod-object.ts';

/** The time at which the last container finished, otherwise at which Ready became False, otherwise the creation; epoch ms. */
export function podEnd({ metadata, status }: Pod): number | undefined {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt ?? ''));
  const known = ends.filter((at) => at !== undefined);
  if (known.length > 0) return Math.max(...known);
  const ready = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'False');
  return parseTime(ready?.lastTransitionTime ?? '') ?? parseTime(metadata?.creationTimestamp ?? '');
}
