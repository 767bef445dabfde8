import { stringifyExactJson } from '../../../base/json/exact-json.ts';
import { newTooManyRequests } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { ListPage } from '../../registry/list-objects.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';
import { answer, formatObject } from '../negotiation/body-format.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { JSON_TYPE, PROTOBUF_TYPE } from '../negotiation/negotiation.ts';
import { refuseMismatch } from './object-writer.ts';
import { withoutManagersEach } from './without-managers.ts';
import { partialObjectMetadata } from './partial-metadata.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { tableFor, type TableRows, tableRows } from './table-answer.ts';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
  shardInfo?: { selector: string };
}

function listMeta(page: Omit<ListPage, 'items'>): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
    ...(page.shards === undefined ? {} : { shardInfo: { selector: page.shards } }),
  };
}

/** A page of a list in the negotiated representation (API-091). */
export async function writeList(scope: ResourceScope, listed: ListPage): Promise<HttpResponse> {
  const { representation, info, resource } = scope;
  const { mediaType, transform, pretty } = representation;
  const asMetadata = transform !== undefined && transform.kind !== 'Table';
  const shown = resource.shown(listed.items);
  const items = await (asMetadata ? shown.catch(refuseUnconverted) : shown);
  const page = { ...listed, items: representation.dropsManagers === true ? withoutManagersEach(items) : items };
  const metadata = listMeta(page);
  if (transform !== undefined) {
    refuseMismatch(scope, 'list');
    if (transform.kind === 'Table') {
      if (mediaType === JSON_TYPE && !pretty) {
        return answer(200, mediaType, joined(jsonTable(await tableRows(scope, page.items, metadata))));
      }
      return answer(200, mediaType, await formatObject(await tableFor(scope, page.items, metadata), representation));
    }
    return writeMetadataList(scope, page);
  }
  const head = { kind: info.listKind, apiVersion: apiVersionOf(info), metadata };
  const typed = info.typeName !== undefined;
  if (mediaType === JSON_TYPE && !pretty) {
    return answer(200, mediaType, joined(jsonList(head, page.items, typed ? itemPrefix(info) : 0)));
  }
  if (mediaType === PROTOBUF_TYPE && info.typeName !== undefined) {
    const { protobufList, typedEncoding } = await import('./protobuf-list.ts');
    const { clock } = resource.environment;
    const encoding = typedEncoding(info.typeName, head);
    return answer(200, mediaType, await protobufList({ items: page.items, metadata, clock, encoding }));
  }
  const objects: KubeObject[] = [];
  for (const item of page.items) objects.push(typed ? withoutType(item.object()) : item.object());
  return answer(200, mediaType, await formatObject({ ...head, items: objects } as KubeObject, representation));
}

/** kube-apiserver lists metadata from a cache, which does not become ready while the webhook fails. */
export function refuseUnconverted(): never {
  throw newTooManyRequests('storage is (re)initializing', RETRY_AFTER_S);
}

const RETRY_AFTER_S = 1;

async function writeMetadataList(scope: ResourceScope, page: ListPage): Promise<HttpResponse> {
  const { representation } = scope;
  const version = representation.transform?.version ?? 'v1';
  const metadata = listMeta(page);
  const head = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata };
  if (representation.mediaType === PROTOBUF_TYPE && version === 'v1') {
    const { metadataEncoding, protobufList } = await import('./protobuf-list.ts');
    const { clock } = scope.resource.environment;
    const list = { items: page.items, metadata, clock, encoding: metadataEncoding };
    return answer(200, PROTOBUF_TYPE, await protobufList(list));
  }
  if (representation.mediaType === JSON_TYPE && !representation.pretty) {
    return answer(200, JSON_TYPE, joined(jsonMetadataList(head, page.items, version)));
  }
  const items: KubeObject[] = [];
  for (const item of page.items) items.push(partialObjectMetadata(item, version));
  return answer(200, representation.mediaType, await formatObject({ ...head, items } as KubeObject, representation));
}

/** The length of `{"kind":"Pod","apiVersion":"v1",`, with which every stored object of the kind begins. */
function itemPrefix(info: ResourceScope['info']): number {
  return Buffer.byteLength(`{"kind":${JSON.stringify(info.kind)},"apiVersion":${JSON.stringify(apiVersionOf(info))},`);
}

/** Items of typed lists have no type of their own (API-091). */
function withoutType(object: KubeObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

/** `strip` is the number of bytes of each item that its opening brace replaces; 0 keeps the whole item. */
function* jsonList(head: object, items: Iterable<ServedObject>, strip: number): Generator<Uint8Array> {
  const writer = new ChunkWriter();
  writer.bytes(listStart(head));
  const open = strip === 0 ? '' : '{';
  let separator = open;
  for (const item of items) {
    writer.text(separator);
    item.writeJson(writer, strip);
    separator = `,${open}`;
    yield* writer.taken();
  }
  writer.text(']}');
  yield* writer.rest();
}

function* jsonMetadataList(
  head: object,
  items: Iterable<ServedObject>,
  version: 'v1' | 'v1beta1',
): Generator<Uint8Array> {
  const writer = new ChunkWriter();
  writer.bytes(listStart(head));
  const type = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
  let separator = type;
  for (const item of items) {
    writer.text(separator);
    item.writeMetadataJson(writer);
    separator = `},${type}`;
    yield* writer.taken();
  }
  writer.text(separator === type ? ']}' : '}]}');
  yield* writer.rest();
}

function* jsonTable({ head, rows }: TableRows): Generator<Uint8Array> {
  const writer = new ChunkWriter();
  writer.bytes(Buffer.from(`${JSON.stringify(head).slice(0, -1)},"rows":[`));
  let separator = '';
  for (const row of rows) {
    writer.text(separator);
    writer.bytes(Buffer.from(stringifyExactJson(row)));
    separator = ',';
    yield* writer.taken();
  }
  writer.text(']}');
  yield* writer.rest();
}

function listStart(head: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
}

/** A list of one chunk is a complete body; a longer one is encoded while it is sent. */
function joined(chunks: Generator<Uint8Array>): HttpResponse['body'] {
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
