import { ProtobufError, type WireReader } from '../../api/codec/protobuf/protobuf-wire.ts';
import {
  type ContainerState,
  type RuntimeContainer,
  type RuntimeImage,
  RuntimeCallError,
} from '../inventory/runtime.ts';
import { KnownItems } from './known-items.ts';

const UID_LABEL = 'io.kubernetes.pod.uid';
const NAME_LABEL = 'io.kubernetes.pod.name';
const NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';

/** States of a container by their numbers on the wire; any other number is unknown. */
const states: readonly ContainerState[] = ['created', 'running', 'exited', 'unknown'];
export const stateOf = (state: number): ContainerState => states[state] ?? 'unknown';

/** Fields of `Image`, `ImageSpec` and `Container` with their wire types, as `number << 3 | type` (NODE-011). */
const IMAGE = { id: 0x0a, tag: 0x12, digest: 0x1a, size: 0x20, spec: 0x3a, pinned: 0x40 };
const SPEC = { image: 0x0a, userSpecifiedImage: 0x92, runtimeHandler: 0x9a };
const CONTAINER = {
  id: 0x0a,
  sandboxId: 0x12,
  metadata: 0x1a,
  image: 0x22,
  imageRef: 0x2a,
  state: 0x30,
  createdAt: 0x38,
  label: 0x42,
  annotation: 0x4a,
  imageId: 0x52,
};
const METADATA = { name: 0x0a, attempt: 0x10 };
const ENTRY = { key: 0x0a, value: 0x12 };

/** Reads the message at the cursor field by field. `onField` reads the value, or returns false to skip it. */
function fields(reader: WireReader, onField: (tag: number) => boolean): void {
  while (reader.more) {
    const tag = reader.tag();
    if (!onField(tag)) reader.skip(tag);
  }
}

/** Reads a message inside another message in the same way. */
function nested(reader: WireReader, onField: (tag: number) => boolean): void {
  const outer = reader.end;
  reader.end = reader.delimited();
  fields(reader, onField);
  reader.end = outer;
}

/** Reads the part of an item that was left for later. Bytes that are not a message fail like the call that returned them. */
function readLater(
  operation: string,
  { reader, start, end }: { readonly reader: WireReader; readonly start: number; readonly end: number },
  onField: (tag: number) => boolean,
): void {
  reader.at = start;
  reader.end = end;
  try {
    fields(reader, onField);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new RuntimeCallError(operation, 'failed', error.message, { cause: error });
  }
}

function runtimeHandlerOf(reader: WireReader): string {
  let handler = '';
  nested(reader, (tag) => {
    if (tag !== SPEC.runtimeHandler) return false;
    handler = reader.string();
    return true;
  });
  return handler;
}

/** An image of a list. Its names are decoded when they are first read: of thousands of images, few are ever shown. */
class ListedImage implements RuntimeImage {
  id = '';
  runtimeHandler = '';
  size = 0n;
  pinned = false;
  readonly #reader: WireReader;
  readonly #start: number;
  readonly #end: number;
  #names: { readonly tags: string[]; readonly digests: string[] } | undefined;

  constructor(reader: WireReader) {
    this.#reader = reader;
    this.#start = reader.at;
    this.#end = reader.end;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === IMAGE.id) this.id = reader.string();
      else if (tag === IMAGE.size) this.size = reader.uint64();
      else if (tag === IMAGE.pinned) this.pinned = reader.varint() !== 0;
      else if (tag === IMAGE.spec) this.runtimeHandler = runtimeHandlerOf(reader);
      else reader.skip(tag);
    }
  }

  get tags(): readonly string[] {
    return this.#read().tags;
  }

  get digests(): readonly string[] {
    return this.#read().digests;
  }

  #read(): { readonly tags: string[]; readonly digests: string[] } {
    if (this.#names !== undefined) return this.#names;
    const names = { tags: [] as string[], digests: [] as string[] };
    const reader = this.#reader;
    readLater('list_images', { reader, start: this.#start, end: this.#end }, (tag) => {
      if (tag === IMAGE.tag) names.tags.push(reader.string());
      else if (tag === IMAGE.digest) names.digests.push(reader.string());
      else return false;
      return true;
    });
    return (this.#names = names);
  }
}

