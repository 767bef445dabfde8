import type { HttpResponse } from '../../base/http-message.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import type { ListPage } from '../registry/list-objects.ts';
import type { ServedObject } from '../registry/served-object.ts';
import { answer, formatObject } from './body-format.ts';
import { JSON_TYPE, PROTOBUF_TYPE } from './negotiation.ts';
import { refuseMismatch } from './object-writer.ts';
import { partialObjectMetadata } from './partial-metadata.ts';
import type { ResourceScope } from './resource-scope.ts';
import { tableFor } from './table-answer.ts';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

function listMeta(page: Omit<ListPage, 'items'>): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
}

/** A page of a list in the negotiated representation (API-091). */
export async function writeList(scope: ResourceScope, page: ListPage): Promise<HttpResponse> {
  const { representation, info } = scope;
  const { mediaType, transform, pretty } = representation;
  const metadata = listMeta(page);
  if (transform !== undefined) {
    refuseMismatch(scope, 'list');
    if (transform.kind === 'Table') {
      return answer(200, mediaType, await formatObject(await tableFor(scope, page.items, metadata), representation));
    }
    return writeMetadataList(scope, page);
  }
  const head = { kind: info.listKind, apiVersion: apiVersionOf(info), metadata };
  const typed = info.typeName !== undefined;
  if (mediaType === JSON_TYPE && !pretty) {
    return answer(200, mediaType, joined(jsonList(head, page.items, typed ? itemPrefix(info) : 0)));
  }
  const items: KubeObject[] = [];
  for (const item of page.items) items.push(typed ? withoutType(item.object()) : item.object());
  return answer(200, mediaType, await formatObject({ ...head, items } as KubeObject, representation));
}

async function writeMetadataList(scope: ResourceScope, page: ListPage): Promise<HttpResponse> {
  const { representation } = scope;
  const version = representation.transform?.version ?? 'v1';
  const metadata = listMeta(page);
  const head = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata };
  if (representation.mediaType === PROTOBUF_TYPE && version === 'v1') {
    const { encodePartialObjectMetadataList } = await import('../../api/codec/partial-object-metadata.ts');
    const items: ObjectMeta[] = [];
    for (const item of page.items) items.push(item.metadata());
    return answer(200, PROTOBUF_TYPE, encodePartialObjectMetadataList(items, metadata));
  }
  if (representation.mediaType === JSON_TYPE && !representation.pretty) {
    return answer(200, JSON_TYPE, joined(jsonMetadataList(head, page.items, version)));
  }
  const items: KubeObject[] = [];
  for (const item of page.items) items.push(partialObjectMetadata(item, version));
  return answer(200, representation.mediaType, await formatObject({ ...head, items } as KubeObject, representation));
}

/** Bytes of `{"kind":"Pod","apiVersion":"v1",`, with which every stored object of the kind begins. */
function itemPrefix(info: ResourceScope['info']): number {
  return Buffer.byteLength(`{"kind":${JSON.stringify(info.kind)},"apiVersion":${JSON.stringify(apiVersionOf(info))},`);
}

/** Items of typed lists carry no type of their own (API-091). */
function withoutType(object: KubeObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('{');
const COMMA_OPEN = Buffer.from(',{');
const LIST_END = Buffer.from(']}');
/** Bytes that leave in one piece. */
const CHUNK = 256 * 1024;

/** `strip`: bytes of each item replaced by its opening brace; 0 keeps the item whole. */
function* jsonList(head: object, items: Iterable<ServedObject>, strip: number): Generator<Uint8Array> {
  yield listStart(head);
  let first = true;
  for (const item of items) {
    const json = item.json();
    if (strip === 0) {
      if (!first) yield COMMA;
      yield json;
    } else {
      yield first ? OPEN : COMMA_OPEN;
      yield json.subarray(strip);
    }
    first = false;
  }
  yield LIST_END;
}

function* jsonMetadataList(
  head: object,
  items: Iterable<ServedObject>,
  version: 'v1' | 'v1beta1',
): Generator<Uint8Array> {
  yield listStart(head);
  const type = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
  let separator = type;
  for (const item of items) {
    yield Buffer.from(`${separator}${JSON.stringify(item.metadata())}}`);
    separator = `,${type}`;
  }
  yield LIST_END;
}

function listStart(head: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
}

/** Pieces gathered into chunks; a list of one chunk is a finished body, a longer one is made while it is sent. */
function joined(pieces: Generator<Uint8Array>): HttpResponse['body'] {
  const chunks = gathered(pieces);
  const first = chunks.next();
  if (first.done === true) return new Uint8Array(0);
  const second = chunks.next();
  if (second.done === true) return first.value;
  return stream(first.value, second.value, chunks);
}

async function* stream(first: Uint8Array, second: Uint8Array, rest: Generator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield second;
  yield* rest;
}

function* gathered(pieces: Generator<Uint8Array>): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const piece of pieces) {
    parts.push(piece);
    length += piece.length;
    if (length >= CHUNK) {
      yield Buffer.concat(parts, length);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(parts, length);
}
