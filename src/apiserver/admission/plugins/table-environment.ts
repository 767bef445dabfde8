import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Store } from '../../storage/interface.ts';

/** What plug-ins need that know all objects of a resource. */
export interface TableEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}
