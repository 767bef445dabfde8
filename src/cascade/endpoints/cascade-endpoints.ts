import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import {
  newBadRequest,
  newForbidden,
  newMethodNotSupported,
  newNotFound,
  newPathNotFound,
  newUntypedInternal,
} from '../../api/status-error.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Clock } from '../../base/time/clock.ts';
import { discover, type DiscoveredResource, type DiscoveryResult } from '../../client/discovery/discovery.ts';
import { TransportError } from '../../client/http/transport.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import type { IncompleteResource } from '../documents/document.ts';
import type { Explanation } from '../documents/explanation.ts';
import type { GraphDocument } from '../documents/graph-document.ts';
import type { LintReport } from '../documents/lint-report.ts';
import { Dies } from '../dominators/dies.ts';
import { explain } from '../explain/explain.ts';
import { readEvidence } from '../explain/read-evidence.ts';
import { lintCluster } from '../lint/lint-cluster.ts';
import { READ_IN_ONE, readObservation } from '../observed/read-observation.ts';
import { OrderCircleError } from '../preview/order-plan.ts';
import { previewCascade } from '../preview/preview.ts';
import type { RecordStore } from '../record/record-store.ts';
import { dotPieces, mermaidPieces } from '../report/drawing.ts';
import { graphDrawing, graphText } from '../report/graph-text.ts';
import { PLAIN } from '../report/style.ts';
import { unreadWarning } from '../report/unread-warning.ts';
import { findObjects, type ObjectQuery } from '../snapshot/find-objects.ts';
import { findResources } from '../snapshot/find-resource.ts';
import { readSnapshot } from '../snapshot/read-snapshot.ts';
import { ResourceCatalogue, resourceName } from '../snapshot/resource-catalogue.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { warmSnapshot } from '../snapshot/warm-snapshot.ts';
import { graphDocument } from '../tree/graph-document.ts';
import { objectsIn, reach, treeTops } from '../tree/reach.ts';
import { CASCADE_PATH } from './cascade-path.ts';
import { jsonBody, textBody } from './json-body.ts';
import { hasRight } from './object-rights.ts';
import { Parameters, type TypedName } from './parameters.ts';
import { listRecords, readRecord, undoRecord } from './record-endpoints.ts';

/** The user who sent a request, as the API server knows it. */
export interface Requester {
  /** Name of the user. */
  readonly username: string;
  /** Groups of the user. */
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The part of the collector that the endpoints use. */
export interface WarmGraph {
  /** Undefined while it is not up to date. */
  readonly currentGraph: OwnershipGraph | undefined;
  /** Whether the graph has all objects of a kind. */
  follows(apiVersion: string, kind: string): boolean;
}

export interface CascadeEndpointsOptions {
  /** A client of the API server in this process whose requests are those of the user. */
  readonly clientOf: (user: Requester) => RestClient;
  readonly clock: Clock;
  /** Undefined: no collector runs here now. */
  readonly warmGraph: () => WarmGraph | undefined;
  /** Undefined: this server keeps no records. */
  readonly records?: RecordStore;
  /** True if the controllers of this server let finished pods keep no claim; the default of previews. */
  readonly ignoreFinishedPods?: boolean;
}

/** An answer that is no document. */
interface TextAnswer {
  readonly text: Iterable<string>;
}

interface Call {
  readonly request: HttpRequest;
  /** Its requests are aborted when the caller goes away. */
  readonly client: RestClient;
  readonly query: URLSearchParams;
}

interface GraphScope {
  readonly objects: readonly TypedName[];
  readonly namespace: string | undefined;
  readonly tops: boolean;
}

interface GraphStarts {
  readonly snapshot: Snapshot;
  readonly starts: readonly NodeId[];
  readonly reaches: boolean;
}

const SCOPE = ['object', 'namespace'] as const;
const MOST_SECONDS = 2 ** 31;
const FIVE_MINUTES_S = 300;

/**
 * The cascade commands for programs, over HTTP (CAS-081): the same documents as `-o json` prints. Each request reads and writes with the rights of
 * its user: a kind that the user may not list is in `incomplete`. A user who may list everything is answered from the collector's graph, without a list.
 */
export class CascadeEndpoints {
  readonly #options: CascadeEndpointsOptions;

