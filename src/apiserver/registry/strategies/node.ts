import type { Strategy } from '../strategy.ts';

/** A kubelet registers its node together with the status. */
export const nodeStrategy: Strategy = { statusOnCreate: 'kept' };
