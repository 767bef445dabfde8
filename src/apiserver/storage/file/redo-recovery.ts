import { RECORD_ALIGNMENT, readRedoRecord } from './redo-record.ts';
import type { RedoRecord } from './redo-record.ts';

export interface LocatedRecord {
  /** Its start in its log. */
  readonly offset: number;
  readonly record: RedoRecord;
}

/** The contents of a pair of redo logs after any kind of stop. */
export interface RedoRecovery {
  /** For each log, the records that the table lacks, in order. */
  readonly pending: readonly [readonly LocatedRecord[], readonly LocatedRecord[]];
  /** The log and the offset of the next record. */
  readonly current: 0 | 1;
  readonly offset: number;
  /** The number of the newest record, or that of the table. */
  readonly sequence: number;
}

/** A log is damaged if a stop in the middle of a write cannot explain its content. */
export class RedoDamagedError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'RedoDamagedError';
  }
}

interface Chain {
  readonly records: readonly LocatedRecord[];
  /** The position after the last record that continues the sequence. */
  readonly end: number;
}

/**
 * Reads the logs of one store, of which the table has all records up to `applied`.
 *
 * One record is written at a time, so a stop leaves at most one incomplete record, and none behind it. That one was never acknowledged and
 * counts as not written. All records above `applied` must exist without a gap, because a log is overwritten only when the table has all its
 * records. Throws {@link RedoDamagedError} otherwise.
 */
export function recoverRedo(logs: readonly [Buffer, Buffer], id: Uint8Array, applied: number): RedoRecovery {
  const chains = [readChain(logs[0], id), readChain(logs[1], id)] as const;
  const pending = [unapplied(chains[0], applied), unapplied(chains[1], applied)] as const;
  const lasts = [lastSequence(pending[0]), lastSequence(pending[1])] as const;
  const current = lasts[1] > lasts[0] ? 1 : 0;
  const all = [...pending[1 - current]!, ...pending[current]];
  let sequence = applied;
  for (const { record } of all) {
    if (record.sequence !== ++sequence) throw new RedoDamagedError(`commit ${sequence} is missing`);
  }
  for (const i of [0, 1] as const) {
    const lost = unreachable(logs[i], id, chains[i].end, sequence);
    if (lost !== undefined) throw new RedoDamagedError(`redo-${i}.log is wrong in front of commit ${lost}`);
  }
  return { pending, current, offset: all.length === 0 ? 0 : chains[current].end, sequence };
}

function readChain(log: Buffer, id: Uint8Array): Chain {
  const records: LocatedRecord[] = [];
  let end = 0;
  for (;;) {
    const found = readRedoRecord(log, end, id);
    const last = records.at(-1)?.record;
    // Behind the newest record are old records of the log, with lower numbers.
    if (found === undefined || (last !== undefined && found.record.sequence !== last.sequence + 1)) break;
    records.push({ offset: end, record: found.record });
    end = found.next;
  }
  return { records, end };
}

function unapplied({ records }: Chain, applied: number): LocatedRecord[] {
  return records.filter(({ record }) => record.sequence > applied);
}

function lastSequence(records: readonly LocatedRecord[]): number {
  return records.at(-1)?.record.sequence ?? 0;
}

/** A record that is newer than all that were read, behind one that could not be read. */
function unreachable(log: Buffer, id: Uint8Array, from: number, newest: number): number | undefined {
  for (let offset = from; offset < log.length; offset += RECORD_ALIGNMENT) {
    const found = readRedoRecord(log, offset, id);
    if (found !== undefined && found.record.sequence > newest) return found.record.sequence;
  }
  return undefined;
}
