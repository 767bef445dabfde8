import type { KubeObject } from '../../api/meta/object-meta.ts';
import { volumeAttributesClasses } from '../../api/quota/scopes.ts';
import type { Service } from '../../base/service.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import { CLASS_FINALIZER, classesOfVolume, classUse, decideProtection } from './protection-reconcile.ts';

const CLASSES = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' };
const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' };
const SETTLED: SyncOutcome = { next: 'settled' };
/** A user that only a live read showed may go without an event, so the class is then processed again. */
const ONLY_LIVE: SyncOutcome = { next: 'later', afterMs: 15_000 };

type Use = 'used' | 'usedOnlyLive' | 'unused';

/** Keeps VolumeAttributesClasses that a claim or a volume names (`volumeattributesclass-protection-controller`, LIFE-157). */
export class ClassProtectionController implements Service {
  readonly #context: SharedContext;
  readonly #classes: SharedCache;
  readonly #claims: SharedCache;
  readonly #volumes: SharedCache;

  constructor(context: SharedContext) {
    this.#context = context;
    this.#classes = context.informers.of(CLASSES);
    this.#claims = context.informers.of(CLAIMS);
    this.#volumes = context.informers.of(VOLUMES);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics } = this.#context;
    const loop = new ReconcileLoop({
      name: 'vacprotection',
      clock,
      logger,
      metrics,
      caches: [this.#classes, this.#claims, this.#volumes],
      workers: 1,
      sync: (name, stop) => this.#sync(name, stop),
    });
    const changed = ({ metadata }: KubeObject): void => loop.trigger(metadata?.name ?? '');
    /** Triggers the classes that lost a user. */
    const left = (before: readonly string[], now: readonly string[] = []): void => {
      for (const name of before) if (!now.includes(name)) loop.trigger(name);
    };
    const stops = [
      this.#classes.addHandler({ added: changed, updated: (_, object) => changed(object) }),
      this.#claims.addHandler({
        updated: (before, claim) => left(volumeAttributesClasses(before), volumeAttributesClasses(claim)),
        deleted: (before) => left(volumeAttributesClasses(before)),
      }),
      this.#volumes.addHandler({
        updated: (before, volume) => left(classesOfVolume(before), classesOfVolume(volume)),
        deleted: (before) => left(classesOfVolume(before)),
      }),
    ];
    await loop.run(signal);
    for (const stop of stops) stop();
  }

  async #sync(name: string, signal: AbortSignal): Promise<SyncOutcome> {
    const object = this.#classes.get(name);
    let decision = decideProtection(object, CLASS_FINALIZER, 'unknown');
    let use: Use | undefined;
    if (decision.verdict === 'look') {
      use = await this.#use(name, signal);
      decision = decideProtection(object, CLASS_FINALIZER, use === 'unused' ? 'unused' : 'used');
    }
    // A class in use is processed again when a user changes.
    if (decision.verdict !== 'update') return use === 'usedOnlyLive' ? ONLY_LIVE : SETTLED;
    const { client, logger } = this.#context;
    const result = await updateExactly(client, { gvr: CLASSES, object: decision.object, signal });
    if (result === 'changed') return { next: 'back-off' };
    logger.debug('protection of a VolumeAttributesClass', { name, reason: decision.reason });
    return SETTLED;
  }

  /** The caches may be stale, so the server is asked before a class counts as unused. If it does not answer, the class stays. */
  async #use(name: string, signal: AbortSignal): Promise<Use> {
    const cached = { claims: this.#claims.list(), volumes: this.#volumes.list() };
    if (classUse(name, cached) === 'used') return 'used';
    const { client } = this.#context;
    const [claims, volumes] = await Promise.all(
      [CLAIMS, VOLUMES].map((gvr) => client.list<KubeObject>({ gvr }, { signal })),
    );
    const live = { claims: claims?.items ?? [], volumes: volumes?.items ?? [] };
    return classUse(name, live) === 'used' ? 'usedOnlyLive' : 'unused';
  }
}
