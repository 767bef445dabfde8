declare const brand: unique symbol;

/**
 * A time between two outages, counted from the start of the process. An absence that a read proves counts from the epoch in which that read
 * began: a server that was away may be an older one when it answers again.
 */
export type Epoch = number & { readonly [brand]: 'Epoch' };

export const FIRST_EPOCH = 0 as Epoch;

export function nextEpoch(epoch: Epoch): Epoch {
  return (epoch + 1) as Epoch;
}
