import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** A full collection, now: for tests that measure what is left. */
export const collectGarbage = runInNewContext('gc') as () => void;
