import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../program/run-command.ts';

/** The examples as a user runs them: against the built package, by the name that it is imported by. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const node = (args: readonly string[]) => runCommand(process.execPath, args, { cwd: root, timeoutMs: 180_000 });
const program = (name: string): string => join(root, 'node_modules', name);

describe('examples', () => {
  it('node:test', async () => {
    const { code, stdout } = await node(['--test', 'examples/node-test/']);
    expect(stdout).toMatch(/^# pass 3$/m);
    expect(code, stdout).toBe(0);
  });

  it('vitest', async () => {
    const { code, stdout, stderr } = await node([program('vitest/vitest.mjs'), 'run', '--root', 'examples/vitest']);
    expect(stdout, stderr).toMatch(/Tests .*6 passed/);
    expect(code).toBe(0);
  });

  it('the other doors of the package: apiserver, cascade, client, collector, nodegc', async () => {
    const { code, stdout } = await node(['--test', 'examples/doors/']);
    expect(stdout).toMatch(/^# pass 9$/m);
    expect(code, stdout).toBe(0);
  });

  it('the declarations of the package are all that a compiler needs', async () => {
    const { code, stdout } = await node([program('typescript/bin/tsc'), '-p', 'examples/tsconfig.json']);
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });
});
