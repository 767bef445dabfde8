import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { deletionOf } from '../../api/kinds/resource-rules.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import type { Graph } from '../../collector/graph/graph.ts';
import type {
  CascadePlan,
  CascadePolicy,
  OutcomeCounts,
  PlannedFinalizer,
  PlannedObject,
  PlanRoot,
  Via,
} from '../documents/cascade-plan.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { SimulatedRoot, SimulationRequest, SimulationResult } from '../simulate/simulation.ts';
import type { Trail } from '../simulate/trail.ts';
import { setterOf } from '../snapshot/finalizer-setters.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { dataBearing } from './data-bearing.ts';
import { type DigestedObject, digestOf } from './digest.ts';
import { Judge, type Judgement } from './judgement.ts';
import { resourceGroup } from './object-name.ts';

/** Converts a finished simulation to a plan (CAS-090). Pure. */
export function makePlan(snapshot: Snapshot, request: SimulationRequest, result: SimulationResult): CascadePlan {
  const judge = new Judge(snapshot, result);
  const objects: PlannedObject[] = [];
  const digested: DigestedObject[] = [];
  const judged = judgements(judge, result);
  for (const [uid, judgement] of judged) {
    const id = snapshot.graph.find(uid);
    if (id < 0) continue;
    const trail = result.trails.find(uid);
    const metadata = snapshot.metadataOf(id);
    const ref = snapshot.referenceOf(id);
    const references = metadata.ownerReferences ?? [];
    objects.push(
      plannedObject(
        { ref, judgement, trail, judged, result, finalizers: finalizersOf(snapshot, result, uid) },
        references.map((each) => each.uid),
      ),
    );
    digested.push({
      uid,
      resourceVersion: ref.resourceVersion ?? metadata.resourceVersion,
      references,
      finalizers: metadata.finalizers ?? [],
      outcome: judgement.outcome,
    });
  }
  objects.sort(inOrder);
  const roots = request.roots.flatMap((root) => planRoot(snapshot, root));
  const policies = new Set(roots.map(({ policy }) => policy));
  const [policy] = policies;
  return {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'CascadePlan',
    digest: digestOf(roots, request.assumeFinalizers, digested),
    ...(policy !== undefined && policies.size === 1 ? { policy } : {}),
    roots,
    ...snapshot.origin,
    assumeFinalizers: request.assumeFinalizers,
    objects,
    summary: {
      byOutcome: countBy(objects, () => '')[''] ?? {},
      byKind: countBy(objects, ({ ref }) => resourceGroup(ref)),
      byNamespace: countBy(objects, ({ ref }) => ref.namespace ?? ''),
      dataBearing: dataBearing(snapshot, objects),
    },
  };
}

function judgements(judge: Judge, { trails, held, server }: SimulationResult): Map<string, Judgement> {
  const judged = new Map<string, Judgement>();
  for (const { uid } of trails.values()) {
    const judgement = judge.of(uid);
    if (judgement !== undefined) judged.set(uid, judgement);
  }
  for (const { left, podsFirst } of held) {
    if (!podsFirst) continue;
    for (const uid of left) {
      if (judged.has(uid) || server.get(uid)?.metadata?.deletionTimestamp) continue;
      judged.set(uid, {
        outcome: 'waits',
        reason: 'podsFirst',
        message: 'it is deleted when the pods of its namespace are gone',
      });
    }
  }
  return judged;
}

interface Planned {
  readonly ref: PlannedObject['ref'];
  readonly judgement: Judgement;
  readonly trail: Trail | undefined;
  readonly judged: ReadonlyMap<string, Judgement>;
  readonly result: SimulationResult;
  readonly finalizers: readonly PlannedFinalizer[];
}

function plannedObject(
  { ref, judgement, trail, judged, result, finalizers }: Planned,
  references: readonly string[],
): PlannedObject {
  const { outcome, reason, message } = judgement;
  const { sequence, loses, graceSeconds } = trail ?? {};
  const waitsFor = trail === undefined ? [] : waitedFor(trail, result);
  const via: Via = trail?.via ?? 'namespace';
  const owners = ownersOf({ via, references, ref, judged, trail }, result);
  return {
    ref,
    outcome,
    reason,
    message,
    ...(sequence === undefined ? {} : { sequence }),
    ...(waitsFor.length === 0 ? {} : { waitsFor }),
    ...(loses === undefined || loses.size === 0 ? {} : { losesReferences: [...loses] }),
    ...(finalizers.length === 0 ? {} : { finalizers }),
    ...(owners.length === 0 ? {} : { owners }),
    via,
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
  };
}

