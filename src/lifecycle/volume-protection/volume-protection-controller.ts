import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { Service } from '../../base/service.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import { decideProtection, VOLUME_FINALIZER, volumeUse } from './protection-reconcile.ts';

const VOLUMES: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumes' };
const SETTLED: SyncOutcome = { next: 'settled' };

/** Keeps volumes that are bound, also when they are deleted (LIFE-150). */
export class VolumeProtectionController implements Service {
  readonly #context: ControllerContext;
  readonly #volumes: Informer;

  constructor(context: ControllerContext) {
    const { client, clock, random, logger } = context;
    this.#context = context;
    this.#volumes = new Informer({ client, clock, random, logger, gvr: VOLUMES });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics } = this.#context;
    const loop = new ReconcileLoop({
      name: 'pvprotection',
      clock,
      logger,
      metrics,
      caches: [this.#volumes],
      workers: 1,
      sync: (name, stop) => this.#sync(name, stop),
    });
    const look = (name = ''): void => loop.trigger(name);
    this.#volumes.addHandler({
      added: ({ metadata }) => look(metadata?.name),
      updated: (_, { metadata }) => look(metadata?.name),
    });
    await loop.run(signal);
  }

  async #sync(name: string, signal: AbortSignal): Promise<SyncOutcome> {
    const volume = this.#volumes.get(name);
    const decision = decideProtection(volume, VOLUME_FINALIZER, volumeUse(volume));
    // A bound volume is processed again when that changes.
    if (decision.verdict !== 'update') return SETTLED;
    const { client, logger } = this.#context;
    const result = await updateExactly(client, { gvr: VOLUMES, object: decision.object, signal });
    if (result === 'changed') return { next: 'back-off' };
    logger.debug('protection of a volume', { name, reason: decision.reason });
    return SETTLED;
  }
}
