import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { runProgram } from './system-kubeconfig-io.ts';

/** A slow machine may take its time to start a program. */
const PATIENCE = { timeout: 30_000 };
/** Starts a program that holds the shell's pipes, and writes the ids of both processes to a file. */
const BEGIN = 'sleep 600 & printf "%s %s." "$$" "$!" > "$PIDS"';

let directory: string;
let clock: FakeClock;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kubegc-plugin-'));
  clock = new FakeClock();
});

afterEach(() => {
  for (const pid of written()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true });
  expect(clock.pendingTimers).toBe(0);
});

function sh(script: string) {
  const env = { PIDS: join(directory, 'pids') };
  return runProgram({ command: '/bin/sh', args: ['-c', script], env, timeoutMs: 100 }, clock);
}

/** Empty before the shell has started its program. */
function written(): number[] {
  try {
    const text = readFileSync(join(directory, 'pids'), 'utf8');
    return text.endsWith('.') ? text.slice(0, -1).split(' ').map(Number) : [];
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('runProgram', () => {
  it('gives what the program printed, and how it ended', async () => {
    expect(await sh('echo "out $PIDS"; echo err >&2; exit 3')).toEqual({
      exitCode: 3,
      stdout: `out ${join(directory, 'pids')}\n`,
      stderr: 'err\n',
    });
  });

  it('rejects when there is no such program', async () => {
    const call = { command: join(directory, 'none'), args: [], env: {}, timeoutMs: 100 };
    await expect(runProgram(call, clock)).rejects.toThrow('ENOENT');
  });

  it('kills a program that runs too long, and does not wait for whom it started', async () => {
    const run = sh(`${BEGIN}; wait`);
    await expect.poll(written, PATIENCE).toHaveLength(2);
    clock.advance(100);
    expect(await run).toMatchObject({ exitCode: null, timedOut: true });
    await expect.poll(() => isAlive(written()[0]!), PATIENCE).toBe(false);
  });

  it('believes a program that has ended in time, though whom it started holds its pipes', async () => {
    const run = sh(`${BEGIN}; echo token`);
    await expect.poll(written, PATIENCE).toHaveLength(2);
    await expect.poll(() => isAlive(written()[0]!), PATIENCE).toBe(false);
    clock.advance(100);
    expect(await run).toEqual({ exitCode: 0, stdout: 'token\n', stderr: '' });
  });
});
