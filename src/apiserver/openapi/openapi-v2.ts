import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import { documentResponse, type PublishedDocument, publishDocument } from '../discovery/published-document.ts';
import { parseAccept } from '../endpoints/negotiation/negotiation.ts';
import type { GroupVersionDocument } from './group-version-document.ts';
import type { JsonSchema } from './json-schema.ts';
import { v2Schema, type V2Schema } from './v2-schema.ts';
import { v2Paths } from './v2-paths.ts';
import { encodeOpenApiV2 } from './v2-protobuf.ts';

const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type that clients up to client-go 0.36 request; answers have the type above. */
const PROTOBUF_TYPE_BEFORE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * `/openapi/v2`: the documents of all group versions in one, as Swagger 2.0 (API-418). kubectl before 1.29 validates and explains by it,
 * and client-go extracts applied configurations by it. Each form is built on first use.
 */
export class OpenApiV2 {
  readonly #sources: readonly GroupVersionDocument[];
  #json: PublishedDocument | undefined;
  #protobuf: PublishedDocument | undefined;
  #document: object | undefined;

  constructor(sources: readonly GroupVersionDocument[]) {
    this.#sources = sources;
  }

  /** Undefined if the Accept header allows neither form. */
  respond(request: HttpRequest): HttpResponse | undefined {
    switch (formOf(request)) {
      case 'json':
        return documentResponse(this.#asJson(), request, { contentType: JSON_TYPE });
      case 'protobuf':
        return documentResponse(this.#asProtobuf(), request, { contentType: PROTOBUF_TYPE });
      default:
        return undefined;
    }
  }

  #asJson(): PublishedDocument {
    return (this.#json ??= publishDocument(this.#content()));
  }

  /** Both forms have one ETag; Vary distinguishes them for caches. */
  #asProtobuf(): PublishedDocument {
    this.#protobuf ??= { bytes: encodeOpenApiV2(this.#content()), hash: this.#asJson().hash };
    return this.#protobuf;
  }

  #content(): object {
    this.#document ??= {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: 'unversioned' },
      paths: Object.fromEntries(this.#sources.flatMap(({ paths }) => Object.entries(v2Paths(paths)))),
      definitions: mergedDefinitions(this.#sources),
    };
    return this.#document;
  }
}

function formOf(request: HttpRequest): 'json' | 'protobuf' | undefined {
  const header = request.headers['accept'];
  const accept = typeof header === 'string' || header === undefined ? (header ?? '') : header.join(',');
  if (accept.trim() === '') return 'json';
  for (const { range } of parseAccept(accept)) {
    if (range === JSON_TYPE || range === 'application/*' || range === '*/*') return 'json';
    if (range === PROTOBUF_TYPE || range === PROTOBUF_TYPE_BEFORE) return 'protobuf';
  }
  return undefined;
}

const KINDS = 'x-kubernetes-group-version-kind';

/** Types that several group versions use occur once; options and events list the kinds of all of them. */
function mergedDefinitions(sources: readonly GroupVersionDocument[]): Record<string, V2Schema> {
  const merged = new Map<string, V2Schema>();
  for (const { components } of sources) {
    for (const [name, schema] of Object.entries(components.schemas)) {
      merged.set(name, withKindsOf(definitionOf(schema), merged.get(name)));
    }
  }
  return Object.fromEntries([...merged].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The schema of a kind with unknown fields at its root lists no fields, because kubectl refuses the fields that such a list lacks
 * (API-418).
 */
function definitionOf(schema: JsonSchema): V2Schema {
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true && schema[KINDS] !== undefined;
  return open ? { type: 'object', [KINDS]: schema[KINDS] } : v2Schema(schema);
}

function withKindsOf(schema: V2Schema, other: V2Schema | undefined): V2Schema {
  const kinds = [...kindsOf(other), ...kindsOf(schema)];
  if (kinds.length === 0) return schema;
  const each = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.kind}`, kind]));
  return { ...schema, [KINDS]: [...each].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind) };
}

function kindsOf(schema: V2Schema | undefined): readonly GroupVersionKind[] {
  return (schema?.[KINDS] as readonly GroupVersionKind[] | undefined) ?? [];
}
