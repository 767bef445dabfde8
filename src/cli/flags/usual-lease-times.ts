import type { LeaseTimeFlags } from './lease-times.ts';

/** What the flags of a leader election say unless given, as those of kube-controller-manager. */
export const usualLeaseTimes: LeaseTimeFlags = {
  leaderElectLeaseDuration: '15s',
  leaderElectRenewDeadline: '10s',
  leaderElectRetryPeriod: '2s',
};