/**
 * Objects that are deleted before it, or that it waits for in vain: for those also the blocking dependents that are left. Objects orphaned
 * meanwhile delay nothing.
 */
function waitedFor(trail: Trail, { trails, server, emptied }: SimulationResult): string[] {
  const { uid, sequence, waitsFor, usedBy, via } = trail;
  const left = trail.waited === true && sequence === undefined ? blockingDependents(server.graph, uid) : [];
  return [...waitsFor, ...left.filter((other) => !waitsFor.has(other))].filter((other) => {
    if (emptied.has(uid) && !usedBy.has(other) && via !== 'volume') return false;
    const ended = trails.find(other)?.sequence;
    if (sequence === undefined) return !server.removed.has(other) || ended !== undefined;
    return ended !== undefined && ended < sequence;
  });
}

function blockingDependents(graph: Graph, uid: string): string[] {
  const found: string[] = [];
  const id = graph.find(uid);
  if (id >= 0) graph.forEachBlockingDependent(id, (dependent) => void found.push(graph.uidAt(dependent)));
  return found;
}

/** The parents in the tree: its owners, otherwise the origin of its deletion. */
function ownersOf(
  {
    via,
    references,
    ref,
    judged,
    trail,
  }: Pick<Planned, 'ref' | 'judged' | 'trail'> & { readonly via: Via; readonly references: readonly string[] },
  { trails }: SimulationResult,
): string[] {
  if (via === 'request') return [];
  const owners = [...new Set(references)].filter((uid) => uid !== ref.uid && judged.has(uid));
  if (owners.length > 0) return owners;
  if (via === 'volume' || via === 'node') return [...(trail?.waitsFor ?? [])];
  if (via === 'ownerReference') return [];
  // The namespace or definition that waits for it.
  for (const each of trails.values()) if (each.waitsFor.has(ref.uid) && each.via === 'request') return [each.uid];
  return [];
}

function finalizersOf(snapshot: Snapshot, { server, trails }: SimulationResult, uid: string): PlannedFinalizer[] {
  const before = snapshot.metadataOf(snapshot.graph.find(uid));
  const names = new Set([
    ...(before.finalizers ?? []),
    ...(server.get(uid)?.metadata?.finalizers ?? []),
    ...(trails.find(uid)?.assumed ?? []),
  ]);
  return [...names].map((name) => ({ name, ...setterOf(before, name) }));
}

function planRoot(snapshot: Snapshot, { uid, policy }: SimulatedRoot): PlanRoot[] {
  const id = snapshot.graph.find(uid);
  if (id < 0) return [];
  const ref = snapshot.referenceOf(id);
  if (policy !== undefined) return [{ ref, policy, policyFrom: 'request' }];
  return [{ ref, policy: defaultPolicy(ref, snapshot.metadataOf(id).finalizers ?? []), policyFrom: 'default' }];
}

/** The policy of a DELETE without one (CAS-011): that of the object's deletion finalizers, otherwise its type's. */
function defaultPolicy({ apiVersion, resource }: PlannedObject['ref'], finalizers: readonly string[]): CascadePolicy {
  const own = finalizers.find((name) => name === FINALIZER_ORPHAN || name === FINALIZER_FOREGROUND);
  if (own !== undefined) return own === FINALIZER_ORPHAN ? 'Orphan' : 'Foreground';
  const group = parseGroupVersion(apiVersion)?.group ?? '';
  return deletionOf({ group, resource }).defaultPropagation === 'Orphan' ? 'Orphan' : 'Background';
}

/** Roots first, then in order of deletion, then objects that stay, by name. */
function inOrder(a: PlannedObject, b: PlannedObject): number {
  const rank = ({ via, sequence }: PlannedObject): number => (via === 'request' ? 0 : sequence === undefined ? 2 : 1);
  const order = rank(a) - rank(b) || (a.sequence ?? 0) - (b.sequence ?? 0);
  if (order !== 0) return order;
  const name = ({ ref }: PlannedObject): string => `${ref.namespace ?? ''}/${ref.kind}/${ref.name}`;
  return name(a) < name(b) ? -1 : 1;
}

function countBy(
  objects: readonly PlannedObject[],
  keyOf: (object: PlannedObject) => string,
): Record<string, OutcomeCounts> {
  const counts = new Map<string, Record<string, number>>();
  for (const object of objects) {
    const key = keyOf(object);
    let of = counts.get(key);
    if (of === undefined) counts.set(key, (of = {}));
    of[object.outcome] = (of[object.outcome] ?? 0) + 1;
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
