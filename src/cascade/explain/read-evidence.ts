import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isNotFound, StatusError } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { readSightings } from '../finalizers/read-sightings.ts';
import { isTerminating, type ObservedObject } from '../observed/observed-object.ts';
import { OwnershipIndex } from '../observed/ownership-index.ts';
import { readObservation } from '../observed/read-observation.ts';
import type { ExplainEvidence, RefusedWrite } from './explain-evidence.ts';
import { allWaitedFor } from './waited-for.ts';

export interface EvidenceOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly discovery: DiscoveryResult;
}

/** Maximum number of full objects that are read, and of dry runs, for one explanation. */
const MOST_READS = 20;
const MOST_WRITES = 10;
/** Kinds whose bodies show why they stay. */
const READ_WHOLE: ReadonlySet<string> = new Set(['Namespace', 'Pod', 'PersistentVolume']);

/**
 * Reads everything that the explanation of one object needs. Changes nothing: the only writes are dry runs, which show whether the
 * server would refuse a change, and are sent for the objects that the subject waits for.
 * @param subject where the object is; its uid and version are ignored
 */
export async function readEvidence(subject: ObjectReference, options: EvidenceOptions): Promise<ExplainEvidence> {
  const { client, clock, discovery } = options;
  const observation = await readObservation({
    client,
    clock,
    discovery,
    ...(subject.namespace === undefined ? {} : { fallbackNamespace: subject.namespace }),
  });
  const index = new OwnershipIndex(observation);
  const object = index.at(subject.apiVersion, subject.kind, subject.namespace, subject.name);
  const empty = {
    index,
    bodies: new Map(),
    refusedWrites: new Map(),
    nodes: new Map(),
    convertedByWebhook: NONE,
    sightings: [],
  };
  if (object === undefined) return { ...empty, subject: { ...subject, uid: '' } };
  const chain = allWaitedFor(object, index);
  const bodies = await readBodies(chain, options);
  const claims = chain.some(({ ref, metadata }) => ref.kind === 'PersistentVolumeClaim' && isTerminating(metadata));
  const pods = claims ? await readPods(chain, options) : undefined;
  return {
    ...empty,
    subject: object.ref,
    bodies,
    refusedWrites: await tryWrites(chain, options),
    ...(pods === undefined ? {} : { pods }),
    nodes: await readNodes([...bodies.values()], options),
    convertedByWebhook: await readConversions(observation.incomplete, options),
    sightings: isTerminating(object.metadata) ? await readSightings(client, clock) : [],
  };
}

const NONE: ReadonlySet<string> = new Set();
const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };

/**
 * Lists of a kind whose conversion webhook does not answer fail with a 429 that names no webhook; the definition shows whether there is
 * one.
 */
async function readConversions(
  incomplete: readonly { readonly resource: string; readonly reason: string }[],
  { client }: EvidenceOptions,
): Promise<ReadonlySet<string>> {
  const converted = new Set<string>();
  const wanted = incomplete.filter(({ reason }) => reason === 'storage is (re)initializing').slice(0, MOST_READS);
  for (const { resource } of wanted) {
    const definition = await orUnknown(client.get({ gvr: DEFINITIONS, name: resource }));
    const { conversion } = (definition?.['spec'] ?? {}) as { conversion?: { strategy?: string } };
    if (conversion?.strategy === 'Webhook') converted.add(resource);
  }
  return converted;
}

async function readBodies(
  chain: readonly ObservedObject[],
  { client }: EvidenceOptions,
): Promise<Map<string, KubeObject>> {
  const bodies = new Map<string, KubeObject>();
  const wanted = chain.filter(({ ref }) => ref.apiVersion === 'v1' && READ_WHOLE.has(ref.kind)).slice(0, MOST_READS);
  for (const { ref } of wanted) {
    const body = await orUnknown(client.get(namedRef(ref)));
    if (body?.metadata?.uid === ref.uid) bodies.set(ref.uid, body);
  }
  return bodies;
}

async function readPods(
  chain: readonly ObservedObject[],
  { client }: EvidenceOptions,
): Promise<KubeObject[] | undefined> {
  const claims = chain.filter(({ ref }) => ref.kind === 'PersistentVolumeClaim');
  const pods: KubeObject[] = [];
  for (const namespace of new Set(claims.map(({ ref }) => ref.namespace))) {
    const list = await orUnknown(client.list({ gvr: { group: '', version: 'v1', resource: 'pods' }, namespace }));
    if (list === undefined) return undefined;
    for (const pod of list.items) pods.push(pod);
  }
  return pods;
}

async function readNodes(
  bodies: readonly KubeObject[],
  { client }: EvidenceOptions,
): Promise<Map<string, KubeObject | undefined>> {
  const nodes = new Map<string, KubeObject | undefined>();
  for (const body of bodies) {
    const { nodeName } = (body['spec'] ?? {}) as { nodeName?: string };
    if (nodeName === undefined || nodes.has(nodeName)) continue;
    try {
      const ref = { gvr: { group: '', version: 'v1', resource: 'nodes' }, name: nodeName };
      nodes.set(nodeName, await client.get(ref));
    } catch (error) {
      if (isNotFound(error)) nodes.set(nodeName, undefined);
      else if (!(error instanceof StatusError)) throw error;
    }
  }
  return nodes;
}

/** Dry runs, which store nothing. A server without them, or without our right to patch, gives no evidence. */
async function tryWrites(
  chain: readonly ObservedObject[],
  { client }: EvidenceOptions,
): Promise<Map<string, RefusedWrite>> {
  const refused = new Map<string, RefusedWrite>();
  const [subject] = chain;
  if (subject === undefined || !isTerminating(subject.metadata)) return refused;
  // The last object of the chain is read too, however long the chain is.
  const tried = chain.length <= MOST_WRITES ? chain : [...chain.slice(0, MOST_WRITES - 1), chain.at(-1)!];
  for (const { ref } of tried) {
    const body = { metadata: { uid: ref.uid, annotations: { 'kubegc.io/explain': 'dry-run' } } };
    try {
      await client.patch(namedRef(ref), { type: 'application/merge-patch+json', body }, { query: { dryRun: 'All' } });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const { code, message } = error;
      if (code === 422 || /webhook/.test(message)) refused.set(ref.uid, { code, message });
    }
  }
  return refused;
}

function namedRef({ apiVersion, resource, namespace, name }: ObjectReference): ResourceRef & { readonly name: string } {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  return { gvr: { group, version, resource }, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Undefined if the server refuses, so that the fact is unknown. */
async function orUnknown<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === 401) throw error;
    return undefined;
  }
}
