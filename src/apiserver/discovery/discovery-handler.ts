import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { formatObject } from '../endpoints/negotiation/body-format.ts';
import { JSON_TYPE, type MediaType, PROTOBUF_TYPE } from '../endpoints/negotiation/negotiation.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { GroupVersion } from '../../api/meta/group-version-kind.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { newMethodNotSupported, newNotAcceptable } from '../../api/status-error.ts';
import type { StatusError } from '../../api/status-error.ts';
import type { AggregatedVersion } from './aggregated-document.ts';
import { apiGroupDiscoveryList } from './aggregated-document.ts';
import type { ServedGroup } from './api-groups.ts';
import { servedGroups, withRemote } from './api-groups.ts';
import { type LegacyForm, negotiateDiscovery, negotiateLegacy } from './discovery-accept.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-documents.ts';
import type { PublishedDocument } from './published-document.ts';
import { documentResponse, publishDocument } from './published-document.ts';

export interface DiscoveryOptions {
  /** The served resources, core first. The order of groups is their priority. */
  readonly resources: () => readonly ResourceInfo[];
  /** Group versions of other servers, which do not answer: a new array after each change (API-606). */
  readonly remote?: () => readonly GroupVersion[];
  /** Changes whenever `resources` does; absent: a changed set is a new array. */
  readonly version?: () => number;
  /** `host:port` of this server, for the document at `/api`. */
  readonly serverAddress?: () => string;
}

/**
 * Answers `/api`, `/api/<version>`, `/apis`, `/apis/<group>` and `/apis/<group>/<version>`. Every document is encoded on first use and
 * cached until the set of resources changes, which also bounds their number.
 */
export class DiscoveryHandler {
  readonly #options: DiscoveryOptions;
  #source: unknown;
  #remote: readonly GroupVersion[] = NONE;
  #groups: readonly ServedGroup[] = [];
  readonly #documents = new Map<string, PublishedDocument>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** `path` has no query. Undefined if there is no document; the caller chooses the form of the 404. */
  handle(path: string, request: HttpRequest): Answer | undefined {
    const parts = path.split('/').slice(1);
    if (parts.at(-1) === '') parts.pop();
    const [root, ...rest] = parts;
    if ((root !== 'api' && root !== 'apis') || rest.length > (root === 'api' ? 1 : 2)) return undefined;
    this.#refresh();
    if (rest.length === 0) return this.#root(root, request);
    const build = root === 'api' ? this.#versionDocument('', rest[0]) : this.#groupDocument(rest);
    return build === undefined ? undefined : this.#answer(request, `/${parts.join('/')}`, build);
  }

  #root(root: 'api' | 'apis', request: HttpRequest): Answer {
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    const accepted = negotiateDiscovery(acceptOf(request));
    if (accepted.form === 'aggregated') return this.#aggregated(root, request, accepted.version);
    return this.#legacy(request, { path: `/${root}`, accepted }, () =>
      root === 'api'
        ? apiVersions(this.#groups, this.#options.serverAddress?.() ?? 'localhost')
        : apiGroupList(this.#groups),
    );
  }

  #aggregated(root: 'api' | 'apis', request: HttpRequest, version: AggregatedVersion): HttpResponse {
    const document = this.#document(`${version} /${root}`, () =>
      apiGroupDiscoveryList(
        this.#groups.filter(({ group }) => (group === '') === (root === 'api')),
        version,
      ),
    );
    return documentResponse(document, request, {
      // Clients recognize the document by this header, so it repeats the parameters (API-393).
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      cacheControl: 'public',
    });
  }

  #groupDocument([name, version]: readonly string[]): (() => unknown) | undefined {
    if (name === undefined || name === '') return undefined;
    if (version !== undefined) return this.#versionDocument(name, version);
    const group = this.#groups.find((candidate) => candidate.group === name);
    return group === undefined ? undefined : () => apiGroup(group);
  }

  #versionDocument(name: string, version: string | undefined): (() => unknown) | undefined {
    const served = this.#groups
      .find((candidate) => candidate.group === name)
      ?.versions.find((candidate) => candidate.version === version);
    return served === undefined ? undefined : () => apiResourceList(served);
  }

  #answer(request: HttpRequest, path: string, build: () => unknown): Answer {
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    return this.#legacy(request, { path, accepted: negotiateLegacy(acceptOf(request)) }, build);
  }

  #legacy(request: HttpRequest, { path, accepted }: LegacyPlace, build: () => unknown): Answer {
    if (accepted.form === 'notAcceptable') return statusResponse(newNotAcceptable(accepted.message));
    const { mediaType } = accepted;
    if (mediaType !== JSON_TYPE) return translated(build() as KubeObject, mediaType);
    return documentResponse(this.#document(`legacy ${path}`, build), request, { contentType: JSON_TYPE });
  }

  #document(key: string, build: () => unknown): PublishedDocument {
    let document = this.#documents.get(key);
    if (document === undefined) this.#documents.set(key, (document = publishDocument(build())));
    return document;
  }

  #refresh(): void {
    const { resources, version } = this.#options;
    const source = version === undefined ? resources() : version();
    const remote = this.#options.remote?.() ?? NONE;
    if (source === this.#source && remote === this.#remote) return;
    this.#source = source;
    this.#remote = remote;
    this.#groups = withRemote(servedGroups(resources()), remote);
    this.#documents.clear();
  }
}

const NONE: readonly GroupVersion[] = [];

type Answer = HttpResponse | Promise<HttpResponse>;

interface LegacyPlace {
  readonly path: string;
  readonly accepted: LegacyForm;
}

/** Few clients request these, so they are not cached. The documents of core have no version in JSON, but a protobuf envelope needs one. */
async function translated(document: KubeObject, mediaType: MediaType): Promise<HttpResponse> {
  const object = mediaType === PROTOBUF_TYPE ? { ...document, apiVersion: 'v1' } : document;
  const body = await formatObject(object, { mediaType, pretty: false });
  return { status: 200, headers: { vary: 'Accept', 'content-type': mediaType }, body };
}

function isRead(request: HttpRequest): boolean {
  return request.method === 'GET';
}

function acceptOf(request: HttpRequest): string | undefined {
  const header = request.headers['accept'];
  return typeof header === 'string' || header === undefined ? header : header.join(',');
}

function statusResponse(error: StatusError): HttpResponse {
  return {
    status: error.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  };
}
