import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/time/clock.ts';
import { openFileStore } from './file-store.ts';

const writer = [process.execPath, '--import', 'tsx', fileURLToPath(new URL('./file-crash-writer.ts', import.meta.url))];

interface Acknowledged {
  readonly count: number;
  readonly revision: number;
}

interface WriterEnd {
  readonly acknowledged: ReadonlyMap<string, Acknowledged>;
  readonly failed: string | undefined;
  /** The exit of the process and its error output, for the message of a failed test. */
  readonly ending: string;
}

/** Runs the writer and reads its lines; `until` gets the number of lines after each, and returns true to kill -9 it. */
async function runWriter(command: readonly string[], until: (lines: number) => boolean): Promise<WriterEnd> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close');
  const complaints: Buffer[] = [];
  child.stderr.on('data', (piece: Buffer) => complaints.push(piece));
  const acknowledged = new Map<string, Acknowledged>();
  let lines = 0;
  let failed: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    const [key = '', count, revision] = line.split(' ');
    if (key === 'failed') failed = line;
    if (key.startsWith('/')) acknowledged.set(key, { count: Number(count), revision: Number(revision) });
    if (until(++lines)) child.kill('SIGKILL');
  }
  const [code, signal] = (await exited) as [number | null, string | null];
  const ending = `exit code ${code}, signal ${signal}, ${lines} lines, ${failed}: ${Buffer.concat(complaints).toString()}`;
  return { acknowledged, failed, ending };
}

describe('a process that writes to the file store', () => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'kubegc-crash-'));
  });
  afterEach(() => rm(path, { recursive: true }));

  /** Each counter has the acknowledged value, or that of the one write that may have been in progress. */
  async function expectNothingLost(acknowledged: ReadonlyMap<string, Acknowledged>): Promise<void> {
    const store = await openFileStore({ path, clock: systemClock });
    let newest = 0;
    for (const [key, { count, revision }] of acknowledged) {
      const { kv } = await store.get(key);
      const found = Number(
        Buffer.from(kv?.value ?? [])
          .toString()
          .split('.')[0],
      );
      expect([count, count + 1], key).toContain(found);
      if (found === count) expect(kv?.modRevision).toBe(revision);
      newest = Math.max(newest, revision);
    }
    expect(await store.currentRevision()).toBeGreaterThanOrEqual(newest);
    await store.close();
  }

  it('law 3: loses nothing acknowledged by kill -9, and leaves the directory free', async () => {
    // The last one writes so much that the data file is rewritten meanwhile.
    for (const [lines, valueBytes] of [
      [40, 100],
      [700, 100],
      [1500, 20_000],
    ] as const) {
      const { acknowledged, ending } = await runWriter([...writer, path, String(valueBytes)], (seen) => seen === lines);
      expect(acknowledged.size, ending).toBeGreaterThan(0);
      await expectNothingLost(acknowledged);
    }
  });

  // On other systems, no limit makes a write fail like a full disk.
  it.runIf(process.platform === 'linux')(
    'takes no more writes when the disk is full, with everything acknowledged still there',
    async () => {
      // A limit on file sizes makes writes fail like a full disk.
      const limited = ['sh', '-c', 'ulimit -f 4096; exec "$@"', 'sh', ...writer, path, '100000'];
      const { acknowledged, failed, ending } = await runWriter(limited, () => false);
      expect(failed, ending).toMatch(
        /the store failed and accepts no more writes: (EFBIG: file too large|a write into the data file ended early)/,
      );
      expect(acknowledged.size).toBe(8);
      await expectNothingLost(acknowledged);
    },
  );
});