  constructor(options: CascadeEndpointsOptions) {
    this.#options = options;
  }

  /** Answers a request below {@link CASCADE_PATH}. Rejects with a StatusError if it cannot be answered. */
  async handle(request: HttpRequest, user: Requester): Promise<HttpResponse> {
    const [path = '', search = ''] = request.target.split('?', 2);
    const page = decodeURIComponent(path.slice(CASCADE_PATH.length));
    const [before = '', name = '', id, ...rest] = page.split('/');
    if (before !== '' || rest.length > 0 || (id !== undefined && name !== 'log' && !(name === '' && id === '')))
      throw newPathNotFound();
    const client = this.#options.clientOf(user).abortedBy(request.signal);
    const call = { request, client, query: new URLSearchParams(search) };
    const document = this.#answerTo(name, id);
    if (document === undefined) throw newPathNotFound();
    if (request.method !== document.method) throw newMethodNotSupported();
    try {
      const answer = await document.answer(call);
      return 'text' in answer
        ? { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: textBody(answer.text) }
        : { status: 200, headers: { 'content-type': 'application/json' }, body: jsonBody(answer) };
    } catch (error) {
      // The server in this process did not answer one of our requests.
      if (error instanceof TransportError) throw newUntypedInternal(messageOf(error));
      if (error instanceof OrderCircleError) throw newBadRequest(error.message);
      throw error;
    }
  }

