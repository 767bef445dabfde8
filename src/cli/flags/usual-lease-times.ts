import type { LeaseTimeFlags } from './lease-times.ts';

/** The defaults of the leader election flags, which are those of kube-controller-manager. */
export const usualLeaseTimes: LeaseTimeFlags = {
  leaderElectLeaseDuration: '15s',
  leaderElectRenewDeadline: '10s',
  leaderElectRetryPeriod: '2s',
};
