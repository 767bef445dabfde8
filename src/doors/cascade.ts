/**
 * The module behind `kubegc/cascade`: which objects a deletion removes, who owns whom, why an object stays, and how a deletion is carried
 * out and taken back, as functions with plain data in and out (CAS-080).
 */
import { systemRandom } from '../base/random/random.ts';
import { messageOf } from '../base/errors/thrown.ts';
import { systemClock } from '../base/time/clock.ts';
import { awaitCascade, sentenceOf } from '../cascade/delete/await-cascade.ts';
import { deleteInWaves } from '../cascade/delete/delete-in-waves.ts';
import { planAgain } from '../cascade/delete/plan-again.ts';
import { Dies } from '../cascade/dominators/dies.ts';
import type { CascadePlan, CascadePolicy } from '../cascade/documents/cascade-plan.ts';
import type { Explanation } from '../cascade/documents/explanation.ts';
import type { GraphDocument } from '../cascade/documents/graph-document.ts';
import type { LintReport } from '../cascade/documents/lint-report.ts';
import type { ObjectReference } from '../cascade/documents/object-reference.ts';
import type { RelinkPlan } from '../cascade/documents/relink-plan.ts';
import type { ConflictPolicy, ManagedPolicy, UndoPlan } from '../cascade/documents/undo-plan.ts';
import type { UndoResult } from '../cascade/documents/undo-result.ts';
import { explain } from '../cascade/explain/explain.ts';
import { readEvidence } from '../cascade/explain/read-evidence.ts';
import { lintCluster } from '../cascade/lint/lint-cluster.ts';
import { readObservation } from '../cascade/observed/read-observation.ts';
import { previewCascade } from '../cascade/preview/preview.ts';
import { isOfAnotherCluster } from '../cascade/record/cluster-uid.ts';
import { noteUndo } from '../cascade/record/note-undo.ts';
import { recordCascade } from '../cascade/record/record-cascade.ts';
import { RecordStore } from '../cascade/record/record-store.ts';
import { planRelink as relinkPlanOf } from '../cascade/relink/plan-relink.ts';
import { type RelinkOutcome, runRelink } from '../cascade/relink/run-relink.ts';
import { findObjects } from '../cascade/snapshot/find-objects.ts';
import { readSnapshot } from '../cascade/snapshot/read-snapshot.ts';
import { ResourceCatalogue } from '../cascade/snapshot/resource-catalogue.ts';
import type { Snapshot } from '../cascade/snapshot/snapshot.ts';
import { graphDocument } from '../cascade/tree/graph-document.ts';
import { objectsIn, reach } from '../cascade/tree/reach.ts';
import { planRecordedUndo } from '../cascade/undo/plan-recorded-undo.ts';
import type { PlannedUndo } from '../cascade/undo/plan-undo.ts';
import { runUndo } from '../cascade/undo/run-undo.ts';
import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import { type DiscoveredResource, discover } from '../client/discovery/discovery.ts';
import type { RestClient } from '../client/rest/rest-client.ts';

/** An object by its name. */
export interface NamedObject {
  /** `v1`, `apps/v1` */
  readonly apiVersion: string;
  /** `Deployment` */
  readonly kind: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  /** Its `metadata.name`. */
  readonly name: string;
}

/** The options of the deletion that a preview simulates. */
export interface PreviewOptions {
  /** Default: the default of each type. */
  readonly policy?: CascadePolicy | undefined;
  /** Grace period of pods in seconds; default: each pod's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Whether foreign finalizers are removed in the end; default `removed`. */
  readonly assumeFinalizers?: 'kept' | 'removed' | undefined;
  /** True for a cluster in which a finished pod keeps no claim (`--pvc-protection-ignore-finished-pods`). Default: it does. */
  readonly ignoreFinishedPods?: boolean | undefined;
}

/** Selects a part of an object's tree. */
export interface TreeOptions {
  /** `down` (default) for its dependents, `up` for its owners. */
  readonly direction?: 'down' | 'up' | undefined;
  /** Number of levels; default: all. */
  readonly depth?: number | undefined;
}

