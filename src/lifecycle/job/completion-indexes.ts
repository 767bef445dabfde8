import { COMPLETION_INDEX } from './job.ts';
import type { Pod } from '../pods/pod-object.ts';

/** The completion index of a pod; undefined without one, and for an index that the Job does not have. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const text = pod.metadata?.annotations?.[COMPLETION_INDEX] ?? '';
  const index = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return index !== undefined && index < completions ? index : undefined;
}

/** Parses `1,3-5` as a set. Values beyond `completions` and malformed ones are left out. */
export function parseIndexes(text: string | null | undefined, completions: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (match === null) continue;
    const last = Math.min(Number(match[2] ?? match[1]), completions - 1);
    for (let index = Number(match[1]); index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Formats a set as `1,3-5`: runs of three and more with a dash, of two with a comma. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].toSorted((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    const [first, last] = [sorted[at]!, sorted[end]!];
    parts.push(first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
    at = end + 1;
  }
  return parts.join(',');
}
