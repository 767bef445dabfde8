import { PROTECT } from '../../api/meta/annotations.ts';
import { type Condition, findCondition } from '../../api/meta/conditions.ts';
import { parseGoDuration } from '../../api/meta/duration.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';

/** A duration since the creation, such as `24h`. */
export const TTL = 'kubegc.io/ttl';
/** `Type=Status,duration`: the duration since the condition has this status. */
export const TTL_AFTER_CONDITION = 'kubegc.io/ttl-after-condition';

/** Kinds to which a controller copies its object's annotations, and where they stay when they are removed there. */
const COPIED_TO: ReadonlySet<unknown> = new Set(['ReplicaSet', 'ControllerRevision']);

/** Kinds whose deletion takes more with it, by plural name and group; they have a TTL only if listed. */
export const EXCLUDED_RESOURCES: ReadonlySet<string> = new Set([
  'namespaces',
  'nodes',
  'persistentvolumes',
  'persistentvolumeclaims',
  'apiextensions.k8s.io/customresourcedefinitions',
]);

type GenericTtlDecision =
  | {
      readonly verdict: 'nothing';
      readonly reason: 'terminating' | 'protected' | 'noTtl' | 'owned' | 'unreadable' | 'otherStatus';
    }
  | { readonly verdict: 'wait'; readonly reason: TtlReason; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: TtlReason };

type TtlReason = 'ttl' | 'ttlAfterCondition';

interface Offered {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** True for resources whose objects may have a TTL (LIFE-090). Events expire by themselves. */
export function mayHaveTtl({ group, resource, verbs }: Offered, listed: readonly string[]): boolean {
  if (resource.includes('/') || !['get', 'list', 'watch', 'delete'].every((verb) => verbs.includes(verb))) return false;
  if (resource === 'events' && (group === '' || group === 'events.k8s.io')) return false;
  const name = group === '' ? resource : `${group}/${resource}`;
  return !EXCLUDED_RESOURCES.has(name) || listed.includes(name);
}

/** Decides about a live object (LIFE-090). The earlier of two times counts. `now` is in epoch ms. */
export function decideGenericTtl({ metadata = {}, ...object }: KubeObject, now: number): GenericTtlDecision {
  const { annotations = {}, deletionTimestamp, creationTimestamp, ownerReferences = [] } = metadata;
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const [sinceCreation, sinceCondition] = [annotations[TTL], annotations[TTL_AFTER_CONDITION]];
  if (sinceCreation === undefined && sinceCondition === undefined) return { verdict: 'nothing', reason: 'noTtl' };
  if (COPIED_TO.has(object['kind']) && ownerReferences.some(({ controller }) => controller)) {
    return { verdict: 'nothing', reason: 'owned' };
  }
  if (annotations[PROTECT] !== undefined) return { verdict: 'nothing', reason: 'protected' };
  const ends: { readonly reason: TtlReason; readonly atMs: number }[] = [];
  if (sinceCreation !== undefined) {
    const [created, ms] = [parseTime(creationTimestamp ?? ''), durationOf(sinceCreation)];
    if (created === undefined || ms === undefined) return { verdict: 'nothing', reason: 'unreadable' };
    ends.push({ reason: 'ttl', atMs: created + ms });
  }
  if (sinceCondition !== undefined) {
    const end = conditionEnd(sinceCondition, object);
    if (end === 'unreadable') return { verdict: 'nothing', reason: 'unreadable' };
    if (end !== 'otherStatus') ends.push({ reason: 'ttlAfterCondition', atMs: end });
  }
  const first = ends.toSorted((a, b) => a.atMs - b.atMs)[0];
  if (first === undefined) return { verdict: 'nothing', reason: 'otherStatus' };
  const { reason, atMs } = first;
  return atMs > now ? { verdict: 'wait', reason, untilMs: atMs } : { verdict: 'delete', reason };
}

/** Epoch ms. A condition without a time counts as one that is not there. */
function conditionEnd(text: string, object: Omit<KubeObject, 'metadata'>): number | 'unreadable' | 'otherStatus' {
  const [, type = '', wanted = '', duration = ''] = /^([^=,]+)=([^=,]+),([^,]+)$/.exec(text) ?? [];
  const ms = durationOf(duration.trim());
  if (type === '' || ms === undefined) return 'unreadable';
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] | null };
  const condition = findCondition(Array.isArray(conditions) ? conditions : [], type.trim());
  const since = parseTime(condition?.lastTransitionTime ?? '');
  return condition?.status !== wanted.trim() || since === undefined ? 'otherStatus' : since + ms;
}

/** Undefined for a negative duration, too. */
function durationOf(text: string): number | undefined {
  const ms = parseGoDuration(text);
  return ms === undefined || ms < 0 ? undefined : ms;
}
