import type { GarbageCollectorOptions } from '../../collector/garbage-collector-options.ts';
import { given } from '../../lifecycle/assembly/controller-entry.ts';
import { durationOf } from './duration-flag.ts';

/** Values of the command line, as a person typed them. */
export interface OrphanTimeFlags {
  readonly orphanTombstoneTtl?: string;
  readonly orphanBarrierTimeout?: string;
}

const HOUR_MS = 3_600_000;
/** A record has at least the time that API servers keep Events for. */
const TOMBSTONE = { least: HOUR_MS, most: 365 * 24 * HOUR_MS };
const BARRIER = { least: 100, most: 60_000 };

/** The flags of what the collector remembers of an orphaned owner and waits for, in commander's notation. */
export const orphanTimeOptions = [
  {
    key: 'orphanTombstoneTtl',
    flags: '--orphan-tombstone-ttl <DURATION>',
    description: 'time that an owner deleted with policy Orphan is remembered, at least 1h (default: 1h)',
  },
  {
    key: 'orphanBarrierTimeout',
    flags: '--orphan-barrier-timeout <DURATION>',
    description: 'maximum time that an orphaned owner waits for the search for late dependents (default: 2s)',
  },
] as const satisfies readonly { readonly key: keyof OrphanTimeFlags; readonly [part: string]: string }[];

/** Throws a CommandError that names the flag. */
export function orphanTimesOf({
  orphanTombstoneTtl: ttl,
  orphanBarrierTimeout: timeout,
}: OrphanTimeFlags): Pick<GarbageCollectorOptions, 'orphanRecordLifetimeMs' | 'orphanBarrierTimeoutMs'> {
  return given({
    orphanRecordLifetimeMs: ttl === undefined ? undefined : durationOf('--orphan-tombstone-ttl', ttl, TOMBSTONE),
    orphanBarrierTimeoutMs:
      timeout === undefined ? undefined : durationOf('--orphan-barrier-timeout', timeout, BARRIER),
  });
}
