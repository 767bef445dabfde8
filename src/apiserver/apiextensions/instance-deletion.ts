import { deleteCollection } from '../registry/delete-collection.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { Selection } from '../registry/selection.ts';
import type { WriteContext } from '../registry/strategy.ts';
import type { StoreWatch } from '../storage/interface.ts';

export interface InstanceDeletionOptions {
  readonly resource: ResourceStore;
  /** Called when no object is left. */
  onDone(): void;
  /** Called after a failure; objects may be left. */
  onFailed(error: unknown): void;
}

/**
 * Deletes all objects of a definition, and waits until those with finalizers are gone (API-456). No new ones are created meanwhile; an
 * object that was created at the last moment is deleted as well. It follows events of the store and does not poll.
 */
export class InstanceDeletion {
  readonly #options: InstanceDeletionOptions;
  #watch: StoreWatch | undefined;
  #state: 'new' | 'looking' | 'waiting' | 'done' | 'stopped' = 'new';
  /** The changes since the last check. */
  #news: 'none' | 'removed' | 'created' = 'none';

  constructor(options: InstanceDeletionOptions) {
    this.#options = options;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'looking';
    this.#run().catch((error: unknown) => this.#fail(error));
  }

  stop(): void {
    this.#watch?.cancel();
    if (this.#state !== 'done') this.#state = 'stopped';
  }

  async #run(): Promise<void> {
    const { resource } = this.#options;
    const { store } = resource.environment;
    const prefix = resource.prefix('');
    const revision = await store.currentRevision();
    if (this.#state === 'stopped') return;
    this.#watch = await store.watch(prefix, {
      startRevision: revision + 1,
      onEvents: (events) => {
        for (const { type, previous } of events) {
          if (type === 'PUT' && previous === undefined) this.#news = 'created';
          else if (type === 'DELETE' && this.#news === 'none') this.#news = 'removed';
        }
        if (this.#news !== 'none' && this.#state === 'waiting') this.#look();
      },
      onClose: (error) => this.#fail(error ?? new Error('the store was closed')),
    });
    if (this.#isStopped()) this.#watch.cancel();
    else await this.#deleteAll();
  }

  #isStopped(): boolean {
    return this.#state === 'stopped';
  }

  async #deleteAll(): Promise<void> {
    const { resource } = this.#options;
    this.#news = 'none';
    await deleteCollection(resource, {
      selection: new Selection(resource, '', { labelSelector: '', fieldSelector: '' }),
      limit: 0,
      continueToken: '',
      options: {},
      context: this.#context(),
    });
    await this.#finishIfEmpty();
  }

  async #finishIfEmpty(): Promise<void> {
    const { resource, onDone } = this.#options;
    const { items } = await resource.environment.store.list(resource.prefix(''), { limit: 1 });
    if (this.#isStopped()) return;
    if (items.length === 0) {
      this.#state = 'done';
      this.#watch?.cancel();
      onDone();
      return;
    }
    this.#state = 'waiting';
    if (this.#news !== 'none') this.#look();
  }

  #look(): void {
    this.#state = 'looking';
    const created = this.#news === 'created';
    this.#news = 'none';
    const look = created ? this.#deleteAll() : this.#finishIfEmpty();
    look.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (this.#state === 'stopped' || this.#state === 'done') return;
    this.stop();
    this.#options.onFailed(error);
  }

  #context(): WriteContext {
    return {
      user: { username: 'system:apiserver', groups: ['system:masters'] },
      dryRun: false,
      // Deletes without admission, like upstream's finalizer, because an object must not outlive its definition.
      admission: 'skipped',
      warn: () => undefined,
      expired: () => this.#isStopped(),
    };
  }
}
