import {
  encodePartialObjectMetadataEnvelope,
  type KeptText,
  type MetadataText,
  transcodePartialObjectMetadataEnvelope,
} from '../../api/codec/metadata/partial-object-metadata.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import type { KeyValue, Revision } from './interface.ts';
import {
  type DeletionMetadata,
  type JsonSink,
  parseStored,
  parseStoredMetadata,
  spliceResourceVersion,
  storedDeletionMetadata,
  storedLabels,
  storedMetadataText,
  writeStored,
  writeStoredMetadata,
} from './stored-json.ts';

export { type DeletionMetadata, encodeStored } from './stored-json.ts';

class Forms {
  object: KubeObject | undefined = undefined;
  metadata: ObjectMeta | undefined = undefined;
  labels: ObjectMeta['labels'] = undefined;
  json: Uint8Array | undefined = undefined;
  envelope: Uint8Array | undefined = undefined;
}

/**
 * A stored object and the forms that were computed from its bytes so far. Each form is computed on first use and kept, so that many
 * watchers of one event share it. Callers must not change any of them.
 */
export class StoredObject {
  readonly #kv: KeyValue;
  /** A separate object, because thousands of objects are kept without their forms. */
  #forms: Forms | undefined;
  readonly #content: object | undefined;

  constructor(kv: KeyValue, content?: object) {
    this.#kv = kv;
    this.#forms = undefined;
    this.#content = content;
  }

  /** The same object for one content under several revisions; caches about the content use it as the key. */
  get content(): object {
    return this.#content ?? this;
  }

  get key(): string {
    return this.#kv.key;
  }

  /** Its resourceVersion. */
  get revision(): Revision {
    return this.#kv.modRevision;
  }

  get createRevision(): Revision {
    return this.#kv.createRevision;
  }

  /** Bytes as stored: without resourceVersion. */
  get stored(): Uint8Array {
    return this.#kv.value;
  }

  get storedBytes(): number {
    return this.stored.length;
  }

  /** The parsed object with its resourceVersion. Shared: never to be changed. */
  object(): KubeObject {
    return (this.#made.object ??= parseStored(this.stored, this.revision));
  }

  /** The object's metadata; cheaper than {@link object} when nothing else is needed. Shared: never to be changed. */
  metadata(): ObjectMeta {
    return this.#parsedMetadata ?? (this.#made.metadata = parseStoredMetadata(this.stored, this.revision));
  }

  /** Its labels; cheaper than {@link metadata} if no metadata was read yet. */
  labels(): ObjectMeta['labels'] {
    const metadata = this.#parsedMetadata;
    if (metadata !== undefined) return metadata.labels;
    return (this.#made.labels ??= storedLabels(this.stored) ?? this.metadata().labels);
  }

  /** The facts that decide about its deletion; cheaper than {@link metadata} if no metadata was read yet. */
  deletionMetadata(): DeletionMetadata {
    return this.#parsedMetadata ?? storedDeletionMetadata(this.stored, this.revision) ?? this.metadata();
  }

  /** JSON with resourceVersion, kind and apiVersion first; made without parsing. */
  json(): Uint8Array {
    return (this.#made.json ??= spliceResourceVersion(this.stored, this.revision));
  }

  /** Appends the same JSON to a longer text, without its first `skip` bytes, which must end before its metadata. */
  writeJson(sink: JsonSink, skip: number): void {
    writeStored(sink, this, skip);
  }

  /** JSON of the metadata. */
  writeMetadataJson(sink: JsonSink): void {
    writeStoredMetadata(sink, this.#kv);
  }

  /** The metadata in the stored bytes, for a codec that copies them. */
  metadataText(): MetadataText {
    return storedMetadataText(this);
  }

  /** The object that keeps the stored bytes, on which a codec keeps facts for later. */
  keptText(): KeptText {
    return this.#kv;
  }

  /** Enveloped protobuf PartialObjectMetadata. */
  metadataEnvelope(): Uint8Array {
    return (this.#made.envelope ??= this.#encodeEnvelope());
  }

  #encodeEnvelope(): Uint8Array {
    const transcoded = transcodePartialObjectMetadataEnvelope(storedMetadataText(this));
    return transcoded ?? encodePartialObjectMetadataEnvelope(this.metadata());
  }

  /** The same content under another resourceVersion: a watch shows a deleted object like this (API-125, API-126). */
  at(revision: Revision): StoredObject {
    const { key, createRevision } = this;
    return new StoredObject({ key, createRevision, modRevision: revision, value: this.stored }, this.content);
  }

  /** Releases the memory of everything that can be computed again. */
  dropCaches(): void {
    this.#forms = undefined;
  }

  get #made(): Forms {
    return (this.#forms ??= new Forms());
  }

  get #parsedMetadata(): ObjectMeta | undefined {
    return this.#forms?.object?.metadata ?? this.#forms?.metadata;
  }
}
