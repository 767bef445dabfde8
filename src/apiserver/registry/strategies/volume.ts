import type { Strategy } from '../strategy.ts';

/** API-152: volumes and claims start unbound. */
export const pendingVolumeStrategy: Strategy = {
  prepareForCreate(object) {
    object['status'] = { phase: 'Pending' };
  },
};
