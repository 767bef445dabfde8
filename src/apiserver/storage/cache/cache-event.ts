import { encodeWatchFrame } from '../../../api/codec/metadata/partial-object-metadata.ts';
import { assert } from '../../../base/errors/assert.ts';
import type { Revision } from '../interface.ts';
import { spliceResourceVersion } from '../stored-json.ts';
import type { StoredObject } from '../stored-object.ts';

export type CacheEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Frames that need only the stored bytes; for all others the caller has an encoder. */
export type BuiltinFrame = 'json' | 'metadata+protobuf';

export type CacheEventFields =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly current: StoredObject; readonly previous?: StoredObject }
  | { readonly type: 'DELETED'; readonly revision: Revision; readonly previous: StoredObject };

/** One change of one object, shared by all watchers of a resource. */
export class CacheEvent {
  readonly type: CacheEventType;
  readonly revision: Revision;
  /** The old object; for DELETED the last content with its own revision. Absent for ADDED. */
  readonly previous: StoredObject | undefined;
  /** For DELETED it is created on first use, because few old events are still read. */
  #current: StoredObject | undefined;
  #frames: Map<string, Uint8Array> | undefined;

  constructor(fields: CacheEventFields) {
    this.type = fields.type;
    this.previous = fields.previous;
    this.#current = fields.type === 'DELETED' ? undefined : fields.current;
    this.revision = fields.type === 'DELETED' ? fields.revision : fields.current.revision;
  }

  /** The current object; for DELETED the last content with the revision of the deletion (API-126). */
  get current(): StoredObject {
    return (this.#current ??= this.#content.at(this.revision));
  }

  get key(): string {
    return this.#content.key;
  }

  /** Size of the stored object in bytes. */
  get storedBytes(): number {
    return this.#content.storedBytes;
  }

  get #content(): StoredObject {
    const content = this.#current ?? this.previous;
    assert(content !== undefined, 'an event has what is there or what was');
    return content;
  }

  /**
   * The event as bytes of a watch stream, encoded once per representation for all watchers. `representation` is the key of the result of
   * `encode`: the same key must always mean the same bytes.
   */
  frame(representation: BuiltinFrame): Uint8Array;
  frame(representation: string, encode: (event: CacheEvent) => Uint8Array): Uint8Array;
  frame(
    representation: string,
    encode: (event: CacheEvent) => Uint8Array = builtinEncoder(representation),
  ): Uint8Array {
    this.#frames ??= new Map();
    let frame = this.#frames.get(representation);
    if (frame === undefined) {
      frame = encode(this);
      this.#frames.set(representation, frame);
    }
    return frame;
  }

  /** Releases everything that can be computed again. */
  dropCaches(): void {
    this.#frames = undefined;
    this.previous?.dropCaches();
    if (this.type === 'DELETED') this.#current = undefined;
    else this.#current?.dropCaches();
  }
}

/** Consecutive events. Watchers at the same position share a batch. Never empty. */
export class EventBatch {
  readonly events: readonly CacheEvent[];
  #frames: Map<string, Uint8Array> | undefined;

  constructor(events: readonly CacheEvent[]) {
    this.events = events;
  }

  /** The frames of all events together, encoded once per representation for all watchers of the batch. */
  frame(representation: BuiltinFrame): Uint8Array;
  frame(representation: string, encode: (event: CacheEvent) => Uint8Array): Uint8Array;
  frame(
    representation: string,
    encode: (event: CacheEvent) => Uint8Array = builtinEncoder(representation),
  ): Uint8Array {
    const [only, ...more] = this.events;
    if (only !== undefined && more.length === 0) return only.frame(representation, encode);
    return this.part(representation, () =>
      Buffer.concat(this.events.map((event) => event.frame(representation, encode))),
    );
  }

  /** The batch as filtered for some watchers, once for all of them. `name` must always mean the same bytes. */
  part(name: string, make: () => Uint8Array): Uint8Array {
    this.#frames ??= new Map();
    let part = this.#frames.get(name);
    if (part === undefined) {
      part = make();
      this.#frames.set(name, part);
    }
    return part;
  }
}

function builtinEncoder(representation: string): (event: CacheEvent) => Uint8Array {
  return representation === 'metadata+protobuf' ? metadataFrame : jsonFrame;
}

/** `{"type":"ADDED","object":{…}}\n` (API-121). */
function jsonFrame({ type, current }: CacheEvent): Uint8Array {
  return spliceResourceVersion(current.stored, current.revision, {
    before: `{"type":"${type}","object":`,
    after: '}\n',
  });
}

/** Length, WatchEvent, enveloped PartialObjectMetadata (API-523). */
function metadataFrame({ type, current }: CacheEvent): Uint8Array {
  return encodeWatchFrame(type, current.metadataEnvelope());
}
