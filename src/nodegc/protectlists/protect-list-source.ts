import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ProtectPattern } from '../patterns/protect-pattern.ts';
import { PROTECT_LIST_LABEL, type ProtectListObject, readProtectList } from './protect-list.ts';

export interface ProtectListSourceOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The namespace of the ConfigMaps. Everybody who may write there decides which images stay. */
  readonly namespace: string;
  readonly nodeName: string;
}

/**
 * Protect lists in ConfigMaps of one namespace, watched at the API server. While the API server is away, the last known lists hold
 * (NODE-212).
 */
export class ProtectListSource implements Service {
  readonly #lists: Informer;
  readonly #node: Informer;
  readonly #nodeName: string;
  readonly #logger: Logger;
  #patterns: readonly ProtectPattern[] | undefined;
  #faults = '';

  constructor({ client, clock, random, logger, namespace, nodeName }: ProtectListSourceOptions) {
    const common = { client, clock, random, logger };
    this.#logger = logger;
    this.#nodeName = nodeName;
    this.#lists = new Informer({
      ...common,
      gvr: { group: '', version: 'v1', resource: 'configmaps' },
      namespace,
      labelSelector: PROTECT_LIST_LABEL,
    });
    this.#node = new Informer({
      ...common,
      gvr: { group: '', version: 'v1', resource: 'nodes' },
      fieldSelector: `metadata.name=${nodeName}`,
    });
    const changed = (): void => void (this.#patterns = undefined);
    for (const each of [this.#lists, this.#node]) {
      each.addHandler({ added: changed, updated: changed, deleted: changed });
    }
  }

  /** Undefined until the lists and the labels of this node are known. No image may be removed before. */
  get patterns(): readonly ProtectPattern[] | undefined {
    if (!this.#lists.hasSynced || !this.#node.hasSynced) return undefined;
    return (this.#patterns ??= this.#read());
  }

  /** Resolves once lists and labels are known; rejects with an AbortError when `signal` is aborted before. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#lists.waitForSync(signal), this.#node.waitForSync(signal)]);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#lists.run(signal), this.#node.run(signal)]);
  }

  #read(): readonly ProtectPattern[] {
    const node = this.#node.get(this.#nodeName);
    const labels = node && (node.metadata?.labels ?? {});
    const lists = this.#lists.list().map((each) => readProtectList(each as ProtectListObject, labels));
    const faults = lists.flatMap(({ fault }) => fault ?? []).join('; ');
    if (faults !== '' && faults !== this.#faults) this.#logger.warn('unable to read all of a protect list', { faults });
    this.#faults = faults;
    return lists.flatMap(({ patterns }) => patterns);
  }
}
