import { closeSync, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeRedoLogs, RedoLog } from './redo-log.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubegc-redo-log-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('closes no other file when it is closed twice', async () => {
  const paths = [join(directory, 'first'), join(directory, 'second')] as const;
  await makeRedoLogs(paths);
  const log = await RedoLog.open(paths[0]);
  await log.close();
  // The system gives the lowest free numbers, so that one of these files has the number of the log.
  const others = Array.from({ length: 20 }, () => openSync(paths[1], 'r'));
  await log.close();
  for (const other of others) {
    expect(readSync(other, Buffer.alloc(1))).toBe(1);
    closeSync(other);
  }
});