/** The input of a lint. */
export interface LintOptions {
  /** Default: the whole cluster. */
  readonly namespace?: string | undefined;
  /** Milliseconds after which a terminating object is reported; default five minutes. */
  readonly olderThanMs?: number | undefined;
}

/** The part of a folder of records that programs use. */
export type Records = Pick<RecordStore, 'write' | 'finish' | 'noteUndo' | 'list' | 'read' | 'objects' | 'expire'>;

/** How a plan is carried out. */
export interface DeleteOptions {
  /** Written before the first DELETE. */
  readonly records: Records;
  /** The cluster as people name it, for the record. */
  readonly context?: { readonly name: string; readonly server: string };
  /** The grace period that the plan was made with. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Milliseconds of the wait; without a bound unless given. */
  readonly timeoutMs?: number;
  /** Ends the wait; the deletion goes on in the cluster. */
  readonly signal?: AbortSignal;
}

/** The end of a deletion, compared with its plan. */
export interface DeleteResult {
  /** The id of the record. */
  readonly id: string;
  /** `timedOut` and `interrupted`: the deletion goes on in the cluster. */
  readonly end: 'asPlanned' | 'different' | 'timedOut' | 'interrupted';
  /** Objects that should be gone and are not. */
  readonly remaining: readonly ObjectReference[];
  /** One sentence for each difference from the plan. */
  readonly differences: readonly string[];
}

/** The treatment of objects that a controller makes again, and of names that are taken. */
export interface UndoChoices {
  /** `rebuild`, which leaves them to the controller, unless given. */
  readonly managed?: ManagedPolicy;
  /** `fail`, which creates nothing, unless given. */
  readonly onConflict?: ConflictPolicy;
}

/** The cluster does not give the plan any more. */
export class PlanChangedError extends Error {
  /** The plan that the cluster gives now; undefined when no root exists, or a root changed while the roots were deleted. */
  readonly now: CascadePlan | undefined;
  /** The id of the record, when the first roots were deleted already; undefined when nothing was. */
  readonly record: string | undefined;

  constructor(now: CascadePlan | undefined, record: string | undefined) {
    super(
      record === undefined
        ? 'the plan changed; nothing was deleted'
        : `the plan changed; record ${record} has what was deleted`,
    );
    this.name = 'PlanChangedError';
    this.now = now;
    this.record = record;
  }
}

const FIVE_MINUTES_MS = 5 * 60_000;

/**
 * The plan of deleting these objects: which are deleted, which stay, and why. Changes nothing. Rejects with an Error if an object does not
 * exist, if its kind is not served, or if the objects wait for each other in a circle; other unreadable kinds are named in the plan's
 * `incomplete`.
 */
export async function preview(
  client: RestClient,
  objects: readonly NamedObject[],
  options: PreviewOptions = {},
): Promise<CascadePlan> {
  const { policy, gracePeriodSeconds, assumeFinalizers = 'removed', ignoreFinishedPods = false } = options;
  const { snapshot, uids } = await readObjects(client, objects);
  return previewCascade(client, snapshot, {
    roots: uids.map((uid) => ({ uid, ...(policy === undefined ? {} : { policy }) })),
    assumeFinalizers,
    ignoreFinishedPods,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  });
}

/** The dependents of an object, or its owners, with the number of objects that die with each. Rejects like {@link preview}. */
export async function tree(client: RestClient, object: NamedObject, options: TreeOptions = {}): Promise<GraphDocument> {
  const { direction = 'down', depth = Number.POSITIVE_INFINITY } = options;
  const { snapshot, uids } = await readObjects(client, [object]);
  const starts = uids.map((uid) => snapshot.graph.find(uid));
  return graphDocument(snapshot, reach(snapshot.graph, starts, { direction, depth }), new Dies(snapshot));
}

/**
 * Explains why an object is alive, or is not deleted. An object that does not exist has the state `gone`. Sends dry runs of writes, which
 * change nothing. Rejects with an Error if its kind is not served.
 */
export async function explainObject(client: RestClient, object: NamedObject): Promise<Explanation> {
  const discovery = await discover(client);
  const { resource } = resourceOf(discovery.resources, object);
  const { apiVersion, kind, namespace, name } = object;
  const subject = { apiVersion, kind, resource, ...(namespace === undefined ? {} : { namespace }), name, uid: '' };
  return explain(await readEvidence(subject, { client, clock: systemClock, discovery }));
}

