/** The module behind `kubegc/cascade`: what a deletion takes with it, who owns whom, and why an object stays, as plain data. It only reads. */
import { systemClock } from '../base/time/clock.ts';
import { Dies } from '../cascade/dominators/dies.ts';
import type { CascadePlan, CascadePolicy } from '../cascade/documents/cascade-plan.ts';
import type { Explanation } from '../cascade/documents/explanation.ts';
import type { GraphDocument } from '../cascade/documents/graph-document.ts';
import type { LintReport } from '../cascade/documents/lint-report.ts';
import { explain } from '../cascade/explain/explain.ts';
import { readEvidence } from '../cascade/explain/read-evidence.ts';
import { lintCluster } from '../cascade/lint/lint-cluster.ts';
import { readObservation } from '../cascade/observed/read-observation.ts';
import { previewCascade } from '../cascade/preview/preview.ts';
import { findObjects } from '../cascade/snapshot/find-objects.ts';
import { readSnapshot } from '../cascade/snapshot/read-snapshot.ts';
import { ResourceCatalogue } from '../cascade/snapshot/resource-catalogue.ts';
import type { Snapshot } from '../cascade/snapshot/snapshot.ts';
import { graphDocument } from '../cascade/tree/graph-document.ts';
import { reach } from '../cascade/tree/reach.ts';
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

/** How the objects of a preview would be deleted. */
export interface PreviewOptions {
  /** The default of each type unless given. */
  readonly policy?: CascadePolicy | undefined;
  /** Seconds that pods get; unless given, each its own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Whether the owners of foreign finalizers remove them in the end: `removed` unless given. */
  readonly assumeFinalizers?: 'kept' | 'removed' | undefined;
}

/** Which part of the tree of an object. */
export interface TreeOptions {
  /** `down` to its dependents unless given; `up` to its owners. */
  readonly direction?: 'down' | 'up' | undefined;
  /** Levels; all unless given. */
  readonly depth?: number | undefined;
}

/** The input of a lint. */
export interface LintOptions {
  /** The whole cluster unless given. */
  readonly namespace?: string | undefined;
  /** Milliseconds; objects that have been terminating longer are reported. Five minutes unless given. */
  readonly olderThanMs?: number | undefined;
}

const FIVE_MINUTES_MS = 5 * 60_000;

/**
 * The plan of a deletion of these objects: what goes, what stays, and why. Changes nothing. Rejects with an Error when an object does not
 * exist or its kind is not served; what could not be read otherwise is named in the plan's `incomplete`.
 */
export async function preview(
  client: RestClient,
  objects: readonly NamedObject[],
  options: PreviewOptions = {},
): Promise<CascadePlan> {
  const { policy, gracePeriodSeconds, assumeFinalizers = 'removed' } = options;
  const { snapshot, uids } = await readObjects(client, objects);
  return previewCascade(client, snapshot, {
    roots: uids.map((uid) => ({ uid, ...(policy === undefined ? {} : { policy }) })),
    assumeFinalizers,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  });
}

/** The dependents of an object, or its owners, with how many objects die with each. Rejects as {@link preview} does. */
export async function tree(client: RestClient, object: NamedObject, options: TreeOptions = {}): Promise<GraphDocument> {
  const { direction = 'down', depth = Number.POSITIVE_INFINITY } = options;
  const { snapshot, uids } = await readObjects(client, [object]);
  const starts = uids.map((uid) => snapshot.graph.find(uid));
  return graphDocument(snapshot, reach(snapshot.graph, starts, { direction, depth }), new Dies(snapshot));
}

/**
 * Why an object is alive, or does not go away. An object that does not exist has the state `gone`. Sends dry runs of writes, which change
 * nothing. Rejects with an Error when its kind is not served.
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

export type { CascadePlan, CascadePolicy } from '../cascade/documents/cascade-plan.ts';
export type { Explanation } from '../cascade/documents/explanation.ts';
export type { GraphDocument } from '../cascade/documents/graph-document.ts';
export type { LintReport } from '../cascade/documents/lint-report.ts';
