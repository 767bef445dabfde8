import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { deletionOf } from '../../api/kinds/resource-rules.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import type { CascadePlan, CascadePolicy, OutcomeCounts, PlannedObject, PlanRoot } from '../documents/cascade-plan.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { SimulatedRoot, SimulationRequest, SimulationResult } from '../simulate/simulation.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { dataBearing } from './data-bearing.ts';
import { digestOf, orderByUid } from './digest.ts';
import { Fates } from './fates.ts';
import { resourceGroup } from './object-name.ts';
import { PlanObjects } from './plan-objects.ts';

/** Converts a finished simulation to a plan (CAS-090). Pure. */
export function makePlan(snapshot: Snapshot, request: SimulationRequest, result: SimulationResult): CascadePlan {
  return planOf(snapshot, request, new Fates(snapshot, result));
}

/** As {@link makePlan}, for a caller that has dropped the simulation to free its memory. */
export function planOf(snapshot: Snapshot, request: SimulationRequest, fates: Fates): CascadePlan {
  const made = new PlanObjects(snapshot, fates);
  const { objects } = made;
  const roots = request.roots.flatMap((root) => planRoot(snapshot, root));
  const policies = new Set(roots.map(({ policy }) => policy));
  const [policy] = policies;
  const { assumeFinalizers } = request;
  const places = orderByUid(objects.length, (place) => objects[place]!.ref.uid);
  const digest = digestOf({ assumeFinalizers, roots, places, objectAt: (place) => made.digestedAt(place) });
  return {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'CascadePlan',
    digest,
    ...(policy !== undefined && policies.size === 1 ? { policy } : {}),
    roots,
    ...snapshot.origin,
    assumeFinalizers,
    objects,
    summary: { ...countsOf(objects), dataBearing: dataBearing(snapshot, objects) },
  };
}

function planRoot(snapshot: Snapshot, { uid, policy }: SimulatedRoot): PlanRoot[] {
  const id = snapshot.graph.find(uid);
  if (id < 0) return [];
  const ref = snapshot.referenceOf(id);
  if (policy !== undefined) return [{ ref, policy, policyFrom: 'request' }];
  return [{ ref, policy: defaultPolicy(ref, snapshot.metadataOf(id).finalizers ?? []), policyFrom: 'default' }];
}

/** The policy of a DELETE without one (CAS-011): that of the object's deletion finalizers, otherwise its type's. */
function defaultPolicy({ apiVersion, resource }: PlanRoot['ref'], finalizers: readonly string[]): CascadePolicy {
  const own = finalizers.find((name) => name === FINALIZER_ORPHAN || name === FINALIZER_FOREGROUND);
  if (own !== undefined) return own === FINALIZER_ORPHAN ? 'Orphan' : 'Foreground';
  const group = parseGroupVersion(apiVersion)?.group ?? '';
  return deletionOf({ group, resource }).defaultPropagation === 'Orphan' ? 'Orphan' : 'Background';
}

type Counts = Map<string, Record<string, number>>;

function countsOf(objects: readonly PlannedObject[]): Omit<CascadePlan['summary'], 'dataBearing'> {
  const byOutcome: Record<string, number> = {};
  const byKind: Counts = new Map();
  const byNamespace: Counts = new Map();
  // Objects of one kind often follow each other.
  let { apiVersion, resource, group } = { apiVersion: '', resource: '', group: '' };
  for (const { ref, outcome } of objects) {
    if (ref.resource !== resource || ref.apiVersion !== apiVersion) {
      ({ apiVersion, resource } = ref);
      group = resourceGroup(ref);
    }
    byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1;
    count(byKind, group, outcome);
    count(byNamespace, ref.namespace ?? '', outcome);
  }
  return { byOutcome, byKind: sorted(byKind), byNamespace: sorted(byNamespace) };
}

function count(counts: Counts, key: string, outcome: string): void {
  let of = counts.get(key);
  if (of === undefined) counts.set(key, (of = {}));
  of[outcome] = (of[outcome] ?? 0) + 1;
}

function sorted(counts: Counts): Record<string, OutcomeCounts> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
