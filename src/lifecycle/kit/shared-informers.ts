import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { Informer, type InformerHandler } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ControllerContext } from './object-per-namespace.ts';
import type { Cache } from './reconcile-loop.ts';

/** An index of every shared cache: the objects of a namespace. */
export const BY_NAMESPACE = 'namespace';
/** An index of every shared cache: the objects whose controller reference has this uid, or {@link orphansOf} a namespace. */
export const BY_CONTROLLER = 'controller';
/** The value of {@link BY_CONTROLLER} for a namespace's objects without a controller. No uid contains a slash. */
export const orphansOf = (namespace: string): string => `${namespace}/`;
/** An index of pods: those with this `spec.nodeName`. */
export const BY_NODE = 'node';

/** The options of a controller that reads shared caches. */
export interface SharedContext extends ControllerContext {
  readonly informers: SharedInformers;
}

interface SharedInformersOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The lifetime of all caches. */
  readonly signal: AbortSignal;
}

/** One cache and one watch for each resource, whatever the number of readers. A resource without readers has no cache. */
export class SharedInformers {
  readonly #options: SharedInformersOptions;
  readonly #caches = new Map<string, SharedCache>();
  readonly #running: Promise<void>[] = [];

  constructor(options: SharedInformersOptions) {
    this.#options = options;
  }

  /** The cache of a resource, or of one namespace of it. It runs from the first call on. */
  of<T extends KubeObject = KubeObject>(gvr: GroupVersionResource, namespace?: string): SharedCache<T> {
    const id = `${gvr.group}/${gvr.version}/${gvr.resource}/${namespace ?? ''}`;
    let cache = this.#caches.get(id);
    if (cache === undefined) {
      const { client, clock, random, logger, signal } = this.#options;
      const informer = new Informer({
        client,
        clock,
        random,
        logger,
        gvr,
        indexers,
        ...(namespace === undefined ? {} : { namespace }),
      });
      cache = new SharedCache(informer);
      this.#caches.set(id, cache);
      this.#running.push(informer.run(signal));
    }
    return cache as unknown as SharedCache<T>;
  }

  /** Resolves when the signal is aborted and no cache runs. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** A view of a cache that several controllers read. It ends with the {@link SharedInformers}, not with its reader. */
export class SharedCache<T extends KubeObject = KubeObject> implements Cache {
  readonly #informer: Informer<T>;

  constructor(informer: Informer<T>) {
    this.#informer = informer;
  }

  get gvr(): GroupVersionResource {
    return this.#informer.gvr;
  }

  get hasSynced(): boolean {
    return this.#informer.hasSynced;
  }

  get size(): number {
    return this.#informer.size;
  }

  /** All changes up to this resource version have been seen; empty before the first list. */
  get resourceVersion(): string {
    return this.#informer.resourceVersion;
  }

  /** The cache already runs; resolves when the reader's signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    return this.#informer.waitForSync(signal);
  }

  addHandler(handler: InformerHandler<T>): () => void {
    return this.#informer.addHandler(handler);
  }

  get(key: string): T | undefined {
    return this.#informer.get(key);
  }

  list(): T[] {
    return this.#informer.list();
  }

  byIndex(index: string, value: string): T[] {
    return this.#informer.byIndex(index, value);
  }
}

const indexers: Readonly<Record<string, (object: KubeObject) => readonly string[]>> = {
  [BY_NAMESPACE]: ({ metadata }) => [metadata?.namespace ?? ''],
  [BY_CONTROLLER]: ({ metadata }) => [
    metadata?.ownerReferences?.find((owner) => owner.controller)?.uid ?? orphansOf(metadata?.namespace ?? ''),
  ],
  [BY_NODE]: (object) => {
    const nodeName = (object['spec'] as { nodeName?: string } | undefined)?.nodeName ?? '';
    return nodeName === '' ? [] : [nodeName];
  },
};
