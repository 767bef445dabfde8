import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, unlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/time/clock.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { systemRandom } from '../../../base/random/random.ts';
import { lockDirectory } from './directory-lock.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { StoreDirectoryError, StoreLockedError } from '../store-errors.ts';

const options = { clock: systemClock, random: systemRandom };

/** A process that listens on a socket named like a lock and says so, as a kubegc that started earlier would. */
async function holder(directory: string, name: string): Promise<ChildProcess> {
  const script = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', script, join(directory, name)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('lockDirectory', () => {
  let directory: string;
  const held: DirectoryLock[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubegc-lock-'));
  });
  afterEach(async () => {
    for (const lock of held.splice(0)) await lock.release();
    await rm(directory, { recursive: true });
  });
  const take = async (): Promise<DirectoryLock> => {
    const lock = await lockDirectory(directory, options);
    held.push(lock);
    return lock;
  };

  it('is taken by one, and by the next when it is released', async () => {
    const lock = await take();
    await expect(take()).rejects.toThrow(StoreLockedError);
    await lock.release();
    await take();
  });

  it('names the process that has it, and survives neither its exit nor kill -9', async () => {
    const child = await holder(directory, 'lock.000000001.4242.00000000');
    await expect(take()).rejects.toThrow(
      `the data directory ${directory} is in use by another kubegc (process 4242): stop it, or choose another directory`,
    );
    await killed(child);
    expect(await readdir(directory)).toEqual(['lock.000000001.4242.00000000']);
    const lock = await take();
    expect(await readdir(directory)).toHaveLength(1);
    await lock.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('waits for a later contender to give way, and gives way when that one does not', async () => {
    const later = 'lock.zzzzzzzzz.4343.00000000';
    const child = await holder(directory, later);
    const waiting = take();
    const settled = await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve))]);
    expect(settled).toBeUndefined();
    await killed(child);
    await waiting;
  });

  it('exactly one of many that start at once has it', async () => {
    for (let round = 0; round < 2; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, take));
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StoreLockedError);
      }
      for (const lock of held.splice(0)) await lock.release();
    }
  });

  it('leaves other files alone', async () => {
    await writeFile(join(directory, 'lock.mdb'), 'data');
    await (await take()).release();
    expect(await readdir(directory)).toEqual(['lock.mdb']);
  });

  // Other systems have no shorter path to the directory, so it is refused.
  it.runIf(process.platform === 'linux')('works where the path is too long for a socket', async () => {
    const deep = join(directory, 'd'.repeat(120));
    const lock = await lockDirectory(deep, options);
    await expect(lockDirectory(deep, options)).rejects.toThrow(StoreLockedError);
    await lock.release();
    expect(await readdir(deep)).toEqual([]);
  });

  it('reports a directory that cannot be made', async () => {
    await writeFile(join(directory, 'file'), '');
    await expect(lockDirectory(join(directory, 'file', 'below'), options)).rejects.toThrow(StoreDirectoryError);
  });

  it('starts again when somebody took its socket for a dead one', async () => {
    const rival = createServer().listen(join(directory, 'lock.zzzzzzzzz.4343.00000000'));
    await once(rival, 'listening');
    const names: string[] = [];
    const clock: Clock = {
      ...systemClock,
      setTimer: (_, fn) => {
        const mine = readdirSync(directory).filter((name) => name.includes(`.${process.pid}.`));
        names.push(...mine);
        for (const name of mine) unlinkSync(join(directory, name));
        rival.close(fn);
        return { cancel: () => {} };
      },
    };
    const lock = await lockDirectory(directory, { clock, random: systemRandom });
    const [held] = await readdir(directory);
    expect(names).toHaveLength(1);
    expect(held).not.toBe(names[0]);
    await expect(lockDirectory(directory, options)).rejects.toThrow(StoreLockedError);
    await lock.release();
  });
});
