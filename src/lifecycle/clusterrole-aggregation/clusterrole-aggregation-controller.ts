import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { Service } from '../../base/service.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { aggregateRules, aggregates } from './aggregated-rules.ts';

const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };
const FIELD_MANAGER = 'clusterrole-aggregation-controller';
const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };

/** Keeps the rules of aggregated ClusterRoles up to date (API-375): `admin`, `edit`, `view`, and those of users. */
export class ClusterRoleAggregationController implements Service {
  readonly #context: ControllerContext;
  readonly #roles: Informer;

  constructor(context: ControllerContext) {
    const { client, clock, random, logger } = context;
    this.#context = context;
    this.#roles = new Informer({ client, clock, random, logger, gvr: CLUSTER_ROLES });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics } = this.#context;
    const loop = new ReconcileLoop({
      name: 'ClusterRoleAggregator',
      clock,
      logger,
      metrics,
      caches: [this.#roles],
      workers: WORKERS,
      sync: (name, stop) => this.#sync(name, stop),
    });
    // Triggers all aggregating roles after any change, because the changed role may be, or may have been, a part of each; there are few of
    // them.
    const look = (): void => {
      for (const role of this.#roles.list()) if (aggregates(role)) loop.trigger(role.metadata?.name ?? '');
    };
    this.#roles.addHandler({ added: look, updated: look, deleted: look });
    await loop.run(signal);
  }

  async #sync(name: string, signal: AbortSignal): Promise<SyncOutcome> {
    const role = this.#roles.get(name);
    const decision = aggregateRules(role, this.#roles.list());
    if (role === undefined || decision.verdict === 'nothing') return SETTLED;
    const { client, logger } = this.#context;
    const { uid, resourceVersion } = role.metadata ?? {};
    const body = {
      apiVersion: `${CLUSTER_ROLES.group}/${CLUSTER_ROLES.version}`,
      kind: 'ClusterRole',
      // The version on which the decision rests, so that the server refuses an outdated write.
      metadata: { name, uid, resourceVersion },
      rules: decision.rules,
    };
    try {
      await client.patch(
        { gvr: CLUSTER_ROLES, name },
        { type: 'application/apply-patch+yaml', body },
        { query: { fieldManager: FIELD_MANAGER, force: true }, signal },
      );
      logger.debug('aggregated', { name, rules: decision.rules.length });
      return SETTLED;
    } catch (error) {
      // The event of its deletion follows.
      if (isObjectNotFound(error, name)) return SETTLED;
      if (isConflict(error)) return { next: 'back-off' };
      throw error;
    }
  }
}
