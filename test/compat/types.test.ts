import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCommand } from '../program/run-command.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

it('kubegc/testing takes and gives the types of @kubernetes/client-node, under every strictness', async () => {
  const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'test/types/tsconfig.json'];
  const { code, stdout } = await runCommand(process.execPath, compiler, { cwd: root, timeoutMs: 60_000 });
  expect(stdout).toBe('');
  expect(code).toBe(0);
});