/** A container of a list. Fields that only a pass over containers needs are decoded when they are first read. */
class ListedContainer implements RuntimeContainer {
  id = '';
  imageId = '';
  runtimeHandler = '';
  state: ContainerState = 'created';
  readonly #reader: WireReader;
  readonly #start: number;
  readonly #end: number;
  #rest: RestOfContainer | undefined;

  constructor(reader: WireReader) {
    this.#reader = reader;
    this.#start = reader.at;
    this.#end = reader.end;
    let imageRef = '';
    while (reader.more) {
      const tag = reader.tag();
      if (tag === CONTAINER.id) this.id = reader.string();
      else if (tag === CONTAINER.image) this.runtimeHandler = runtimeHandlerOf(reader);
      else if (tag === CONTAINER.imageRef) imageRef = reader.string();
      else if (tag === CONTAINER.imageId) this.imageId = reader.string();
      else if (tag === CONTAINER.state) this.state = stateOf(reader.varint());
      else reader.skip(tag);
    }
    // Runtimes before CRI v1.29 leave the id empty (NODE-014).
    if (this.imageId === '') this.imageId = imageRef;
  }

  get sandboxId(): string {
    return this.#read().sandboxId;
  }

  get name(): string {
    return this.#read().name;
  }

  get attempt(): number {
    return this.#read().attempt;
  }

  get podUid(): string {
    return this.#read().labels[UID_LABEL] ?? '';
  }

  get podName(): string {
    return this.#read().labels[NAME_LABEL] ?? '';
  }

  get podNamespace(): string {
    return this.#read().labels[NAMESPACE_LABEL] ?? '';
  }

  get createdAt(): bigint {
    return this.#read().createdAt;
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.#read().annotations;
  }

  get reference(): string {
    return this.#read().reference;
  }

  #read(): RestOfContainer {
    if (this.#rest !== undefined) return this.#rest;
    const rest: RestOfContainer = {
      sandboxId: '',
      name: '',
      attempt: 0,
      createdAt: 0n,
      reference: '',
      labels: Object.create(null) as Record<string, string>,
      annotations: Object.create(null) as Record<string, string>,
    };
    const reader = this.#reader;
    readLater('list_containers', { reader, start: this.#start, end: this.#end }, (tag) => {
      if (tag === CONTAINER.sandboxId) rest.sandboxId = reader.string();
      else if (tag === CONTAINER.metadata) readMetadata(reader, rest);
      else if (tag === CONTAINER.image) rest.reference = referenceOf(reader);
      else if (tag === CONTAINER.createdAt) rest.createdAt = BigInt.asIntN(64, reader.uint64());
      else if (tag === CONTAINER.label) readEntry(reader, rest.labels);
      else if (tag === CONTAINER.annotation) readEntry(reader, rest.annotations);
      else return false;
      return true;
    });
    return (this.#rest = rest);
  }
}

interface RestOfContainer {
  sandboxId: string;
  name: string;
  attempt: number;
  createdAt: bigint;
  reference: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** The reference that the user specified, else the image. An id does not count as a reference: a kubelet creates containers by the id. */
function referenceOf(reader: WireReader): string {
  let [image, userSpecified] = ['', ''];
  nested(reader, (tag) => {
    if (tag === SPEC.image) image = reader.string();
    else if (tag === SPEC.userSpecifiedImage) userSpecified = reader.string();
    else return false;
    return true;
  });
  if (userSpecified !== '') return userSpecified;
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(image) ? '' : image;
}

function readMetadata(reader: WireReader, rest: RestOfContainer): void {
  nested(reader, (tag) => {
    if (tag === METADATA.name) rest.name = reader.string();
    else if (tag === METADATA.attempt) rest.attempt = reader.varint();
    else return false;
    return true;
  });
}

function readEntry(reader: WireReader, map: Record<string, string>): void {
  let [key, value] = ['', ''];
  nested(reader, (tag) => {
    if (tag === ENTRY.key) key = reader.string();
    else if (tag === ENTRY.value) value = reader.string();
    else return false;
    return true;
  });
  map[key] = value;
}

/** Reads lists of messages `runtime.v1.Image`. An image that has not changed since the last list is the same object. */
export const listedImages = (): KnownItems<RuntimeImage> => new KnownItems((reader) => new ListedImage(reader));

/** Reads lists of messages `runtime.v1.Container`. A container that has not changed since the last list is the same object. */
export const listedContainers = (): KnownItems<RuntimeContainer> =>
  new KnownItems((reader) => new ListedContainer(reader));
