import { stringifyExactJson } from '../../../base/json/exact-json.ts';
import {
  encodePartialObjectMetadataEnvelope,
  encodeWatchFrame,
} from '../../../api/codec/metadata/partial-object-metadata.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { Status } from '../../../api/status-error.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';
import type { CacheEvent, EventBatch } from '../../storage/cache/cache-event.ts';
import { PROTOBUF_TYPE } from '../negotiation/negotiation.ts';
import { withoutManagers } from './without-managers.ts';
import { partialObjectMetadata } from './partial-metadata.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { watchTablesFor } from './table-answer.ts';

/** Encodes the events of one watch in the negotiated representation (API-121, 133, 134). */
export interface WatchEncoder {
  /** The key of an event's bytes: watchers with the same key get the same bytes. If absent, each watcher encodes its own. */
  readonly shared?: string;
  /** Encodes a whole batch, unfiltered, once for all watchers of the same representation. */
  batch(batch: EventBatch): Uint8Array;
  event(event: CacheEvent): Uint8Array;
  bookmark(metadata: ObjectMeta): Uint8Array;
  error(status: Status): Uint8Array;
}

/** Loads the codec that the watch needs, so that encoding itself never waits. */
export async function watchEncoder(scope: ResourceScope): Promise<WatchEncoder> {
  const { mediaType, transform } = scope.representation;
  if (transform?.kind === 'Table') return tableEncoder(scope);
  const representation = transform === undefined ? 'full' : 'metadata';
  const form: Form = { representation, version: transform?.version ?? 'v1' };
  return mediaType === PROTOBUF_TYPE ? protobufEncoder(scope, form) : jsonEncoder(scope, form);
}

type EncodeEvent = (event: CacheEvent) => Uint8Array;

/** `key` is the key of the bytes: watchers with the same key share them. */
function sharing(
  { representation }: ResourceScope,
  key: string,
  encode: EncodeEvent,
): Pick<WatchEncoder, 'shared' | 'batch' | 'event'> {
  const name = representation.dropsManagers === true ? `${key} without managers` : key;
  return { shared: name, batch: (batch) => batch.frame(name, encode), event: (event) => event.frame(name, encode) };
}

function servedOf({ resource, representation }: ResourceScope): (event: CacheEvent) => ServedObject {
  if (representation.dropsManagers === true) return ({ current }) => withoutManagers(resource.serve(current));
  return ({ current }) => resource.serve(current);
}

/** True if an event's stored bytes are what the client gets. */
function sendsStoredBytes({ resource, representation }: ResourceScope): boolean {
  return resource.servesStoredBytes && representation.dropsManagers !== true;
}

/**
 * The key of the bytes of an event's metadata. All versions share events, but a version may keep fields that it lacks in annotations, so
 * only metadata that is served as stored is the same in all versions.
 */
function metadataName({ resource, info }: ResourceScope): string {
  return resource.servesStoredBytes ? 'metadata' : `metadata ${apiVersionOf(info)}`;
}

interface Form {
  readonly representation: 'full' | 'metadata';
  readonly version: 'v1' | 'v1beta1';
}

function jsonEncoder(scope: ResourceScope, { representation, version }: Form): WatchEncoder {
  const { info } = scope;
  const served = servedOf(scope);
  const type = { kind: info.kind, apiVersion: apiVersionOf(info) };
  const tail = {
    bookmark: (metadata: ObjectMeta) => jsonFrame('BOOKMARK', JSON.stringify({ ...bookmarkType, metadata })),
    error: (status: Status) => jsonFrame('ERROR', JSON.stringify(status)),
  };
  const bookmarkType =
    representation === 'full' ? type : { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}` };
  if (representation === 'metadata') {
    const encode: EncodeEvent = (event) =>
      jsonFrame(event.type, stringifyExactJson(partialObjectMetadata(served(event), version)));
    return { ...sharing(scope, `json ${metadataName(scope)} ${version}`, encode), ...tail };
  }
  if (sendsStoredBytes(scope)) {
    return { shared: 'json', batch: (batch) => batch.frame('json'), event: (event) => event.frame('json'), ...tail };
  }
  const encode: EncodeEvent = (event) => jsonFrame(event.type, stringifyExactJson(served(event).object()));
  return { ...sharing(scope, `json ${type.apiVersion}`, encode), ...tail };
}

function jsonFrame(type: string, object: string): Uint8Array {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}

async function protobufEncoder(scope: ResourceScope, { representation, version }: Form): Promise<WatchEncoder> {
  const { info } = scope;
  const { encodeProtobuf } = await import('../../../api/codec/protobuf/protobuf.ts');
  const type = { kind: info.kind, apiVersion: apiVersionOf(info) };
  const error = (status: Status): Uint8Array =>
    encodeWatchFrame('ERROR', encodeProtobuf(status as unknown as KubeObject));
  const served = servedOf(scope);
  if (representation === 'metadata' && version === 'v1') {
    const frames: Pick<WatchEncoder, 'shared' | 'batch' | 'event'> = sendsStoredBytes(scope)
      ? {
          shared: 'metadata+protobuf',
          batch: (batch) => batch.frame('metadata+protobuf'),
          event: (event) => event.frame('metadata+protobuf'),
        }
      : sharing(scope, `protobuf ${metadataName(scope)} ${version}`, (event) =>
          encodeWatchFrame(event.type, served(event).metadataEnvelope()),
        );
    return {
      ...frames,
      bookmark: (metadata) => encodeWatchFrame('BOOKMARK', encodePartialObjectMetadataEnvelope(metadata)),
      error,
    };
  }
  if (representation === 'metadata') {
    const reduced = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}` };
    return {
      ...sharing(scope, `protobuf ${metadataName(scope)} ${version}`, (event) =>
        encodeWatchFrame(event.type, encodeProtobuf(partialObjectMetadata(served(event), version))),
      ),
      bookmark: (metadata) => encodeWatchFrame('BOOKMARK', encodeProtobuf({ ...reduced, metadata })),
      error,
    };
  }
  return {
    ...sharing(scope, `protobuf ${type.apiVersion}`, (event) =>
      encodeWatchFrame(event.type, encodeProtobuf(served(event).object())),
    ),
    bookmark: (metadata) => encodeWatchFrame('BOOKMARK', encodeProtobuf({ ...type, metadata })),
    error,
  };
}

/** Only the first table has columns, so each watcher encodes its own tables. */
async function tableEncoder(scope: ResourceScope): Promise<WatchEncoder> {
  const { resource, info } = scope;
  const { clock } = resource.environment;
  const tables = await watchTablesFor(scope);
  const served = servedOf(scope);
  const frame = (type: string, object: KubeObject): Uint8Array =>
    jsonFrame(type, stringifyExactJson(tables.next(object, clock.now())));
  const event: EncodeEvent = (changed) => frame(changed.type, served(changed).object());
  return {
    batch: (batch) => Buffer.concat(batch.events.map(event)),
    event,
    bookmark: (metadata) => frame('BOOKMARK', { kind: info.kind, apiVersion: apiVersionOf(info), metadata }),
    error: (status) => jsonFrame('ERROR', JSON.stringify(status)),
  };
}
