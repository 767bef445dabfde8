import { stringifyExactJson } from '../../../base/json/exact-json.ts';
import {
  encodePartialObjectMetadataEnvelope,
  type KeptText,
  type MetadataText,
} from '../../../api/codec/metadata/partial-object-metadata.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { JsonSink } from '../../storage/stored-json.ts';
import type { DeletionMetadata, StoredObject } from '../../storage/stored-object.ts';

/** An object for answers, lists and watches: its bytes if they are ready, its tree if the content is needed. */
export interface ServedObject {
  /** 0 if it is not stored (dry run, Scale, reviews). */
  readonly revision: number;
  /** The stored size; 0 if unknown. */
  readonly storedBytes: number;
  /** Shared; never changed. */
  object(): KubeObject;
  /** Cheaper than {@link object}. Also shared. */
  metadata(): ObjectMeta;
  /** Cheaper than {@link metadata}. */
  labels(): ObjectMeta['labels'];
  /** Cheaper than {@link metadata}. */
  deletionMetadata(): DeletionMetadata;
  /** With resourceVersion, kind and apiVersion first. */
  json(): Uint8Array;
  /** Appends the JSON to a longer text, without its first `skip` bytes, which contain kind and apiVersion. */
  writeJson(sink: JsonSink, skip: number): void;
  writeMetadataJson(sink: JsonSink): void;
  /** The metadata's text, if the stored bytes are served unchanged. */
  metadataText(): MetadataText | undefined;
  /** The owner of {@link metadataText}. */
  keptText(): KeptText | undefined;
  /** The object's metadata as a PartialObjectMetadata in enveloped protobuf. */
  metadataEnvelope(): Uint8Array;
  /** Releases memory of everything that can be computed again, because a caller that walks many objects needs each only briefly. */
  dropCaches(): void;
}

/** An object that exists only in this answer, or in another version than the stored one. */
export class TransientObject implements ServedObject {
  readonly revision: number;
  readonly storedBytes = 0;
  readonly #object: KubeObject;
  #json: Uint8Array | undefined;
  #metadata: Uint8Array | undefined;

  constructor(object: KubeObject, revision = 0) {
    this.#object = object;
    this.revision = revision;
  }

  object(): KubeObject {
    return this.#object;
  }

  metadata(): ObjectMeta {
    return this.#object.metadata ?? {};
  }

  labels(): ObjectMeta['labels'] {
    return this.#object.metadata?.labels;
  }

  deletionMetadata(): DeletionMetadata {
    return this.metadata();
  }

  json(): Uint8Array {
    return (this.#json ??= Buffer.from(stringifyExactJson(this.#object)));
  }

  writeJson(sink: JsonSink, skip: number): void {
    sink.bytes(this.json(), skip);
  }

  writeMetadataJson(sink: JsonSink): void {
    sink.bytes(Buffer.from(stringifyExactJson(this.metadata())));
  }

  metadataText(): undefined {
    return undefined;
  }

  keptText(): undefined {
    return undefined;
  }

  metadataEnvelope(): Uint8Array {
    return (this.#metadata ??= encodePartialObjectMetadataEnvelope(this.metadata()));
  }

  dropCaches(): void {
    this.#json = undefined;
    this.#metadata = undefined;
  }
}

/** The facts that a {@link ConvertedObject} needs about its kind. */
interface Conversion {
  readonly keepsMetadata: boolean;
  fromStorage(object: KubeObject): KubeObject;
}

/** A stored object in another version, converted on first use. */
export class ConvertedObject implements ServedObject {
  readonly revision: number;
  readonly source: StoredObject;
  readonly #conversion: Conversion;
  #object: KubeObject | undefined;
  #json: Uint8Array | undefined;
  #metadata: Uint8Array | undefined;

  constructor(stored: StoredObject, conversion: Conversion) {
    this.revision = stored.revision;
    this.source = stored;
    this.#conversion = conversion;
  }

  get storedBytes(): number {
    return this.source.storedBytes;
  }

  object(): KubeObject {
    return (this.#object ??= this.#conversion.fromStorage(this.source.object()));
  }

  metadata(): ObjectMeta {
    return this.#conversion.keepsMetadata ? this.source.metadata() : (this.object().metadata ?? {});
  }

  labels(): ObjectMeta['labels'] {
    return this.#conversion.keepsMetadata ? this.source.labels() : this.object().metadata?.labels;
  }

  deletionMetadata(): DeletionMetadata {
    return this.#conversion.keepsMetadata ? this.source.deletionMetadata() : this.metadata();
  }

  json(): Uint8Array {
    return (this.#json ??= Buffer.from(stringifyExactJson(this.object())));
  }

  writeJson(sink: JsonSink, skip: number): void {
    sink.bytes(this.json(), skip);
  }

  writeMetadataJson(sink: JsonSink): void {
    if (this.#conversion.keepsMetadata) this.source.writeMetadataJson(sink);
    else sink.bytes(Buffer.from(stringifyExactJson(this.metadata())));
  }

  metadataText(): MetadataText | undefined {
    return this.#conversion.keepsMetadata ? this.source.metadataText() : undefined;
  }

  keptText(): KeptText | undefined {
    return this.#conversion.keepsMetadata ? this.source.keptText() : undefined;
  }

  metadataEnvelope(): Uint8Array {
    if (this.#conversion.keepsMetadata) return this.source.metadataEnvelope();
    return (this.#metadata ??= encodePartialObjectMetadataEnvelope(this.metadata()));
  }

  dropCaches(): void {
    this.#object = undefined;
    this.#json = undefined;
    this.#metadata = undefined;
    this.source.dropCaches();
  }
}
