import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import { isPodFinished, type Pod, PODS } from '../pods/pod-object.ts';
import { claimNamesOf } from '../volume-protection/claim-users.ts';
import { type Claim, decideUnused, decideUnusedDeletion, isClaimUsed } from './unused-claims-reconcile.ts';

const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const CLASSES: GroupVersionResource = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };
const CONTROLLER = 'persistentvolumeclaim-protection-controller';
const SETTLED: SyncOutcome = { next: 'settled' };
const ONLY_LIVE: SyncOutcome = { next: 'later', afterMs: 15_000 };

export interface UnusedClaimsOptions extends SharedContext {
  /** `report` writes only the condition; `delete` also deletes claims that are unused for their time. */
  readonly mode: 'report' | 'delete';
}

/**
 * Writes the condition `Unused` of claims (LIFE-156), and by option deletes those that are unused for long (LIFE-823). It is part of
 * `persistentvolumeclaim-protection-controller`, as in kube-controller-manager.
 */
export class UnusedClaimsController implements Service {
  readonly #options: UnusedClaimsOptions;
  readonly #claims: SharedCache<Claim>;
  readonly #pods: SharedCache<Pod>;
  /** Only in mode `delete`. */
  readonly #classes: SharedCache | undefined;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(options: UnusedClaimsOptions) {
    const { clock, logger, metrics, informers, mode } = options;
    this.#options = options;
    this.#claims = informers.of<Claim>(CLAIMS);
    this.#pods = informers.of<Pod>(PODS);
    this.#classes = mode === 'delete' ? informers.of(CLASSES) : undefined;
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'unused_claims',
      clock,
      logger,
      metrics,
      caches: [this.#claims, this.#pods, ...(this.#classes === undefined ? [] : [this.#classes])],
      workers: 1,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const claimChanged = (claim: KubeObject): void => this.#loop.trigger(keyOf(claim));
    const podChanged = (pod: Pod): void => {
      for (const name of claimNamesOf(pod)) this.#loop.trigger(`${pod.metadata?.namespace ?? ''}/${name}`);
    };
    const classChanged = ({ metadata }: KubeObject): void => {
      for (const claim of this.#claims.list()) {
        if (claim.spec?.storageClassName === metadata?.name) claimChanged(claim);
      }
    };
    const stops = [
      this.#claims.addHandler({ added: claimChanged, updated: (_, claim) => claimChanged(claim) }),
      this.#pods.addHandler({
        added: podChanged,
        updated: (before, pod) => {
          if (before.metadata?.uid !== pod.metadata?.uid) podChanged(before);
          if (before.metadata?.uid !== pod.metadata?.uid || isPodFinished(before) !== isPodFinished(pod))
            podChanged(pod);
        },
        deleted: podChanged,
      }),
      ...(this.#classes === undefined
        ? []
        : [this.#classes.addHandler({ added: classChanged, updated: (_, object) => classChanged(object) })]),
    ];
    await this.#loop.run(signal);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock } = this.#options;
    const claim = this.#claims.get(key);
    if (claim === undefined) return SETTLED;
    const isUsed = isClaimUsed(claim, this.#pods.byIndex(BY_NAMESPACE, claim.metadata?.namespace ?? ''));
    const decision = decideUnused(claim, isUsed, clock.now());
    // The event of the write processes the claim again.
    if (decision.verdict === 'update') return this.#writeStatus(claim, decision.status, signal);
    if (this.#classes === undefined) return SETTLED;
    const facts = { storageClass: this.#classes.get(claim.spec?.storageClassName ?? ''), isUsed, now: clock.now() };
    const deletion = decideUnusedDeletion(claim, facts);
    if (deletion.verdict === 'wait') return { next: 'later', afterMs: deletion.untilMs - clock.now() };
    return deletion.verdict === 'delete' ? this.#delete(claim, signal) : SETTLED;
  }

  async #writeStatus(claim: Claim, status: object, signal: AbortSignal): Promise<SyncOutcome> {
    const update = { gvr: CLAIMS, object: { ...claim, status }, subresource: 'status', signal } as const;
    const result = await updateExactly(this.#options.client, update);
    return result === 'changed' ? { next: 'back-off' } : SETTLED;
  }

  /** Reads claim, class and pods live before the deletion, because a stale cache could lack a new pod or a changed annotation. */
  async #delete({ metadata }: Claim, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#options;
    const { namespace = '', name = '' } = metadata ?? {};
    const live = await this.#read<Claim>({ gvr: CLAIMS, namespace, name }, signal);
    if (live === undefined) return SETTLED;
    const { storageClassName = '' } = live.spec ?? {};
    const storageClass =
      storageClassName === '' ? undefined : await this.#read({ gvr: CLASSES, name: storageClassName }, signal);
    const { items } = await client.list<Pod>({ gvr: PODS, namespace }, { signal });
    const isUsed = isClaimUsed(live, items);
    const decision = decideUnusedDeletion(live, { storageClass, isUsed, now: clock.now() });
    // The cache is behind. A pod that it does not show may go without an event, so the claim is processed again.
    if (decision.verdict !== 'delete') return ONLY_LIVE;
    const result = await deleteExactly(client, { gvr: CLAIMS, object: live, reason: decision.reason, signal });
    this.#deletions.inc({ controller: CONTROLLER, resource: CLAIMS.resource, reason: decision.reason, result });
    logger.info('deleted an unused claim', { namespace, name, result });
    return result === 'changed' ? { next: 'back-off' } : SETTLED;
  }

  /** Undefined if there is no such object. */
  async #read<T extends KubeObject>(ref: ResourceRef, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#options.client.get<T>(ref, { signal });
    } catch (error) {
      if (isObjectNotFound(error, ref.name ?? '')) return undefined;
      throw error;
    }
  }
}
