/** Protects an object and its dependents from deletion; the value is the reason. */
export const PROTECT = 'kubegc.io/protect';
