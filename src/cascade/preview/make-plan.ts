import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { deletionOf } from '../../api/kinds/resource-rules.ts';
import {
  FINALIZER_FOREGROUND,
  FINALIZER_ORPHAN,
  type ObjectMeta,
  type OwnerReference,
} from '../../api/meta/object-meta.ts';
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
import { digestLine, digestOf } from './digest.ts';
import { Judge, type Judgement } from './judgement.ts';
import { resourceGroup } from './object-name.ts';

/** Converts a finished simulation to a plan (CAS-090). Pure. */
export function makePlan(snapshot: Snapshot, request: SimulationRequest, result: SimulationResult): CascadePlan {
  const judge = new Judge(snapshot, result);
  const planned: PlannedObject[] = [];
  const lines: string[] = [];
  const judged = judgements(judge, result);
  for (const [uid, judgement] of judged) {
    const id = snapshot.graph.find(uid);
    if (id < 0) continue;
    const trail = result.trails.find(uid);
    const node = snapshot.graph.at(id);
    const metadata = snapshot.metadataOf(id, node);
    const ref = snapshot.referenceOf(id, node.identity);
    const references = metadata.ownerReferences ?? [];
    planned.push(plannedObject({ ref, judgement, trail, judged, result, metadata }));
    lines.push(
      digestLine({
        uid,
        resourceVersion: ref.resourceVersion ?? metadata.resourceVersion,
        references,
        finalizers: metadata.finalizers ?? [],
        outcome: judgement.outcome,
      }),
    );
  }
  const objects = inOrder(planned);
  const roots = request.roots.flatMap((root) => planRoot(snapshot, root));
  const policies = new Set(roots.map(({ policy }) => policy));
  const [policy] = policies;
  return {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'CascadePlan',
    digest: digestOf(roots, request.assumeFinalizers, lines),
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
  for (const trail of trails.values()) {
    const judgement = judge.ofTrail(trail);
    if (judgement !== undefined) judged.set(trail.uid, judgement);
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
  /** Before the cascade. */
  readonly metadata: ObjectMeta;
}

/** Its fields are set one by one, because a cascade may have a million objects. */
function plannedObject({ ref, judgement, trail, judged, result, metadata }: Planned): PlannedObject {
  const via: Via = trail?.via ?? 'namespace';
  const waitsFor = trail === undefined ? [] : waitedFor(trail, result);
  const finalizers = finalizersOf(metadata, ref.uid, { trail, result });
  const owners = ownersOf({ via, references: metadata.ownerReferences ?? [], ref, judged, trail }, result);
  const planned: Partial<Writable<PlannedObject>> = { ref, ...judgement };
  if (trail?.sequence !== undefined) planned.sequence = trail.sequence;
  if (waitsFor.length > 0) planned.waitsFor = waitsFor;
  if (trail !== undefined && trail.loses.size > 0) planned.losesReferences = [...trail.loses];
  if (finalizers.length > 0) planned.finalizers = finalizers;
  if (owners.length > 0) planned.owners = owners;
  planned.via = via;
  if (trail?.graceSeconds !== undefined) planned.graceSeconds = trail.graceSeconds;
  return planned as PlannedObject;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

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
  }: Pick<Planned, 'ref' | 'judged' | 'trail'> & { readonly via: Via; readonly references: readonly OwnerReference[] },
  { trails }: SimulationResult,
): string[] {
  if (via === 'request') return [];
  const owners = new Set<string>();
  for (const { uid } of references) {
    // The text is the trail's, which all dependents share.
    if (uid !== ref.uid && judged.has(uid)) owners.add(trails.find(uid)?.uid ?? uid);
  }
  if (owners.size > 0) return [...owners];
  if (via === 'volume' || via === 'node') return [...(trail?.waitsFor ?? [])];
  if (via === 'ownerReference') return [];
  // The namespace or definition that waits for it.
  for (const each of trails.values()) if (each.waitsFor.has(ref.uid) && each.via === 'request') return [each.uid];
  return [];
}

function finalizersOf(
  before: ObjectMeta,
  uid: string,
  { trail, result }: Pick<Planned, 'trail' | 'result'>,
): readonly PlannedFinalizer[] {
  const own = before.finalizers ?? [];
  const now = result.server.written.get(uid)?.metadata?.finalizers ?? [];
  const assumed = trail?.assumed;
  if (own.length === 0 && now.length === 0 && (assumed === undefined || assumed.size === 0)) return [];
  return [...new Set([...own, ...now, ...(assumed ?? [])])].map((name) => ({ name, ...setterOf(before, name) }));
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
function inOrder(objects: readonly PlannedObject[]): PlannedObject[] {
  const roots: PlannedObject[] = [];
  const deleted: PlannedObject[] = [];
  const staying: PlannedObject[] = [];
  for (const object of objects) {
    const { via, sequence } = object;
    if (via === 'request') roots.push(object);
    else if (sequence === undefined) staying.push(object);
    else deleted.push(object);
  }
  const name = ({ ref }: PlannedObject): string => `${ref.namespace ?? ''}/${ref.kind}/${ref.name}`;
  const byName = (a: PlannedObject, b: PlannedObject): number => (name(a) < name(b) ? -1 : 1);
  const bySequence = (a: PlannedObject, b: PlannedObject): number => (a.sequence ?? 0) - (b.sequence ?? 0);
  roots.sort((a, b) => bySequence(a, b) || byName(a, b));
  deleted.sort(bySequence);
  staying.sort(byName);
  return [...roots, ...deleted, ...staying];
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
