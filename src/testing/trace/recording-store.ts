import { parseExactJson } from '../../base/json/exact-json.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type {
  DeleteResult,
  ListOptions,
  Revision,
  Store,
  WatchOptions,
  WriteOptions,
  WriteResult,
} from '../../apiserver/storage/interface.ts';
import type { StoredContents } from '../../apiserver/storage/embedded/memory-store.ts';
import type { Activity } from '../activity/activity.ts';
import type { FormerKinds } from '../client/former-kinds.ts';
import type { Recorder } from './recorder.ts';

export interface RecordingStoreOptions {
  readonly store: Store;
  readonly recorder: Recorder;
  readonly activity: Activity;
  readonly formerKinds: FormerKinds;
  /** The objects that the store holds already. */
  readonly items?: StoredContents['items'] | undefined;
}

/** A store that reports every change to the recorder and to the table of kinds, in the context of the request that made it. */
export class RecordingStore implements Store {
  readonly #store: Store;
  readonly #recorder: Recorder;
  readonly #activity: Activity;
  readonly #formerKinds: FormerKinds;
  /** The value of each key, with the same bytes as in the store, so that a change can be compared with the value before it. */
  readonly #latest = new Map<string, Uint8Array>();

  constructor({ store, recorder, activity, formerKinds, items = [] }: RecordingStoreOptions) {
    for (const { key, value } of items) this.#latest.set(key, value);
    this.#store = store;
    this.#recorder = recorder;
    this.#activity = activity;
    this.#formerKinds = formerKinds;
  }

  get(key: string) {
    return this.#store.get(key);
  }

  list(prefix: string, options?: ListOptions) {
    return this.#store.list(prefix, options);
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.#written(await this.#store.create(key, value, options));
  }

  async update(key: string, value: Uint8Array, expected: Revision, options?: WriteOptions): Promise<WriteResult> {
    return this.#written(await this.#store.update(key, value, expected, options));
  }

  async delete(key: string, expected: Revision): Promise<DeleteResult> {
    const result = await this.#store.delete(key, expected);
    if (result.succeeded) {
      this.#latest.delete(key);
      this.#note({ previous: result.kv.value, next: undefined, revision: result.revision });
    }
    return result;
  }

  watch(prefix: string, options: WatchOptions) {
    return this.#store.watch(prefix, options);
  }

  currentRevision(): Promise<Revision> {
    return this.#store.currentRevision();
  }

  compact(revision: Revision): Promise<void> {
    return this.#store.compact(revision);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #written(result: WriteResult): WriteResult {
    if (result.succeeded) {
      const { key, value, modRevision } = result.kv;
      const previous = this.#latest.get(key);
      this.#latest.set(key, value);
      this.#note({ previous, next: value, revision: modRevision });
    }
    return result;
  }

  #note(change: { previous: Uint8Array | undefined; next: Uint8Array | undefined; revision: Revision }): void {
    this.#activity.noteChange();
    const previous = parse(change.previous);
    const next = parse(change.next);
    this.#formerKinds.note(previous, next);
    this.#recorder.write({ previous, next, revision: change.revision });
  }
}

/** Stored values are JSON (`storage/stored-object.ts`). */
function parse(value: Uint8Array | undefined): KubeObject | undefined {
  return (
    value && (parseExactJson(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as KubeObject)
  );
}
