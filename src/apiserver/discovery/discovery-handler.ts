import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { newMethodNotSupported, newNotAcceptable } from '../../api/status-error.ts';
import type { StatusError } from '../../api/status-error.ts';
import type { AggregatedVersion } from './aggregated-document.ts';
import { apiGroupDiscoveryList } from './aggregated-document.ts';
import type { ServedGroup } from './api-groups.ts';
import { servedGroups } from './api-groups.ts';
import { negotiateDiscovery } from './discovery-accept.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-documents.ts';
import type { PublishedDocument } from './published-document.ts';
import { documentResponse, publishDocument } from './published-document.ts';

export interface DiscoveryOptions {
  /** What is served now, core first; the order of groups is their priority. */
  readonly resources: () => readonly ResourceInfo[];
  /** Changes whenever `resources` does; absent: a changed set is a new array. */
  readonly version?: () => number;
  /** `host:port` for the document at `/api`. */
  readonly serverAddress?: () => string;
}

/**
 * Answers `/api`, `/api/<version>`, `/apis`, `/apis/<group>` and `/apis/<group>/<version>`.
 *
 * Every document is encoded when first asked for and kept until the set of resources changes; their number is bounded by
 * that set.
 */
export class DiscoveryHandler {
  readonly #options: DiscoveryOptions;
  #source: unknown;
  #groups: readonly ServedGroup[] = [];
  readonly #documents = new Map<string, PublishedDocument>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** `path` is without query. Undefined when no document stands there: what kind of 404 that is, the caller knows. */
  handle(path: string, request: HttpRequest): HttpResponse | undefined {
    const parts = path.split('/').slice(1);
    if (parts.at(-1) === '') parts.pop();
    const [root, ...rest] = parts;
    if ((root !== 'api' && root !== 'apis') || rest.length > (root === 'api' ? 1 : 2)) return undefined;
    this.#refresh();
    if (rest.length === 0) return this.#root(root, request);
    const build = root === 'api' ? this.#versionDocument('', rest[0]) : this.#groupDocument(rest);
    return build === undefined ? undefined : this.#answer(request, `/${parts.join('/')}`, build);
  }

  #root(root: 'api' | 'apis', request: HttpRequest): HttpResponse {
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    const accepted = negotiateDiscovery(acceptOf(request), 'root');
    switch (accepted.form) {
      case 'aggregated':
        return this.#aggregated(root, request, accepted.version);
      case 'legacy':
        return this.#legacy(request, `/${root}`, () =>
          root === 'api'
            ? apiVersions(this.#groups, this.#options.serverAddress?.() ?? 'localhost')
            : apiGroupList(this.#groups),
        );
      case 'notAcceptable':
        return statusResponse(newNotAcceptable(NOT_ACCEPTABLE));
    }
  }

  #aggregated(root: 'api' | 'apis', request: HttpRequest, version: AggregatedVersion): HttpResponse {
    const document = this.#document(`${version} /${root}`, () =>
      apiGroupDiscoveryList(
        this.#groups.filter(({ group }) => (group === '') === (root === 'api')),
        version,
      ),
    );
    return documentResponse(document, request, {
      // Clients decide by this header what they got, so it repeats the parameters (API-393).
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

  #answer(request: HttpRequest, path: string, build: () => unknown): HttpResponse {
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    if (negotiateDiscovery(acceptOf(request), 'group').form === 'notAcceptable') {
      return statusResponse(newNotAcceptable(NOT_ACCEPTABLE));
    }
    return this.#legacy(request, path, build);
  }

  #legacy(request: HttpRequest, path: string, build: () => unknown): HttpResponse {
    return documentResponse(this.#document(`legacy ${path}`, build), request, { contentType: 'application/json' });
  }

  #document(key: string, build: () => unknown): PublishedDocument {
    let document = this.#documents.get(key);
    if (document === undefined) this.#documents.set(key, (document = publishDocument(build())));
    return document;
  }

  #refresh(): void {
    const { resources, version } = this.#options;
    const source = version === undefined ? resources() : version();
    if (source === this.#source) return;
    this.#source = source;
    this.#groups = servedGroups(resources());
    this.#documents.clear();
  }
}

const NOT_ACCEPTABLE = 'only the following media types are accepted: application/json';

function isRead(request: HttpRequest): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
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