/** Problems of ownership in a namespace or the cluster. */
export async function lint(client: RestClient, options: LintOptions = {}): Promise<LintReport> {
  const { namespace, olderThanMs = FIVE_MINUTES_MS } = options;
  const discovery = await discover(client);
  const scope = namespace === undefined ? {} : { namespace };
  return lintCluster(await readObservation({ client, clock: systemClock, discovery, ...scope }), { olderThanMs });
}

/** The objects of a namespace, or of the cluster, with their references and how many die with each. */
export async function graph(client: RestClient, options: { readonly namespace?: string } = {}): Promise<GraphDocument> {
  const snapshot = await readSnapshot({ client, clock: systemClock, detail: 'ages' });
  return graphDocument(snapshot, objectsIn(snapshot.graph, options.namespace), new Dies(snapshot));
}

/** The records in a folder, which is made with the first of them; the commands of kubectl cascade read the same. */
export function openRecords(folder: string): Records {
  return new RecordStore({ folder, clock: systemClock, random: systemRandom });
}

/**
 * Carries a plan out, if the cluster still gives the same digest: records every object, deletes the roots with preconditions, waits until
 * all is deleted, and compares. Rejects with a {@link PlanChangedError} when the plan does not hold any more; then nothing was deleted, or
 * only the objects in the record.
 */
