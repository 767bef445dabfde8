import type { ResourceInfo, SubresourceInfo, Verb } from '../../api/kinds/resource-info.ts';
import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import {
  newMethodNotSupported,
  newNotAcceptable,
  newNotFound,
  newPathNotFound,
  newVerbNotSupported,
  newBadRequest,
} from '../../api/status-error.ts';
import { Lru } from '../../base/collections/lru.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { Features } from '../emulation/features.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { parseIncludeObject } from './response/include-object.ts';
import { refuseMismatch } from './response/object-writer.ts';
import {
  type Negotiation,
  negotiate,
  type Representable,
  type Representation,
  wantsPretty,
} from './negotiation/negotiation.ts';
import { pageNotFound } from './response/plain-text.ts';
import type { RequestContext } from './request/request-context.ts';
import type { ResourceRequestInfo } from './request/request-info.ts';
import type { ResourceScope } from './request/resource-scope.ts';

export type Endpoint = (scope: ResourceScope) => Promise<HttpResponse>;

/** Endpoints by `<verb>` for objects and by `<subresource> <verb>`. For review kinds an entry replaces `create`. */
export interface EndpointTable {
  find(info: ResourceInfo, subresource: string, verb: Verb): Endpoint | undefined;
}

interface Addressed {
  /** Absent for the object itself. */
  readonly subresource: SubresourceInfo | undefined;
  readonly method: string;
}

/** Maximum number of cached Accept headers. Clients send few different ones. */
const REMEMBERED_ACCEPTS = 512;

/** Finds the resource of a path, negotiates the representation, and calls the verb (API-001..005, 022). */
export class ResourceHandler {
  readonly #registry: ResourceRegistry;
  readonly #endpoints: EndpointTable;
  readonly #features: Features;
  readonly #negotiations = new Lru<string, Negotiation>({ capacity: REMEMBERED_ACCEPTS });

  constructor(registry: ResourceRegistry, endpoints: EndpointTable, features: Features) {
    this.#registry = registry;
    this.#endpoints = endpoints;
    this.#features = features;
  }

  /** Rejects with a StatusError for an invalid request. */
  handle(context: RequestContext, request: ResourceRequestInfo): Promise<HttpResponse> | HttpResponse {
    const origin = this.#registry.groupOrigin(request.group);
    if (origin === undefined) return pageNotFound(this.#features);
    const resource = this.#registry.find(request.group, request.version, request.resource);
    if (resource === undefined) {
      if (origin === 'custom') return pageNotFound(this.#features);
      throw newPathNotFound();
    }
    const { info, strategy } = resource;
    if (strategy.deprecation !== undefined) context.warn(strategy.deprecation);
    const subresource = info.subresources.find((candidate) => candidate.name === request.subresource);
    // Only a proxied path may continue after the subresource.
    const surplus = request.rest.length > 0 && request.subresource !== 'proxy';
    if (surplus || (request.subresource !== '' && subresource === undefined)) {
      throw origin === 'custom' ? newNotFound(info, request.name) : newPathNotFound();
    }
    const namespace = this.#namespaceOf(resource, request);
    if (namespace === 'misplaced') {
      if (origin === 'custom') return pageNotFound(this.#features);
      throw newPathNotFound();
    }
    const endpoint = this.#endpointFor(resource, request, { subresource, method: context.request.method });
    const target = representableOf(request, info, this.#features);
    const representation = this.#represent(context, target);
    const scope = { context, request, resource, info, subresource, namespace, name: request.name, representation };
    // This comes before any write, so that a refused request changes nothing.
    refuseMismatch(scope, target.shape);
    if (representation.transform?.kind === 'Table') parseIncludeObject(context.query.get('includeObject'));
    return endpoint(scope);
  }

  /** A namespaced resource without a namespace supports only list and watch (API-001). The method determines the error. */
  #namespaceOf({ info }: ResourceStore, request: ResourceRequestInfo): string {
    if (info.namespaced) {
      if (request.namespace === '' && request.name !== '') return 'misplaced';
      return request.namespace;
    }
    if (request.namespace !== '' && !isNamespaces(info)) return 'misplaced';
    return '';
  }

  #endpointFor(resource: ResourceStore, request: ResourceRequestInfo, { subresource, method }: Addressed): Endpoint {
    const { info } = resource;
    const { verb, namespace, name } = request;
    const custom = info.typeName === undefined;
    const verbs = subresource === undefined ? info.verbs : subresource.verbs;
    // An unknown method is no verb, so the text begins with nothing.
    const named = verb === 'unknown' ? '' : verb;
    const unsupported = (): Error => (custom ? newVerbNotSupported(info, named) : newMethodNotSupported());
    // Built-in resources have no route for HEAD; definitions are served by verb, and HEAD is a get or a list.
    if (verb === 'unknown' || (method === 'HEAD' && !custom)) throw unsupported();
    // Under the deprecated prefix, every method is a watch and needs the rights of a watch (API-003), but only GET is served.
    if (verb === 'watch' && method !== 'GET' && method !== 'HEAD') throw unsupported();
    if (custom && verb === 'update' && name === '') throw newBadRequest('name must be provided');
    if (!verbs.includes(verb)) throw unsupported();
    const crossNamespace = info.namespaced && namespace === '';
    if (crossNamespace && verb !== 'list' && verb !== 'watch') {
      if (custom && verb === 'create') return async () => pageNotFound(this.#features);
      throw unsupported();
    }
    // The path of an object has a name, that of a collection has none. Only custom resources are created with a name in the path (API-005),
    // and a watch by the deprecated prefix may have one.
    const wantsName = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
    const mayHaveName = verb === 'watch' || (custom && verb === 'create');
    if (wantsName !== (name !== '') && subresource === undefined && !mayHaveName) throw unsupported();
    const endpoint = this.#endpoints.find(info, request.subresource, verb);
    if (endpoint === undefined) throw unsupported();
    return endpoint;
  }

  #represent(context: RequestContext, target: Representable): Representation {
    const accept = context.header('accept');
    const pretty = wantsPretty(context.query, context.header('user-agent'));
    const key = `${target.shape}${Number(target.custom)}${Number(target.hasMetadata)}${Number(pretty)}${accept ?? ''}`;
    let negotiation = this.#negotiations.get(key);
    if (negotiation === undefined) {
      negotiation = negotiate(accept, target, pretty);
      if (key.length < 1024) this.#negotiations.set(key, negotiation);
    }
    if (negotiation.outcome === 'notAcceptable') throw newNotAcceptable(negotiation.message);
    return negotiation.representation;
  }
}

function representableOf(
  request: ResourceRequestInfo,
  info: ResourceInfo,
  { managersDropped }: Features,
): Representable {
  const { verb } = request;
  const shape = verb === 'watch' ? 'watch' : verb === 'list' || verb === 'deletecollection' ? 'list' : 'object';
  const review = info.verbs.length === 1 && info.verbs[0] === 'create';
  return { shape, custom: info.typeName === undefined, hasMetadata: !review, managersDropped };
}
