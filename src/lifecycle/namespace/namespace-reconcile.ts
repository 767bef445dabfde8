import type { Int64 } from '../../base/json/exact-json.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/**
 * The decisions of the namespace controller (upstream `pkg/controller/namespace/deletion`). Pure: the controller observes, deletes and
 * lists, and passes the results to {@link decideAfterPass}.
 */

/** The remaining objects of one resource after a deletion pass. */
export interface Remaining {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Instances still listed. */
  readonly count: number;
  /** Number of objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Objects that have no finalizer and are not terminating gracefully: another program re-creates them, or the server failed. */
  readonly unexpected: number;
}

export interface PassReport {
  readonly remaining: readonly Remaining[];
  /** The error if the server did not return its groups; otherwise undefined. */
  readonly discoveryError?: string;
  /** Group versions that discovery could not read, with the reason. */
  readonly discoveryFailures: Readonly<Record<string, string>>;
  /** The problems of group versions with malformed names. */
  readonly unparsableGroupVersions: readonly string[];
  /** The failures of single resources; the others were still processed (LIFE-443). */
  readonly contentFailures: readonly string[];
  /** Seconds until the slowest pod should be gone; 0 if none is awaited (LIFE-441). */
  readonly podEstimateSeconds: number;
  /** Pods were left, so no other resource was deleted in this pass (LIFE-441). */
  readonly podsFirst: boolean;
}

type ConditionStatus = 'True' | 'False';

