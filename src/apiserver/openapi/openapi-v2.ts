import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { stringifyExactJson } from '../../base/json/exact-json.ts';
import type { Clock } from '../../base/time/clock.ts';
import { A_TURN, finished, inTurns, type Steps } from '../../base/time/steps.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import { documentResponse, type PublishedDocument } from '../discovery/published-document.ts';
import { parseAccept } from '../endpoints/negotiation/negotiation.ts';
import type { GroupVersionDocument } from './group-version-document.ts';
import type { JsonSchema } from './json-schema.ts';
import { type V2Document, v2Schema, type V2Schema } from './v2-schema.ts';
import { v2Paths } from './v2-paths.ts';
import { openApiV2Steps } from './v2-protobuf.ts';

const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type that clients up to client-go 0.36 request; answers have the type above. */
const PROTOBUF_TYPE_BEFORE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * `/openapi/v2`: the documents of all group versions in one, as Swagger 2.0 (API-418). kubectl before 1.29 validates and explains by it,
 * and client-go extracts applied configurations by it. Each form is built on first use.
 */
export class OpenApiV2 {
  readonly #sources: () => Iterable<GroupVersionDocument>;
  #json: PublishedDocument | undefined;
  #protobuf: PublishedDocument | undefined;
  #document: V2Document | undefined;
  #building: Promise<void> = Promise.resolve();

  constructor(sources: () => Iterable<GroupVersionDocument>) {
    this.#sources = sources;
  }

  /** Undefined if the Accept header allows neither form. */
  respond(request: HttpRequest): HttpResponse | undefined {
    const form = formOf(request);
    if (form === undefined) return undefined;
    const document = finished(this.#steps(form));
    return documentResponse(document, request, { contentType: form === 'json' ? JSON_TYPE : PROTOBUF_TYPE });
  }

  /** The same in several turns of the event loop. Requests that come meanwhile wait for the same document. */
  async respondInTurns(clock: Pick<Clock, 'defer'>, request: HttpRequest): Promise<HttpResponse | undefined> {
    const form = formOf(request);
    if (form !== undefined) {
      const built = this.#building.then(() => inTurns(clock, this.#steps(form)));
      this.#building = built.then(
        () => undefined,
        () => undefined,
      );
      await built;
    }
    return this.respond(request);
  }

  /** Both forms have one ETag; Vary distinguishes them for caches. */
  *#steps(form: 'json' | 'protobuf'): Steps<PublishedDocument> {
    this.#document ??= yield* documentSteps(this.#sources());
    this.#json ??= yield* publishingSteps(this.#document);
    if (form === 'json') return this.#json;
    this.#protobuf ??= { bytes: yield* openApiV2Steps(this.#document), hash: this.#json.hash };
    return this.#protobuf;
  }
}

function* documentSteps(sources: Iterable<GroupVersionDocument>): Steps<V2Document> {
  const paths: Record<string, unknown> = {};
  const definitions = new Map<string, V2Schema>();
  for (const source of sources) {
    yield A_TURN;
    Object.assign(paths, v2Paths(source.paths));
    yield A_TURN;
    mergeDefinitions(definitions, source);
    yield A_TURN;
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths,
    definitions: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Members that are written in one step. */
const MEMBERS_OF_A_STEP = 100;

/** The bytes of a whole document, as of any other that is published. */
function* publishingSteps({ paths, definitions, ...rest }: V2Document): Steps<PublishedDocument> {
  const hash = createHash('sha512');
  const pieces: Buffer[] = [];
  const write = (text: string): void => {
    const piece = Buffer.from(text);
    pieces.push(piece);
    hash.update(piece);
  };
  write(stringifyExactJson(rest).slice(0, -1));
  for (const [name, members] of Object.entries({ paths, definitions })) {
    write(`,${JSON.stringify(name)}:{`);
    const entries = Object.entries(members);
    for (let at = 0; at < entries.length; at += MEMBERS_OF_A_STEP) {
      const part = stringifyExactJson(Object.fromEntries(entries.slice(at, at + MEMBERS_OF_A_STEP)));
      write(`${at === 0 ? '' : ','}${part.slice(1, -1)}`);
      yield A_TURN;
    }
    write('}');
  }
  write('}\n');
  return { bytes: Buffer.concat(pieces), hash: hash.digest('hex').toUpperCase() };
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
function mergeDefinitions(merged: Map<string, V2Schema>, { components }: GroupVersionDocument): void {
  for (const [name, schema] of Object.entries(components.schemas)) {
    merged.set(name, withKindsOf(definitionOf(schema), merged.get(name)));
  }
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
