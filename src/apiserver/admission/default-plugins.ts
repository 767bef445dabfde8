import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Store } from '../storage/interface.ts';
import type { AdmissionPlugin } from './admission-chain.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';

/** What a plug-in can be made of. */
export interface PluginEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authorizer: Authorizer;
}

/** The plug-ins of this server, in the order of API-340; a new one is a row at its place. */
const factories: readonly ((environment: PluginEnvironment) => AdmissionPlugin)[] = [
  ({ store }) => new NamespaceLifecycle(store),
];

export function defaultPlugins(environment: PluginEnvironment): AdmissionPlugin[] {
  return factories.map((make) => make(environment));
}