export interface NamespaceCondition {
  type: string;
  status: ConditionStatus;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

type PassDecision =
  | { readonly verdict: 'finalize'; readonly reason: 'content-removed' }
  | {
      readonly verdict: 'retry';
      /** Milliseconds; undefined leaves the delay to the queue's back-off. */
      readonly afterMs: number | undefined;
      readonly reason: 'discovery-failed' | 'content-failed' | 'content-remains';
    };

/** The action for a namespace in its current state (LIFE-440). */
type NamespaceStep = 'ignore' | 'mark-terminating' | 'delete-content' | 'done';

/** The name of the finalizer in `spec.finalizers` that this controller removes. */
export const NAMESPACE_FINALIZER = 'kubernetes';

/** Estimated seconds until items with finalizers are gone (LIFE-444). */
const FINALIZER_ESTIMATE_SECONDS = 15;
/** Minimum delay before remaining content is read again. */
const SHORTEST_WAIT_MS = 250;

const phaseOf = (namespace: KubeObject): unknown => (namespace['status'] as { phase?: unknown } | undefined)?.phase;

/** The namespace's `spec.finalizers`, not those of its metadata. */
export function specFinalizers(namespace: KubeObject): readonly string[] {
  const finalizers = (namespace['spec'] as { finalizers?: unknown } | undefined)?.finalizers;
  return Array.isArray(finalizers) ? finalizers.filter((name): name is string => typeof name === 'string') : [];
}

export function decideNamespaceStep(namespace: KubeObject): NamespaceStep {
  if (!namespace.metadata?.deletionTimestamp) return 'ignore';
  if (specFinalizers(namespace).length === 0) return 'done';
  return phaseOf(namespace) === 'Terminating' ? 'delete-content' : 'mark-terminating';
}

/**
 * The namespace is finalized only if nothing is left and nothing is unknown (LIFE-442). Remaining content is read again after half its
 * estimate and a second, as upstream, but at first after half of the time that the deletion has taken so far: most finalizers are removed
 * within milliseconds, and longer waits need rarer reads.
 * @param msSinceDeletion infinity for upstream's waits
 */
export function decideAfterPass(report: PassReport, msSinceDeletion: number): PassDecision {
  if (report.contentFailures.length > 0) return { verdict: 'retry', afterMs: undefined, reason: 'content-failed' };
  if (
    report.discoveryError !== undefined ||
    Object.keys(report.discoveryFailures).length > 0 ||
    report.unparsableGroupVersions.length > 0
  ) {
    return { verdict: 'retry', afterMs: undefined, reason: 'discovery-failed' };
  }
  if (report.remaining.length === 0) return { verdict: 'finalize', reason: 'content-removed' };
  const finalizerEstimate = report.remaining.some(({ finalizers }) => finalizers.size > 0)
    ? FINALIZER_ESTIMATE_SECONDS
    : 0;
  const estimate = Math.max(report.podEstimateSeconds, finalizerEstimate);
  const longestMs = (Math.floor(estimate / 2) + 1) * 1000;
  const afterMs = Math.min(longestMs, Math.max(SHORTEST_WAIT_MS, msSinceDeletion / 2));
  return { verdict: 'retry', afterMs, reason: 'content-remains' };
}

/** The message about items that still exist although nothing holds them (LIFE-444); undefined if there are none. */
export function unexpectedItems(namespace: string, remaining: Remaining): string | undefined {
  if (remaining.unexpected === 0) return undefined;
  const { group, version, resource } = remaining;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${resource}`;
}

const resourceName = ({ resource, group }: Remaining): string => `${resource}.${group}`;

function contentRemaining(report: PassReport): string | undefined {
  if (report.remaining.length === 0) return undefined;
  const parts = report.remaining
    .map((entry) => `${resourceName(entry)} has ${entry.count} resource instances`)
    .toSorted();
  return `Some resources are remaining: ${parts.join(', ')}`;
}

function finalizersRemaining(report: PassReport): string | undefined {
  const counts = new Map<string, number>();
  for (const { finalizers } of report.remaining) {
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  if (counts.size === 0) return undefined;
  const parts = [...counts].map(([name, count]) => `${name} in ${count} resource instances`).toSorted();
  return `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`;
}

function contentFailure(report: PassReport): string | undefined {
  if (report.contentFailures.length === 0) return undefined;
  const messages = report.contentFailures.toSorted();
  return `Failed to delete all resource types, ${messages.length} remaining: ${messages.join(', ')}`;
}

function discoveryFailure(report: PassReport): string | undefined {
  if (report.discoveryError !== undefined) return report.discoveryError;
  const failed = Object.entries(report.discoveryFailures).map(([groupVersion, why]) => `${groupVersion}: ${why}`);
  if (failed.length === 0) return undefined;
  return `Discovery failed for some groups, ${failed.length} failing: unable to retrieve the complete list of server APIs: ${failed.toSorted().join(', ')}`;
}

interface ConditionRule {
  readonly type: string;
  readonly trueReason: string;
  readonly falseReason: string;
  readonly falseMessage: string;
  /** The message while the condition is true; otherwise undefined. */
  message(report: PassReport): string | undefined;
}

/** All five conditions are present after the first pass (LIFE-445). */
const conditionRules: readonly ConditionRule[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    trueReason: 'DiscoveryFailed',
    falseReason: 'ResourcesDiscovered',
    falseMessage: 'All resources successfully discovered',
    message: discoveryFailure,
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    trueReason: 'GroupVersionParsingFailed',
    falseReason: 'ParsedGroupVersions',
    falseMessage: 'All legacy kube types successfully parsed',
    message: ({ unparsableGroupVersions }) =>
      unparsableGroupVersions.length > 0 ? unparsableGroupVersions.join(', ') : undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    trueReason: 'ContentDeletionFailed',
    falseReason: 'ContentDeleted',
    falseMessage: 'All content successfully deleted, may be waiting on finalization',
    message: contentFailure,
  },
  {
    type: 'NamespaceContentRemaining',
    trueReason: 'SomeResourcesRemain',
    falseReason: 'ContentRemoved',
    falseMessage: 'All content successfully removed',
    message: contentRemaining,
  },
  {
    type: 'NamespaceFinalizersRemaining',
    trueReason: 'SomeFinalizersRemain',
    falseReason: 'ContentHasNoFinalizers',
    falseMessage: 'All content-preserving finalizers finished',
    message: finalizersRemaining,
  },
];

/**
 * The namespace's conditions after a pass: ours replaced, foreign ones kept. Undefined if nothing changed, so that nothing is written
 * (LIFE-445). `now` is in RFC 3339.
 */
export function nextConditions(
  previous: readonly NamespaceCondition[],
  report: PassReport,
  now: string,
): NamespaceCondition[] | undefined {
  const next = [...previous];
  let changed = false;
  for (const rule of conditionRules) {
    const holds = rule.message(report);
    const status: ConditionStatus = holds === undefined ? 'False' : 'True';
    const reason = holds === undefined ? rule.falseReason : rule.trueReason;
    const message = holds ?? rule.falseMessage;
    const index = next.findIndex(({ type }) => type === rule.type);
    const old = next[index];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    changed = true;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    const condition = { type: rule.type, status, lastTransitionTime, reason, message };
    if (index < 0) next.push(condition);
    else next[index] = condition;
  }
  return changed ? next : undefined;
}

interface PodLike {
  readonly phase: string | undefined;
  /** Seconds. */
  readonly terminationGracePeriodSeconds: Int64 | undefined;
}

/**
 * Seconds until the namespace's pods should be gone: the longest grace period of running pods, or 0 once that time has passed since the
 * namespace's deletion (LIFE-441).
 */
export function podEstimateSeconds(pods: readonly PodLike[], secondsSinceDeletion: number): number {
  const running = pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed');
  const longest = Math.max(
    0,
    ...running.map(({ terminationGracePeriodSeconds }) => Number(terminationGracePeriodSeconds ?? 0)),
  );
  return secondsSinceDeletion > longest ? 0 : longest;
}
