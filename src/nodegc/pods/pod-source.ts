import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { type KnownPod, knownPod, type PodObject } from './pod-verdicts.ts';

export interface PodSourceOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly nodeName: string;
}

/** The pods of one node, watched at the API server. While the API server is away, the last known pods count (NODE-100). */
export class PodSource implements Service {
  readonly #informer: Informer;
  readonly #pods = new Map<string, KnownPod>();

  constructor({ client, clock, random, logger, nodeName }: PodSourceOptions) {
    this.#informer = new Informer({
      client,
      clock,
      random,
      logger,
      gvr: { group: '', version: 'v1', resource: 'pods' },
      fieldSelector: `spec.nodeName=${nodeName}`,
    });
    const set = (object: object): void => {
      const pod = knownPod(object as PodObject);
      if (pod !== undefined) this.#pods.set(pod.uid, pod);
    };
    this.#informer.addHandler({
      added: set,
      updated: (_, object) => set(object),
      deleted: (object) => {
        const pod = knownPod(object as PodObject);
        if (pod !== undefined) this.#pods.delete(pod.uid);
      },
    });
  }

  /** Undefined until the first complete list. */
  get pods(): readonly KnownPod[] | undefined {
    return this.#informer.hasSynced ? [...this.#pods.values()] : undefined;
  }

  /** Resolves once the first list is complete; rejects with an AbortError when `signal` is aborted before. */
  waitForSync(signal: AbortSignal): Promise<void> {
    return this.#informer.waitForSync(signal);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }
}
