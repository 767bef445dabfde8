import {
  encodePartialObjectMetadataEnvelope,
  type KeptText,
  type MetadataText,
} from '../../../api/codec/metadata/partial-object-metadata.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { JsonSink } from '../../storage/stored-json.ts';
import type { DeletionMetadata, StoredObject } from '../../storage/stored-object.ts';

/** An object as answers, lists and watches see it: its bytes where they are ready, its tree where someone must look inside. */
export interface ServedObject {
  /** 0 when it is not stored (dry run, Scale, reviews). */
  readonly revision: number;
  /** How long it is where it is stored; 0 when it is not known. */
  readonly storedBytes: number;
  /** Shared: never changed by anyone. */
  object(): KubeObject;
  /** Cheaper than {@link object} when nothing else is needed. Shared as well. */
  metadata(): ObjectMeta;
  /** Cheaper than {@link metadata}. */
  labels(): ObjectMeta['labels'];
  /** Cheaper than {@link metadata}. */
  deletionMetadata(): DeletionMetadata;
  /** With resourceVersion, kind and apiVersion first. */
  json(): Uint8Array;
  /** The same into a longer text, without its first `skip` bytes, which are those of kind and apiVersion. */
  writeJson(sink: JsonSink, skip: number): void;
  writeMetadataJson(sink: JsonSink): void;
  /** Where stored bytes are what is served of the metadata. */
  metadataText(): MetadataText | undefined;
  /** The keeper of {@link metadataText}. */
  keptText(): KeptText | undefined;
  /** The object's metadata as an enveloped protobuf PartialObjectMetadata. */
  metadataEnvelope(): Uint8Array;
  /** Releases the memory of everything that can be made again: a caller that walks many objects needs each for a moment. */
  dropCaches(): void;
}

/** An object that exists only as this answer, or in another version than the stored one. */
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
    return (this.#json ??= Buffer.from(JSON.stringify(this.#object)));
  }

  writeJson(sink: JsonSink, skip: number): void {
    sink.bytes(this.json(), skip);
  }

  writeMetadataJson(sink: JsonSink): void {
    sink.bytes(Buffer.from(JSON.stringify(this.metadata())));
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

/** The facts that a {@link ConvertedObject} needs of its kind. */
interface Conversion {
  readonly keepsMetadata: boolean;
  fromStorage(object: KubeObject): KubeObject;
}

/** A stored object as another version shows it, converted when somebody looks inside. */
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
    return (this.#json ??= Buffer.from(JSON.stringify(this.object())));
  }

  writeJson(sink: JsonSink, skip: number): void {
    sink.bytes(this.json(), skip);
  }

  writeMetadataJson(sink: JsonSink): void {
    if (this.#conversion.keepsMetadata) this.source.writeMetadataJson(sink);
    else sink.bytes(Buffer.from(JSON.stringify(this.metadata())));
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
