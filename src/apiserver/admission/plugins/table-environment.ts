import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Store } from '../../storage/interface.ts';

/** The dependencies of plug-ins that cache all objects of a resource. */
export interface TableEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}
