import { deepEqual } from '../../../base/collections/deep-equal.ts';
import { metadataOf } from '../object/object-meta.ts';
import type { Strategy } from '../strategy.ts';

/** A label names the service of the endpoints, so changes of labels also raise the generation. */
export const endpointSliceStrategy: Strategy = {
  prepareForUpdate(next, previous) {
    if (deepEqual(next.metadata?.labels ?? {}, previous.metadata?.labels ?? {})) return;
    metadataOf(next).generation = (previous.metadata?.generation ?? 0) + 1;
  },
};
