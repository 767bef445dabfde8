import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { LmdbMissingError } from '../store-errors.ts';

const problem = vi.hoisted(() => ({ error: new Error() }));
vi.mock('lmdb', () => {
  throw problem.error;
});

describe('the lmdb store without lmdb', () => {
  it('says what to do, and leaves no trace', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'kubegc-missing-'));
    const error: unknown = await openLmdbStore({ path: join(parent, 'data'), clock: systemClock }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(LmdbMissingError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/needs the package lmdb, .*run with --store memory/),
    });
    expect(await readdir(parent)).toEqual([]);
    await rm(parent, { recursive: true });
  });

  it('tells a package that is not there from one that does not work', () => {
    const missing = Object.assign(new Error("Cannot find package 'lmdb'"), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(new LmdbMissingError(missing).message).toBe(
      'the durable store needs the package lmdb, which is not installed: run with --store memory, or install the optional dependency (npm install lmdb)',
    );
    expect(new LmdbMissingError(new Error('no native build')).message).toContain(
      'which cannot be loaded (no native build)',
    );
  });
});
