import { parseExactJson } from '../../base/json/exact-json.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { ApiObject } from '../../api/meta/api-object.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { abortErrorOf } from '../../base/time/abort-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import type { ReflectorSink } from './reflector-sink.ts';
import { Reflector } from './reflector.ts';
import type { RestClient } from '../rest/rest-client.ts';

/** `namespace/name`, or `name` alone for cluster-scoped objects. */
export function keyOf(object: ApiObject): string {
  const { namespace = '', name = '' } = object.metadata ?? {};
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Called synchronously, in the server's order. An error of one handler is logged and does not affect the others. */
export interface InformerHandler<T> {
  /** A new object. */
  added?(object: T): void;
  /** A changed object, also one that a new list shows with another resource version. */
  updated?(previous: T, object: T): void;
  /** Called with the last known state. A replaced object of the same name is first `deleted`, then `added`. */
  deleted?(object: T): void;
}

/** The resource that an informer caches, and its settings. */
export interface InformerOptions<T> {
  /** Lists and watches. */
  readonly client: RestClient;
  /** Times its retries. */
  readonly clock: Clock;
  /** Spreads its retries. */
  readonly random: Random;
  /** The logger for failures; silent by default. */
  readonly logger?: Logger;
  /** The resource. */
  readonly gvr: GroupVersionResource;
  /** If absent, all namespaces. */
  readonly namespace?: string | undefined;
  /** Selects the objects. */
  readonly labelSelector?: string | undefined;
  /** Selects the objects. */
  readonly fieldSelector?: string | undefined;
  /** The values under which {@link Informer.byIndex} finds an object. */
  readonly indexers?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /** Called with every failure. The informer retries in any case. */
  readonly onFailure?: (error: Error) => void;
}

/** A cache of whole objects of one resource, kept by a reflector. Objects are shared with all readers: never mutate them. */
export class Informer<T extends ApiObject = KubeObject> implements Service {
  readonly #options: InformerOptions<T>;
  readonly #logger: Logger;
  readonly #objects = new Map<string, T>();
  readonly #indices = new Map<string, Map<string, Set<string>>>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #reflector: Reflector;
  #waiting: (() => void)[] = [];
  #resourceVersion = '';
  /** Keys seen since the current enumeration began; undefined outside of one. */
  #seen: Set<string> | undefined;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    for (const name in options.indexers) this.#indices.set(name, new Map());
    const { client, clock, random, gvr, namespace, labelSelector, fieldSelector } = options;
    this.#reflector = new Reflector({
      client,
      clock,
      random,
      logger: this.#logger,
      gvr,
      representation: 'object',
      sink: this.#sink(),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    });
  }

  /** The resource that it caches. */
  get gvr(): GroupVersionResource {
    return this.#options.gvr;
  }

  /** True once the first enumeration is complete and handlers have received all of it. */
  get hasSynced(): boolean {
    return this.#reflector.hasSynced;
  }

  /** The number of cached objects. */
  get size(): number {
    return this.#objects.size;
  }

  /** All changes up to this resource version have been seen; empty before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Resolves after `signal` is aborted; never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** Resolves once `hasSynced` is true. Rejects with an AbortError if `signal` is aborted before. */
  waitForSync(signal: AbortSignal): Promise<void> {
    if (this.hasSynced) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(abortErrorOf(signal));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }

  /** Calls `added` for known objects at once. Returns a function that removes the handler. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) this.#guarded(() => handler.added?.(object));
    return () => void this.#handlers.delete(handler);
  }

  /** The object with the key `namespace/name` ({@link keyOf}). */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** All objects, in no order. */
  list(): T[] {
    return [...this.#objects.values()];
  }

  /** The objects that have this value in an index of its options. */
  byIndex(index: string, value: string): T[] {
    const keys = this.#indices.get(index)?.get(value) ?? [];
    return Array.from(keys, (key) => this.#objects.get(key)!);
  }

  #sink(): ReflectorSink {
    const set = (bytes: Uint8Array, start: number, end: number): void => this.#set(parse<T>(bytes, start, end));
    return {
      replaceBegin: () => {
        this.#seen = new Set();
      },
      replaceEnd: (resourceVersion) => {
        this.#resourceVersion = resourceVersion;
        const seen = this.#seen ?? new Set();
        this.#seen = undefined;
        for (const [key, object] of this.#objects) if (!seen.has(key)) this.#remove(key, object);
      },
      replaceAbort: () => {
        this.#seen = undefined;
      },
      added: set,
      modified: set,
      deleted: (bytes, start, end) => {
        const object = parse<T>(bytes, start, end);
        const key = keyOf(object);
        this.#seenVersionOf(object);
        this.#seen?.delete(key);
        if (this.#objects.has(key)) this.#remove(key, object);
      },
      bookmark: (resourceVersion) => {
        this.#resourceVersion = resourceVersion;
      },
      synced: () => {
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
      failed: (error) => this.#options.onFailure?.(error),
    };
  }

  #set(object: T): void {
    const key = keyOf(object);
    this.#seenVersionOf(object);
    this.#seen?.add(key);
    const previous = this.#objects.get(key);
    if (previous !== undefined && previous.metadata?.uid !== object.metadata?.uid) {
      this.#remove(key, previous);
      this.#set(object);
      return;
    }
    if (previous !== undefined && previous.metadata?.resourceVersion === object.metadata?.resourceVersion) return;
    if (previous !== undefined) this.#unindex(key, previous);
    this.#objects.set(key, object);
    this.#index(key, object);
    for (const handler of this.#handlers) {
      this.#guarded(() => (previous === undefined ? handler.added?.(object) : handler.updated?.(previous, object)));
    }
  }

  /** An event of a watch. During an enumeration objects come in any order, and the version comes at the end. */
  #seenVersionOf({ metadata }: T): void {
    if (this.#seen === undefined && metadata?.resourceVersion) this.#resourceVersion = metadata.resourceVersion;
  }

  #remove(key: string, last: T): void {
    const known = this.#objects.get(key);
    if (known !== undefined) this.#unindex(key, known);
    this.#objects.delete(key);
    for (const handler of this.#handlers) this.#guarded(() => handler.deleted?.(last));
  }

  #index(key: string, object: T): void {
    for (const [name, values] of this.#indices) {
      for (const value of this.#options.indexers?.[name]?.(object) ?? []) {
        const keys = values.get(value);
        if (keys === undefined) values.set(value, new Set([key]));
        else keys.add(key);
      }
    }
  }

  #unindex(key: string, object: T): void {
    for (const [name, values] of this.#indices) {
      for (const value of this.#options.indexers?.[name]?.(object) ?? []) {
        const keys = values.get(value);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(value);
      }
    }
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#logger.error('an informer handler failed', { resource: this.gvr.resource, error });
    }
  }
}

function parse<T>(bytes: Uint8Array, start: number, end: number): T {
  return parseExactJson(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')) as T;
}
