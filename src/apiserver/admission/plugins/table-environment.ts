import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Store } from '../../storage/interface.ts';

/** What plug-ins need that know all objects of a resource. */
export interface TableEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}