  #answerTo(
    name: string,
    id: string | undefined,
  ): { readonly method: 'GET' | 'POST'; readonly answer: (call: Call) => Promise<object | TextAnswer> } | undefined {
    const records = ({ client, request }: Call) => ({
      client,
      request,
      clock: this.#options.clock,
      records: this.#options.records,
    });
    switch (name) {
      case '':
        return { method: 'GET', answer: () => Promise.resolve(INDEX) };
      case 'preview':
        return { method: 'GET', answer: (call) => this.#preview(call) };
      case 'graph':
        return { method: 'GET', answer: (call) => this.#graph(call) };
      case 'explain':
        return { method: 'GET', answer: (call) => this.#explain(call) };
      case 'lint':
        return { method: 'GET', answer: (call) => this.#lint(call) };
      case 'log':
        return id === undefined || id === ''
          ? { method: 'GET', answer: (call) => listRecords(records(call)) }
          : { method: 'GET', answer: (call) => readRecord(id, records(call)) };
      case 'undo':
        return { method: 'POST', answer: (call) => undoRecord(records(call)) };
      default:
        return undefined;
    }
  }

  async #preview({ client, query }: Call): Promise<CascadePlan> {
    const parameters = new Parameters(query, [
      ...SCOPE,
      'cascade',
      'gracePeriodSeconds',
      'assumeFinalizers',
      'ignoreFinishedPods',
    ]);
    const policy = parameters.policy();
    const gracePeriodSeconds = parameters.wholeNumber('gracePeriodSeconds', { least: 0, most: MOST_SECONDS });
    const assumeFinalizers = parameters.oneOf('assumeFinalizers', ['removed', 'kept'], 'removed');
    const own = this.#options.ignoreFinishedPods === true ? 'true' : 'false';
    const ignoreFinishedPods = parameters.oneOf('ignoreFinishedPods', ['false', 'true'], own) === 'true';
    const objects = parameters.objects();
    if (objects.length === 0) throw newBadRequest('give object=TYPE/NAME, for example object=deployments.apps/web');
    const { snapshot, uids } = await this.#named(client, objects, parameters.text('namespace'));
    return previewCascade(client, snapshot, {
      roots: uids.map((uid) => ({ uid, ...(policy === undefined ? {} : { policy }) })),
      assumeFinalizers,
      ignoreFinishedPods,
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    });
  }

  async #graph({ client, query }: Call): Promise<GraphDocument | TextAnswer> {
    const parameters = new Parameters(query, [...SCOPE, 'direction', 'depth', 'tops', 'output', 'all']);
    const direction = parameters.oneOf('direction', ['down', 'up'], 'down');
    const depth = parameters.wholeNumber('depth', { least: 1, most: 1e9 }) ?? Number.POSITIVE_INFINITY;
    const tops = parameters.oneOf('tops', ['false', 'true'], 'false') === 'true';
    const output = parameters.oneOf('output', ['json', 'tree', 'dot', 'mermaid'], 'json');
    const all = parameters.oneOf('all', ['false', 'true'], 'false') === 'true';
    const namespace = parameters.text('namespace');
    const objects = parameters.objects();
    const { snapshot, starts, reaches } = await this.#starts(client, { objects, namespace, tops });
    const { graph } = snapshot;
    const ids = reaches ? reach(graph, starts, { direction, depth }) : starts;
    const document = graphDocument(snapshot, ids, new Dies(snapshot));
    const { incomplete } = snapshot;
    switch (output) {
      case 'json':
        return document;
      case 'dot':
        return { text: withWarnings(dotPieces(graphDrawing(document)), { incomplete, comment: '// ' }) };
      case 'mermaid':
        return { text: withWarnings(mermaidPieces(graphDrawing(document)), { incomplete, comment: '%% ' }) };
      case 'tree': {
        const at = reaches ? { tops: starts.map((id) => graph.uidAt(id)) } : {};
        const now = this.#options.clock.now();
        const home = namespace ?? (objects.length > 0 ? 'default' : undefined);
        const tree = graphText(document, { style: PLAIN, all, direction, now, home, ...at });
        return { text: withWarnings([tree], { incomplete, comment: '' }) };
      }
    }
  }

  /** Where a graph begins, and whether it has what these objects lead to. */
  async #starts(client: RestClient, { objects, namespace, tops }: GraphScope): Promise<GraphStarts> {
    if (objects.length > 0) {
      const { snapshot, uids } = await this.#named(client, objects, namespace);
      return { snapshot, starts: uids.map((uid) => snapshot.graph.find(uid)), reaches: true };
    }
    const catalogue = new ResourceCatalogue(await discover(client));
    const snapshot = await this.#read(client, catalogue, namespace === undefined ? [] : [namespace]);
    const { graph } = snapshot;
    return { snapshot, starts: tops ? treeTops(graph, namespace) : objectsIn(graph, namespace), reaches: tops };
  }

  async #explain({ client, query }: Call): Promise<Explanation> {
    const parameters = new Parameters(query, SCOPE);
    const [object, ...others] = parameters.objects();
    if (object === undefined || others.length > 0)
      throw newBadRequest('explain is about one object; give object=TYPE/NAME');
    const discovery = await discover(client);
    const resource = resourceOf(discovery, object.type);
    const { name } = object;
    const namespace = namespaceOf(resource, parameters.text('namespace'));
    const subject = { apiVersion: apiVersionOf(resource), kind: resource.kind, resource: resource.resource, name };
    const explanation = explain(
      await readEvidence(
        { ...subject, ...(namespace === undefined ? {} : { namespace }), uid: '' },
        { client, clock: this.#options.clock, discovery },
      ),
    );
    if (explanation.state !== 'gone') return explanation;
    const unread = explanation.incomplete?.find((each) => each.resource === resourceName(resource));
    if (unread === undefined || unread.reason.startsWith(READ_IN_ONE)) throw newNotFound(resource, name);
    throw newForbidden(resource, name, unread.reason);
  }

  async #lint({ client, query }: Call): Promise<LintReport> {
    const parameters = new Parameters(query, ['namespace', 'olderThanSeconds']);
    const seconds = parameters.wholeNumber('olderThanSeconds', { least: 0, most: MOST_SECONDS }) ?? FIVE_MINUTES_S;
    const namespace = parameters.text('namespace');
    const observation = await readObservation({
      client,
      clock: this.#options.clock,
      discovery: await discover(client),
      ...(namespace === undefined ? {} : { namespace }),
    });
    return lintCluster(observation, { olderThanMs: seconds * 1000 });
  }

