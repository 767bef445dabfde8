import { mkdtemp, open, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../../base/logs/logger.ts';
import type { Journal } from '../embedded/journal.ts';
import { Change } from '../embedded/mvcc.ts';
import { RedoJournal, RedoLogs } from './redo-journal.ts';
import type { RedoTable } from './redo-journal.ts';
import { REDO_LOG_BYTES, makeRedoLogs } from './redo-log.ts';
import { RECORD_ALIGNMENT, STORE_ID_BYTES } from './redo-record.ts';
import type { RedoRecord } from './redo-record.ts';
import { StoreCorruptedError, StoreDirectoryError, StoreFullError } from '../store-errors.ts';

const id = Buffer.alloc(STORE_ID_BYTES, 'store');
const logNames = ['redo-0.log', 'redo-1.log'] as const;

/** A copy of a record, because the journal may write over its buffer. */
interface Copied {
  readonly sequence: number;
  readonly compacted: number;
  readonly forget: readonly number[];
  readonly entries: readonly string[];
}

function copied({ sequence, compacted, forget, entries }: RedoRecord): Copied {
  return {
    sequence,
    compacted,
    forget: [...forget],
    entries: entries.map(({ revision, bytes }) => `${revision} ${bytes.toString('latin1')}`),
  };
}

/** A table in memory. Its disk takes the time that a test gives it. */
class SlowTable implements RedoTable {
  records: Copied[];
  /** Each call waits for the gate that was set when it came. */
  gate: Promise<void> = Promise.resolve();
  /** The gate of a call, by the number of its first record. */
  gateOf: (sequence: number) => Promise<void> = () => this.gate;
  #busy = false;

  constructor(records: readonly Copied[] = []) {
    this.records = [...records];
  }

  get applied(): number {
    return this.records.at(-1)?.sequence ?? 0;
  }

  async apply(records: readonly RedoRecord[]): Promise<void> {
    expect(this.#busy, 'one call at a time').toBe(false);
    this.#busy = true;
    try {
      await this.gateOf(records[0]!.sequence);
      // Reads the bytes after the wait, because a thread of Node.js reads them.
      this.records.push(...records.map(copied));
    } finally {
      this.#busy = false;
    }
  }

  discarded = 0;

  async discard(): Promise<void> {
    expect(this.#busy).toBe(false);
    this.discarded++;
  }

  async close(): Promise<void> {
    expect(this.#busy).toBe(false);
  }
}

/** Promise.withResolvers, which Node 20 does not have. */
function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

const put = (revision: number, bytes: number): Change =>
  new Change({
    key: `/registry/${revision}`,
    value: Buffer.alloc(bytes, `${revision}.`),
    createRevision: revision,
    modRevision: revision,
  });

let directory: string;
const emptyLogs = (): Promise<void> => makeRedoLogs([join(directory, logNames[0]), join(directory, logNames[1])]);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubegc-redo-'));
  await emptyLogs();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

interface Life {
  readonly redo: RedoLogs;
  readonly journal: Journal;
  /** All entries after the start, in order. */
  readonly found: readonly Copied[];
}

async function start(table: SlowTable, from = directory, logger: Logger = silentLogger): Promise<Life> {
  const redo = await RedoLogs.open(from, { id, applied: table.applied });
  const found = [...table.records, ...redo.pending.map(copied)];
  return { redo, found, journal: redo.journal(table, { compacted: found.at(-1)?.compacted ?? 0, logger }) };
}

const images = (): Promise<[Buffer, Buffer]> =>
  Promise.all([readFile(join(directory, logNames[0])), readFile(join(directory, logNames[1]))]);

/** Sectors in which two images of a log differ. */
function changedSectors(before: Buffer, after: Buffer): number[] {
  const sectors: number[] = [];
  for (let at = 0; at < before.length; at += RECORD_ALIGNMENT) {
    if (before.compare(after, at, at + RECORD_ALIGNMENT, at, at + RECORD_ALIGNMENT) !== 0) sectors.push(at);
  }
  return sectors;
}

function mixed(before: Buffer, after: Buffer, written: readonly number[]): Buffer {
  const image = Buffer.from(before);
  for (const at of written) after.copy(image, at, at, at + RECORD_ALIGNMENT);
  return image;
}

describe('the journal with redo logs', () => {
  const noSpace = (): Error => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

  it('law 3: goes on where the table lacked room, with the same numbers, and loses nothing', async () => {
    const table = new SlowTable();
    const { journal, redo } = await start(table);
    const put400 = (revision: number): Promise<void> =>
      journal.commit({ changes: [put(revision, 400_000)], forget: [] });
    let revision = 0;
    let room = true;
    table.gateOf = async () => {
      if (!room) throw noSpace();
    };
    for (let i = 0; i < 2; i++) await put400(++revision);
    room = false;
    // These fill both logs, because the first log cannot be applied.
    for (let i = 0; i < 2; i++) await put400(++revision);
    for (let i = 0; i < 3; i++) {
      await expect(put400(revision + 1)).rejects.toThrow(StoreFullError);
      await expect(journal.makeRoom()).rejects.toThrow(StoreFullError);
    }
    room = true;
    await journal.makeRoom();
    for (let i = 0; i < 4; i++) await put400(++revision);
    await journal.close();
    expect(table.records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(table.records.flatMap(({ entries }) => entries).map((entry) => entry.split(' ')[0])).toEqual(
      table.records.map(({ sequence }) => String(sequence)),
    );
    await redo.close().catch(() => {});
  });

  it('law 3: leaves nothing of a record that found no room, whatever the next commit is', async () => {
    for (const next of [100, 700_000]) {
      let room = true;
      const logOf = () => {
        const buffer = Buffer.alloc(REDO_LOG_BYTES);
        const disk = Buffer.alloc(REDO_LOG_BYTES);
        const write = async (from: number, to: number): Promise<void> => {
          buffer.copy(disk, from, from, to);
          // All bytes were written, and then made durable in vain.
          if (!room) throw noSpace();
        };
        return { buffer, disk, write };
      };
      const logs = [logOf(), logOf()] as const;
      const journal = new RedoJournal({
        logs: logs as never,
        recovery: { pending: [[], []], current: 0, offset: 0, sequence: 0 },
        id,
        table: new SlowTable(),
        compacted: 0,
        logger: silentLogger,
      });
      await journal.commit({ changes: [put(1, 400_000)], forget: [] });
      room = false;
      await expect(journal.commit({ changes: [put(2, 400_000)], forget: [] })).rejects.toThrow(StoreFullError);
      room = true;
      await journal.commit({ changes: [put(2, next)], forget: [] });
      for (const { buffer, disk } of logs) expect(disk.equals(buffer)).toBe(true);
    }
  });

  it('law 3: takes a commit that no log can take out of the table, if it was not whole there', async () => {
    const table = new SlowTable();
    const { journal } = await start(table);
    table.gateOf = () => Promise.reject(noSpace());
    await expect(journal.commit({ changes: [put(1, 1_200_000)], forget: [] })).rejects.toThrow(StoreFullError);
    expect(table.discarded).toBe(1);
    table.gateOf = () => Promise.resolve();
    await journal.makeRoom();
    await journal.commit({ changes: [put(1, 900)], forget: [] });
    await journal.close();
    expect(table.records.map(({ sequence }) => sequence)).toEqual([1]);
  });

  it('law 3: ends for good after any other failure of the table', async () => {
    const table = new SlowTable();
    const { journal } = await start(table);
    table.gateOf = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
    await expect(journal.commit({ changes: [put(1, 1_200_000)], forget: [] })).rejects.toThrow('EIO');
    table.gateOf = () => Promise.resolve();
    await expect(journal.commit({ changes: [put(1, 900)], forget: [] })).rejects.toThrow('EIO');
    await expect(journal.makeRoom()).rejects.toThrow('EIO');
    expect(table.discarded).toBe(0);
    await journal.close();
  });

  it('law 3: whatever sectors of a write a power cut leaves, everything before it is there, and it as a whole or not at all', async () => {
    const table = new SlowTable();
    const { journal, redo } = await start(table);
    let revision = 0;
    // Fills both logs once around, so that records overwrite older ones, and then writes a few in a row.
    for (let i = 0; i < 9; i++) await journal.commit({ changes: [put(++revision, 300_000)], forget: [] });
    for (let i = 0; i < 3; i++) {
      await journal.commit({ changes: [put(++revision, 900)], forget: [revision - 1], compacted: revision });
    }
    const acknowledged = [...table.records];
    const tableThen = new SlowTable(table.records);
    const before = await images();
    await journal.commit({ changes: [put(++revision, 2000)], forget: [4, 5], compacted: revision - 1 });
    const after = await images();
    expect(table.records).toEqual(acknowledged);
    const log = before[0].equals(after[0]) ? 1 : 0;
    const sectors = changedSectors(before[log], after[log]);
    expect(sectors.length).toBe(5);
    for (let subset = 0; subset < 2 ** sectors.length; subset++) {
      const written = sectors.filter((_, i) => (subset & (1 << i)) !== 0);
      await writeFile(join(directory, logNames[log]), mixed(before[log], after[log], written));
      const life = await start(new SlowTable(tableThen.records));
      const whole = written.length === sectors.length;
      expect(life.found.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: whole ? 13 : 12 }, (_, i) => i + 1),
      );
      await life.redo.close();
    }
    await redo.close();
  });

  it('law 3: loses nothing acknowledged in random lives', async () => {
    const commit = fc.record({
      bytes: fc.oneof(
        { weight: 6, arbitrary: fc.nat(3000) },
        { weight: 3, arbitrary: fc.nat(400_000) },
        { weight: 1, arbitrary: fc.integer({ min: REDO_LOG_BYTES, max: REDO_LOG_BYTES + 100_000 }) },
      ),
      forgets: fc.nat(3),
      tableIsSlow: fc.boolean(),
    });
    const life = fc.record({
      commits: fc.array(commit, { maxLength: 14 }),
      end: fc.constantFrom('close', 'killed', 'killed in a write'),
      torn: fc.integer(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
        await emptyLogs();
        let onDisk: Copied[] = [];
        let acknowledged = 0;
        let revision = 0;
        for (const { commits, end, torn } of lives) {
          const table = new SlowTable(onDisk);
          const { journal, redo, found } = await start(table);
          expect(found.map(({ sequence }) => sequence)).toEqual(found.map((_, i) => i + 1));
          expect(found.length).toBeGreaterThanOrEqual(acknowledged);
          expect(found.length).toBeLessThanOrEqual(acknowledged + 1);
          acknowledged = found.length;
          revision = found.length;
          for (const { entries, sequence } of found) {
            expect(entries[0]?.startsWith(`${sequence} `)).toBe(true);
            expect(entries[0]).toContain(`/registry/${sequence}`);
          }
          let before = await images();
          for (const { bytes, forgets, tableIsSlow } of commits) {
            if (tableIsSlow) table.gate = new Promise((resolve) => setTimeout(resolve, 2));
            before = await images();
            const forget = Array.from({ length: forgets }, (_, i) => revision - i);
            await journal.commit({ changes: [put(++revision, bytes)], forget, compacted: revision - 1 });
            acknowledged++;
          }
          if (end === 'close') {
            await journal.close();
            expect(table.applied).toBe(acknowledged);
            onDisk = table.records;
            continue;
          }
          const after = await images();
          // The records that the table has received since the images were made may also be there at the time of a power cut.
          onDisk = [...table.records];
          await redo.close();
          if (end !== 'killed in a write' || commits.length === 0 || table.applied === acknowledged) continue;
          const log = before[0].equals(after[0]) ? 1 : 0;
          const sectors = changedSectors(before[log], after[log]).filter((_, i) => (torn & (1 << (i % 31))) !== 0);
          await writeFile(join(directory, logNames[log]), mixed(before[log], after[log], sectors));
          acknowledged--;
        }
        const last = await start(new SlowTable(onDisk));
        expect(last.found.length).toBeGreaterThanOrEqual(acknowledged);
        await last.redo.close();
      }),
      { numRuns: 40 },
    );
  });

  it('writes over a log only when the table has all of it on its disk', async () => {
    const table = new SlowTable();
    const { journal } = await start(table);
    const first = gate();
    const second = gate();
    // Two records fit into each log.
    table.gateOf = (sequence) => (sequence <= 2 ? first.promise : second.promise);
    for (let i = 1; i <= 4; i++) await journal.commit({ changes: [put(i, 400_000)], forget: [] });
    expect(table.applied).toBe(0);
    let done = false;
    const fifth = journal.commit({ changes: [put(5, 400_000)], forget: [] }).then(() => (done = true));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(done).toBe(false);
    first.resolve();
    await fifth;
    expect(table.records.map(({ sequence }) => sequence)).toEqual([1, 2]);
    second.resolve();
    await journal.close();
    expect(table.records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives what no log can take to the table, behind everything before it', async () => {
    const table = new SlowTable();
    const { journal, redo } = await start(table);
    table.gate = new Promise((resolve) => setTimeout(resolve, 20));
    await journal.commit({ changes: [put(1, 700_000)], forget: [] });
    await journal.commit({ changes: [put(2, 700_000)], forget: [] });
    await journal.commit({ changes: [put(3, REDO_LOG_BYTES)], forget: [] });
    expect(table.records.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    await journal.commit({ changes: [put(4, 100)], forget: [] });
    await redo.close();
    const { found, redo: again } = await start(new SlowTable(table.records));
    expect(found.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    await again.close();
  });

  it('accepts nothing more once the table failed, and keeps what it lacks', async () => {
    const table = new SlowTable();
    const { journal } = await start(table);
    table.gate = Promise.reject(new Error('no space left'));
    table.gate.catch(() => {});
    for (let i = 1; i <= 3; i++) await journal.commit({ changes: [put(i, 400_000)], forget: [] });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(journal.commit({ changes: [put(4, 10)], forget: [] })).rejects.toThrow('no space left');
    await journal.close();
    const { found, journal: again } = await start(new SlowTable());
    expect(found.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    await again.close();
  });

  it('says at close that the table could not take what the logs hold, and keeps it', async () => {
    const warnings: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (message, fields) => void warnings.push(`${message}: ${String(fields?.['error'])}`),
    };
    const table = new SlowTable();
    const { journal } = await start(table, directory, logger);
    await journal.commit({ changes: [put(1, 100)], forget: [] });
    table.gate = Promise.reject(new Error('no space left'));
    table.gate.catch(() => {});
    await journal.close();
    expect(warnings).toEqual([
      'the database could not take what the redo logs hold; the next start reads it from them: no space left',
    ]);
    const { found, journal: again } = await start(new SlowTable());
    expect(found.map(({ sequence }) => sequence)).toEqual([1]);
    await again.close();
  });

  describe('at the start', () => {
    beforeEach(async () => {
      const { journal, redo } = await start(new SlowTable());
      for (let i = 1; i <= 4; i++) await journal.commit({ changes: [put(i, 200)], forget: [] });
      await redo.close();
    });

    const damage = async (name: string, at: number): Promise<void> => {
      const file = await open(join(directory, name), 'r+');
      await file.write(Buffer.from('x'), 0, 1, at);
      await file.close();
    };
    const refusal = async (message: string, table = new SlowTable()): Promise<void> => {
      const refused: unknown = await RedoLogs.open(directory, { id, applied: table.applied }).catch(
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(StoreCorruptedError);
      expect(refused).toMatchObject({ message: expect.stringContaining(message) });
    };

    it('finds a damaged record by those behind it', async () => {
      await damage('redo-0.log', 100 + RECORD_ALIGNMENT);
      await refusal('redo-0.log is wrong in front of commit 3');
    });

    it('finds a damaged record by those of the other log', async () => {
      await rm(directory, { recursive: true });
      directory = await mkdtemp(join(tmpdir(), 'kubegc-redo-'));
      await emptyLogs();
      const table = new SlowTable();
      table.gate = new Promise(() => {});
      const { journal, redo } = await start(table);
      for (let i = 1; i <= 4; i++) await journal.commit({ changes: [put(i, 400_000)], forget: [] });
      await redo.close();
      await damage('redo-0.log', 500_000);
      await refusal('commit 2 is missing');
    });

    it('refuses a file that is missing, or has another length', async () => {
      await truncate(join(directory, 'redo-1.log'), 5000);
      await refusal(`redo-1.log has 5000 bytes where it should have ${REDO_LOG_BYTES}`);
      await unlink(join(directory, 'redo-1.log'));
      await refusal('redo-1.log is missing');
    });

    it('reads nothing that another store has written', async () => {
      const other = await RedoLogs.open(directory, { id: Buffer.alloc(STORE_ID_BYTES, 'other'), applied: 0 });
      expect(other.pending).toEqual([]);
      await other.close();
    });

    it('skips what the table has', async () => {
      const { found, redo } = await start(new SlowTable());
      const table = new SlowTable(found.slice(0, 3));
      await redo.close();
      const again = await start(table);
      expect(again.redo.pending.map(({ sequence }) => sequence)).toEqual([4]);
      await again.journal.commit({ changes: [put(5, 10)], forget: [] });
      await again.journal.close();
      expect(table.records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    });

    it('says that a folder cannot be used', async () => {
      await rm(join(directory, 'redo-0.log'));
      await writeFile(join(directory, 'file'), '');
      await expect(RedoLogs.open(join(directory, 'file'), { id, applied: 0 })).rejects.toThrow(StoreDirectoryError);
    });
  });
});
