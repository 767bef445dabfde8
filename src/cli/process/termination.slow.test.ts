import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const hanging = ['--import', 'tsx', fileURLToPath(new URL('./termination.fixture.ts', import.meta.url))];

/** Sends each signal when the process has answered the one before, and returns its output and how it ended. */
async function signalled(signals: readonly NodeJS.Signals[]): Promise<{ said: readonly string[]; code: unknown }> {
  const child = spawn(process.execPath, hanging, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const left = signals.slice();
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    said.push(line);
    const next = left.shift();
    if (next !== undefined) child.kill(next);
  }
  const [code] = (await closed) as [number | null];
  return { said, code };
}

describe('untilSignal', () => {
  it.each([
    { first: 'SIGINT', second: 'SIGTERM' },
    { first: 'SIGTERM', second: 'SIGINT' },
    { first: 'SIGINT', second: 'SIGINT' },
  ] as const)('resolves with $first, and $second ends a process that hangs', async ({ first, second }) => {
    expect(await signalled([first, second])).toEqual({ said: ['ready', first], code: 1 });
  });
});