  /** Finds the objects, all of which must exist. */
  async #named(
    client: RestClient,
    objects: readonly TypedName[],
    namespace: string | undefined,
  ): Promise<{ readonly snapshot: Snapshot; readonly uids: readonly string[] }> {
    const catalogue = new ResourceCatalogue(await discover(client));
    const queries = objects.map(({ type, name }): ObjectQuery & { readonly name: string } => {
      const resource = resourceOf(catalogue.discovery, type);
      if (
        !catalogue.deletable.some(
          ({ group, resource: plural }) => group === resource.group && plural === resource.resource,
        )
      )
        throw newBadRequest(`${resourceName(resource)} cannot be listed and deleted, so nothing is known of a cascade`);
      const within = namespaceOf(resource, namespace);
      return { resource, name, ...(within === undefined ? {} : { namespace: within }) };
    });
    const snapshot = await this.#read(client, catalogue, [...new Set(queries.flatMap((each) => each.namespace ?? []))]);
    const found = await findObjects(client, snapshot, queries);
    const missing = queries.find((_, i) => found[i]!.length === 0);
    if (missing === undefined) return { snapshot, uids: [...new Set(found.flat())] };
    const { resource, name } = missing;
    const unread = snapshot.incomplete.find((each) => each.resource === resourceName(resource));
    if (unread !== undefined && snapshot.isIncomplete(resource)) throw newForbidden(resource, name, unread.reason);
    throw newNotFound(resource, name);
  }

  /** From the collector's graph for a user who may list everything, else from lists with the user's rights. */
  async #read(client: RestClient, catalogue: ResourceCatalogue, namespaces: readonly string[]): Promise<Snapshot> {
    const { clock, warmGraph } = this.#options;
    const warm = warmGraph();
    if (warm !== undefined && (await hasRight(client, { verb: 'list', group: '*', resource: '*' }))) {
      // The watches of this process deliver earlier writes within this turn.
      await new Promise<void>((turn) => clock.defer(turn));
      const graph = warm.currentGraph;
      const isComplete = catalogue.deletable.every((each) => warm.follows(apiVersionOf(each), each.kind));
      if (graph !== undefined && isComplete && catalogue.discovery.failedGroupVersions.size === 0)
        return await warmSnapshot({ client, catalogue, graph, now: clock.now() });
    }
    return await readSnapshot({ client, clock, catalogue, detail: 'ages', namespaces });
  }
}

const INDEX = {
  paths: ['explain', 'graph', 'lint', 'log', 'preview', 'undo'].map((name) => `${CASCADE_PATH}/${name}`),
};

/** A text, and a line for each kind that could not be read, after the sign of a comment in its language. */
function* withWarnings(
  text: Iterable<string>,
  { incomplete, comment }: { readonly incomplete: readonly IncompleteResource[]; readonly comment: string },
): Generator<string> {
  yield* text;
  for (const { resource, reason } of incomplete) {
    yield `${comment}${unreadWarning(resource, reason.replaceAll(/\s+/g, ' '))}`;
  }
}

function resourceOf(discovery: DiscoveryResult, type: string): DiscoveredResource {
  const [found] = findResources(discovery, type);
  if (found !== undefined) return found;
  throw newBadRequest(`the server doesn't have a resource type ${JSON.stringify(type)}`);
}

/** `default` unless given, as kubectl has it; none for cluster-scoped kinds. */
const namespaceOf = ({ namespaced }: DiscoveredResource, namespace = 'default'): string | undefined =>
  namespaced ? namespace : undefined;
