import type { LeaseTimeFlags } from './lease-times.ts';

/** The defaults of the flags of a leader election, as those of kube-controller-manager. */
export const usualLeaseTimes: LeaseTimeFlags = {
  leaderElectLeaseDuration: '15s',
  leaderElectRenewDeadline: '10s',
  leaderElectRetryPeriod: '2s',
};
