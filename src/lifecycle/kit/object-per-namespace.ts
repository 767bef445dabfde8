import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { createIfAbsent } from './create-if-absent.ts';
import { ReconcileLoop, type SyncOutcome } from './reconcile-loop.ts';
import { updateExactly } from './update-exactly.ts';

/** Further options of a controller of this kind. */
export interface ControllerContext {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type ObjectDecision =
  | { readonly verdict: 'create' | 'update'; readonly object: KubeObject; readonly reason: string }
  | { readonly verdict: 'nothing'; readonly reason: string };

interface ObjectPerNamespaceOptions extends ControllerContext {
  /** The name of the queue in the metrics. */
  readonly name: string;
  /** Number of namespaces that are processed concurrently. */
  readonly workers: number;
  readonly gvr: GroupVersionResource;
  readonly objectName: string;
  /** Pure. In an `update`, the object keeps the uid and resource version of `existing`. */
  readonly decide: (namespace: KubeObject | undefined, existing: KubeObject | undefined) => ObjectDecision;
}

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' };
const SETTLED: SyncOutcome = { next: 'settled' };

/**
 * Keeps one object with a fixed name in every namespace, as a decision requires. It caches only namespaces and the objects of that name,
 * and sends no requests while all is right.
 */
export class ObjectPerNamespace implements Service {
  readonly #options: ObjectPerNamespaceOptions;

  constructor(options: ObjectPerNamespaceOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, metrics, name, workers, gvr, objectName, decide } = this.#options;
    const common = { client, clock, random, logger };
    const namespaces = new Informer({ ...common, gvr: NAMESPACES });
    const objects = new Informer({ ...common, gvr, fieldSelector: `metadata.name=${objectName}` });
    const loop = new ReconcileLoop({
      name,
      clock,
      logger,
      metrics,
      caches: [namespaces, objects],
      workers,
      sync: (namespace, stop) => {
        const decision = decide(namespaces.get(namespace), objects.get(`${namespace}/${objectName}`));
        return this.#perform(namespace, decision, stop);
      },
    });
    const namespaceChanged = ({ metadata }: KubeObject): void => loop.trigger(metadata?.name ?? '');
    const objectChanged = ({ metadata }: KubeObject): void => loop.trigger(metadata?.namespace ?? '');
    namespaces.addHandler({ added: namespaceChanged, updated: (_, namespace) => namespaceChanged(namespace) });
    objects.addHandler({
      added: objectChanged,
      updated: (_, object) => objectChanged(object),
      deleted: objectChanged,
    });
    await loop.run(signal);
  }

  async #perform(namespace: string, decision: ObjectDecision, signal: AbortSignal): Promise<SyncOutcome> {
    if (decision.verdict === 'nothing') return SETTLED;
    const { client, logger, gvr, objectName } = this.#options;
    const { verdict, object, reason } = decision;
    if (verdict === 'update') {
      const result = await updateExactly(client, { gvr, object, signal });
      return result === 'changed' ? { next: 'back-off' } : SETTLED;
    }
    const { outcome } = await createIfAbsent(client, { ref: { gvr, namespace }, object, options: { signal } });
    logger.debug('created', { namespace, name: objectName, reason, outcome });
    return SETTLED;
  }
}
