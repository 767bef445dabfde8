import fc from 'fast-check';

/**
 * Property tests run on the same inputs each time, so that a red run is about the change. `KUBEGC_SEED=random npm test`
 * explores; `KUBEGC_SEED=<number>` repeats what it found.
 */
const asked = process.env['KUBEGC_SEED'];
if (asked !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked ?? 20_261_121) });
