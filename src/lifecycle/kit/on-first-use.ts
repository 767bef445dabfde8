import { setMaxListeners } from 'node:events';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { abortErrorOf, isAbortError } from '../../base/time/abort-error.ts';
import type { Service } from '../../base/service.ts';
import type { ControllerContext } from './object-per-namespace.ts';
import { type SharedContext, SharedInformers } from './shared-informers.ts';

/** A resource whose first object starts a controller. */
export interface WakingResource {
  readonly gvr: GroupVersionResource;
  /** Counts only objects of this namespace. */
  readonly namespace?: string;
  /** Counts only objects that satisfied this when they were first seen. */
  readonly when?: (object: KubeObject) => boolean;
}

/** A controller that is loaded when the first object of its kinds appears. */
export interface OnDemandController {
  /** kube-controller-manager's name. */
  readonly name: string;
  /** One object of any of these starts the controller. If empty, it starts immediately. */
  readonly wakes: readonly WakingResource[];
  load(context: SharedContext): Promise<Service>;
}

export interface OnFirstUseOptions extends ControllerContext {
  readonly controllers: readonly OnDemandController[];
  /** The client, randomness and log of one controller; shared caches have those of the options. */
  readonly contextOf: (name: string) => ControllerContext;
  /** Wraps the loading of a module, for callers that track it. */
  readonly loading?: <T>(load: () => Promise<T>) => Promise<T>;
}

/**
 * Starts controllers when they are first needed (designs/0020-controllers-start-with-their-kind.md). Invariant: a kind without objects
 * costs one watch, and the code of its controllers is not loaded.
 */
export class OnFirstUse implements Service {
  readonly #options: OnFirstUseOptions;
  /** Resolves when the load that was begun last has succeeded or failed. */
  #loaded: Promise<unknown> = Promise.resolve();

  constructor(options: OnFirstUseOptions) {
    this.#options = options;
  }

  /** Rejects with the error if a controller cannot be loaded. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, controllers } = this.#options;
    // Each controller and each cache adds one or two listeners.
    setMaxListeners(0, signal);
    const informers = new SharedInformers({ client, clock, random, logger, signal });
    await Promise.all(controllers.map((controller) => this.#runOne(controller, informers, signal)));
    await informers.ended();
  }

  async #runOne(controller: OnDemandController, informers: SharedInformers, signal: AbortSignal): Promise<void> {
    try {
      await firstObject(controller.wakes, informers, signal);
    } catch (error) {
      if (isAbortError(error)) return;
      throw error;
    }
    const service = await this.#load(controller, informers);
    if (!signal.aborted) await service.run(signal);
  }

  /** Loads one controller at a time: test runners that link modules themselves (Jest) fail on two that import the same module. */
  #load(controller: OnDemandController, informers: SharedInformers): Promise<Service> {
    const { contextOf, loading = (load) => load() } = this.#options;
    const before = this.#loaded;
    const loaded = loading(async () => {
      await before;
      return controller.load({ ...contextOf(controller.name), informers });
    });
    this.#loaded = loaded.catch(() => undefined);
    return loaded;
  }
}

/** Resolves when there is an object. Rejects with an AbortError if the signal is aborted first. */
async function firstObject(
  wakes: readonly WakingResource[],
  informers: SharedInformers,
  signal: AbortSignal,
): Promise<void> {
  if (wakes.length === 0) return;
  const removals: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => reject(abortErrorOf(signal));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      removals.push(() => signal.removeEventListener('abort', onAbort));
      for (const { gvr, namespace, when = () => true } of wakes) {
        removals.push(
          informers.of(gvr, namespace).addHandler({
            added: (object) => {
              if (when(object)) resolve();
            },
          }),
        );
      }
    });
  } finally {
    for (const remove of removals) remove();
  }
}