export async function deletePlanned(
  client: RestClient,
  plan: CascadePlan,
  { records, context = { name: 'kubegc/cascade', server: '' }, gracePeriodSeconds, timeoutMs, signal }: DeleteOptions,
): Promise<DeleteResult> {
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  const now = await planAgain(plan, { client, clock: systemClock, ...grace });
  if (now?.digest !== plan.digest) throw new PlanChangedError(now, undefined);
  const id = await recordCascade(now, { client, records, context });
  const awaiting = {
    client,
    clock: systemClock,
    ...(timeoutMs === undefined ? {} : { deadline: systemClock.monotonic() + timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  };
  const waves = await deleteInWaves(now, awaiting, grace).catch(async (error: unknown) => {
    // The refusal counts, even if the record cannot take it any more.
    await records.finish(id, { outcome: 'failed', differences: [messageOf(error)] }).catch(() => undefined);
    throw error;
  });
  if (waves.end !== 'sent') {
    const { end, remaining } = waves;
    const differences = remaining.map(sentenceOf);
    await records.finish(id, { outcome: end, ...(differences.length === 0 ? {} : { differences }) });
    return { id, end, remaining: remaining.map(({ ref }) => ref), differences };
  }
  const changed = waves.sent.find(({ answer }) => answer === 'changed');
  if (changed !== undefined) {
    await records.finish(id, { outcome: 'failed', differences: [changed.message ?? 'it changed'] });
    const deleted = waves.sent.some(({ answer }) => answer === 'accepted');
    throw new PlanChangedError(undefined, deleted ? id : undefined);
  }
  const { end, remaining, differences } = await awaitCascade(now, awaiting);
  await records.finish(id, { outcome: end, ...(differences.length === 0 ? {} : { differences }) });
  return { id, end, remaining: remaining.map(({ ref }) => ref), differences };
}

/** How the objects of a record would come back. Changes nothing. */
export async function planUndo(
  client: RestClient,
  records: Records,
  id: string,
  options: UndoChoices = {},
): Promise<UndoPlan> {
  return (await plannedUndo(client, records, { id, options })).plan;
}

/**
 * Brings the objects of a record back, owners first, and verifies every owner reference. May be killed and called again; a second call changes
 * nothing. Rejects with an Error when names are taken and `onConflict` is not `skip`; then nothing was created.
 */
export async function undo(
  client: RestClient,
  records: Records,
  id: string,
  options: UndoChoices = {},
): Promise<UndoResult> {
  const planned = await plannedUndo(client, records, { id, options });
  return noteUndo(records, await runUndo(planned, { client, clock: systemClock }));
}

async function plannedUndo(
  client: RestClient,
  records: Records,
  { id, options }: { readonly id: string; readonly options: UndoChoices },
): Promise<PlannedUndo> {
  const record = await records.read(id);
  if (await isOfAnotherCluster(record, client)) throw new Error(`record ${record.id} is of another cluster`);
  const { managed = 'rebuild', onConflict = 'fail' } = options;
  const discovery = await discover(client);
  const choices = { id: record.id, managed, onConflict };
  return planRecordedUndo(await records.objects(record.id), choices, { client, clock: systemClock, discovery });
}

/** Owner references whose uid is stale and whose name resolves, as after a restore from a backup. Changes nothing. */
export async function planRelink(
  client: RestClient,
  options: { readonly namespace?: string } = {},
): Promise<RelinkPlan> {
  const discovery = await discover(client);
  const { namespace } = options;
  const scope = namespace === undefined ? {} : { namespace };
  return relinkPlanOf(await readObservation({ client, clock: systemClock, discovery, ...scope }));
}

/** Patches the references of the plan, each object at the resourceVersion that the plan saw; resolves with the result of each. */
export function relink(client: RestClient, plan: RelinkPlan): Promise<RelinkOutcome[]> {
  return runRelink(client, plan);
}

async function readObjects(
  client: RestClient,
  objects: readonly NamedObject[],
): Promise<{ readonly snapshot: Snapshot; readonly uids: readonly string[] }> {
  const catalogue = new ResourceCatalogue(await discover(client));
  const queries = objects.map((object) => ({
    resource: resourceOf(catalogue.discovery.resources, object),
    ...(object.namespace === undefined ? {} : { namespace: object.namespace }),
    name: object.name,
  }));
  const snapshot = await readSnapshot({ client, clock: systemClock, catalogue, detail: 'ages' });
  const found = await findObjects(client, snapshot, queries);
  const missing = objects.find((_, i) => found[i]!.length === 0);
  if (missing === undefined) return { snapshot, uids: [...new Set(found.flat())] };
  const unread = snapshot.incomplete.find(
    ({ resource }) => resource === plural(resourceOf(catalogue.discovery.resources, missing)),
  );
  throw new Error(
    unread === undefined
      ? `${missing.kind} "${nameOf(missing)}" does not exist`
      : `cannot find out whether ${missing.kind} "${nameOf(missing)}" exists: ${unread.reason}`,
  );
}

function resourceOf(resources: readonly DiscoveredResource[], { apiVersion, kind }: NamedObject): DiscoveredResource {
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (found === undefined) throw new Error(`the server does not serve ${kind} in ${apiVersion}`);
  return found;
}

const nameOf = ({ namespace, name }: NamedObject): string => (namespace === undefined ? name : `${namespace}/${name}`);

const plural = ({ group, resource }: DiscoveredResource): string => (group === '' ? resource : `${resource}.${group}`);

export { guardVerdict } from '../cascade/guard/guard-verdict.ts';
export type { DeletedCounts, GuardAnswer, GuardPolicy, GuardSituation } from '../cascade/guard/guard-verdict.ts';
export type { GuardBudget } from '../cascade/guard/budget.ts';
export type { GuardReason } from '../cascade/guard/judge.ts';
export type { GuardRequest } from '../cascade/guard/guard-request.ts';
export type { ServedKind } from '../cascade/snapshot/snapshot-of-objects.ts';
export { lintManifests } from '../cascade/lint/lint-manifests.ts';
export type { ManifestKind, ManifestOptions } from '../cascade/lint/lint-manifests.ts';
export type { KubeObject } from '../api/meta/object-meta.ts';
export type { CascadePlan, CascadePolicy } from '../cascade/documents/cascade-plan.ts';
export type { Explanation } from '../cascade/documents/explanation.ts';
export type { GraphDocument } from '../cascade/documents/graph-document.ts';
export type { LintReport } from '../cascade/documents/lint-report.ts';
export type { CascadeRecord } from '../cascade/documents/cascade-record.ts';
export type { ObjectReference } from '../cascade/documents/object-reference.ts';
export type { RelinkPlan } from '../cascade/documents/relink-plan.ts';
export type { UndoPlan } from '../cascade/documents/undo-plan.ts';
export type { UndoResult } from '../cascade/documents/undo-result.ts';
export type { RelinkOutcome } from '../cascade/relink/run-relink.ts';
