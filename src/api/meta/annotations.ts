/** Protects an object and its dependents from deletion; the value is the reason. */
export const PROTECT = 'kubegc.io/protect';
/** On a bare pod: the seconds after which it is deleted once it is finished. */
export const POD_TTL = 'pod.kubegc.io/ttl-after-finished';
/** The mark of a node without a kubelet: its lease is written once, and node health ignores it (LIFE-183). */
export const SIMULATED = 'kubegc.io/simulated';
