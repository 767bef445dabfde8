import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { StatusError } from '../../api/status-error.ts';
import { newMethodNotSupported, newNotAcceptable } from '../../api/status-error.ts';
import type { ServedVersion } from '../discovery/api-groups.ts';
import { servedGroups } from '../discovery/api-groups.ts';
import type { PublishedDocument } from '../discovery/published-document.ts';
import { documentResponse, publishDocument } from '../discovery/published-document.ts';
import { parseAccept } from '../endpoints/negotiation/negotiation.ts';
import type { CustomSchemaOf, GroupVersionDocument } from './group-version-document.ts';
import { groupVersionDocument } from './group-version-document.ts';
import { OpenApiV2, PROTOBUF_TYPE } from './openapi-v2.ts';

export interface OpenApiOptions {
  readonly resources: () => readonly ResourceInfo[];
  /** Changes whenever `resources` or a custom schema does. If absent, a changed set is a new array. */
  readonly version?: () => number;
  /** Schemas of custom resources. If absent, they accept everything. */
  readonly customSchema?: CustomSchemaOf;
  /** For the Expires header of immutable documents. If absent, there is no such header. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Serves `/openapi/v3` and `/openapi/v3/<group version>` (API-410, API-411). A document is built on first use and kept as bytes. Its hash
 * is computed from its input, so the index, which contains the hashes of all documents, does not have to build them. `/openapi/v2` is built
 * from all of them (API-418).
 */
export class OpenApiHandler {
  readonly #options: OpenApiOptions;
  #source: unknown;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #index: PublishedDocument | undefined;
  #v2: OpenApiV2 | undefined;

  constructor(options: OpenApiOptions) {
    this.#options = options;
  }

  /** `path` has no query. Undefined if there is no such document. */
  handle(path: string, request: HttpRequest): HttpResponse | undefined {
    if (path === V2) return this.#v2Response(request);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined;
    this.#refresh();
    const name = path.slice(ROOT.length + 1).replace(/\/$/, '');
    const entry = name === '' ? undefined : this.#entries.get(name);
    if (name !== '' && entry === undefined) return undefined;
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    if (!acceptsJson(request)) return statusResponse(newNotAcceptable(NOT_ACCEPTABLE));
    return entry === undefined
      ? documentResponse(this.#indexDocument(), request, { contentType: JSON_TYPE })
      : this.#entryResponse(entry, request);
  }

  /** The same, but the document of version 2, which is large, is built in several turns of the event loop. */
  async handleInTurns(
    clock: Pick<Clock, 'defer'>,
    path: string,
    request: HttpRequest,
  ): Promise<HttpResponse | undefined> {
    if (path !== V2 || !isRead(request)) return this.handle(path, request);
    return (await this.#newestV2().respondInTurns(clock, request)) ?? v2NotAcceptable();
  }

  #v2Response(request: HttpRequest): HttpResponse {
    if (!isRead(request)) return statusResponse(newMethodNotSupported());
    return this.#newestV2().respond(request) ?? v2NotAcceptable();
  }

  #newestV2(): OpenApiV2 {
    this.#refresh();
    this.#v2 ??= new OpenApiV2(contentsOf([...this.#entries.values()]));
    return this.#v2;
  }

  #entryResponse(entry: Entry, request: HttpRequest): HttpResponse {
    const asked = hashOf(request.target);
    if (asked !== undefined && asked !== entry.hash) {
      return { status: 301, headers: { location: entry.url, vary: 'Accept' }, body: new Uint8Array() };
    }
    const { clock } = this.#options;
    return documentResponse(entry.document(), request, {
      contentType: JSON_TYPE,
      ...(asked === undefined
        ? {}
        : {
            cacheControl: 'public, immutable',
            ...(clock === undefined ? {} : { expires: new Date(clock.now() + YEAR_MS).toUTCString() }),
          }),
    });
  }

  #indexDocument(): PublishedDocument {
    const paths = Object.fromEntries(
      Array.from(this.#entries, ([name, entry]) => [name, { serverRelativeURL: entry.url }]),
    );
    this.#index ??= publishDocument({ paths });
    return this.#index;
  }

  /** Entries with unchanged input keep their bytes. */
  #refresh(): void {
    const { resources, version, customSchema = () => undefined } = this.#options;
    const source = version === undefined ? resources() : version();
    if (source === this.#source) return;
    this.#source = source;
    const previous = this.#entries;
    const entries = new Map<string, Entry>();
    for (const { versions } of servedGroups(resources())) {
      for (const served of versions) {
        const entry = new Entry(served, customSchema);
        const kept = previous.get(entry.name);
        entries.set(entry.name, kept?.hash === entry.hash ? kept : entry);
      }
    }
    this.#entries = entries;
    this.#index = undefined;
    this.#v2 = undefined;
  }
}

/** Builds each document when it is read. */
function contentsOf(entries: readonly Entry[]): () => Iterable<GroupVersionDocument> {
  return function* () {
    for (const entry of entries) yield entry.content();
  };
}

function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function v2NotAcceptable(): HttpResponse {
  return statusResponse(newNotAcceptable(`${NOT_ACCEPTABLE}, ${PROTOBUF_TYPE}`));
}

class Entry {
  /** `api/v1`, `apis/apps/v1`. */
  readonly name: string;
  readonly hash: string;
  readonly url: string;
  readonly #served: ServedVersion;
  readonly #schemas: CustomSchemaOf;
  #document: PublishedDocument | undefined;

  constructor(served: ServedVersion, customSchemaOf: CustomSchemaOf) {
    const schemas = new Map(
      served.resources
        .filter((info) => info.typeName === undefined)
        .map((info) => [info.resource, customSchemaOf(info)] as const),
    );
    this.#served = served;
    this.#schemas = (info) => schemas.get(info.resource);
    this.name = served.group === '' ? `api/${served.version}` : `apis/${served.group}/${served.version}`;
    this.hash = createHash('sha256')
      .update(stringifyExactJson([FORMAT, served, [...schemas]]))
      .digest('hex')
      .toUpperCase();
    this.url = `${ROOT}/${this.name}?hash=${this.hash}`;
  }

  document(): PublishedDocument {
    this.#document ??= { bytes: publishDocument(this.content()).bytes, hash: this.hash };
    return this.#document;
  }

  content(): GroupVersionDocument {
    const { group, version, resources } = this.#served;
    return groupVersionDocument({ group, version }, resources, this.#schemas);
  }
}

const ROOT = '/openapi/v3';
const V2 = '/openapi/v2';
const JSON_TYPE = 'application/json';
const YEAR_MS = 365 * 24 * 60 * 60_000;
const NOT_ACCEPTABLE = 'only the following media types are accepted: application/json';
/** Part of every hash. It must be raised whenever the same resources produce another document. */
const FORMAT = 2;

function hashOf(target: string): string | undefined {
  const at = target.indexOf('?');
  return at < 0 ? undefined : (new URLSearchParams(target.slice(at + 1)).get('hash') ?? undefined) || undefined;
}

function acceptsJson(request: HttpRequest): boolean {
  const header = request.headers['accept'];
  const accept = typeof header === 'string' || header === undefined ? header : header.join(',');
  if (accept === undefined || accept.trim() === '') return true;
  return parseAccept(accept).some(({ range }) => range === JSON_TYPE || range === 'application/*' || range === '*/*');
}

function statusResponse(error: StatusError): HttpResponse {
  return {
    status: error.code,
    headers: { 'content-type': JSON_TYPE },
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  };
}
