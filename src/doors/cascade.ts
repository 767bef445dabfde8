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
  /** Default: the default of each type. */
  readonly policy?: CascadePolicy | undefined;
  /** Grace period of pods in seconds; default: each pod's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Whether foreign finalizers are removed in the end; default `removed`. */
  readonly assumeFinalizers?: 'kept' | 'removed' | undefined;
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

const FIVE_MINUTES_MS = 5 * 60_000;

/**
 * The plan of deleting these objects: which are deleted, which stay, and why. Changes nothing. Rejects with an Error if an object does not
 * exist or its kind is not served; other unreadable kinds are named in the plan's `incomplete`.
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
