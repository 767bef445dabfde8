import { expect, it } from 'vitest';
import { run } from './program.ts';

it.each([
  [['up', '--nope'], 'kubegc up'],
  [['cascade', 'undo'], 'kubegc cascade undo'],
  [['cascade', 'graph', '--html'], 'kubegc cascade graph'],
  [['node', 'plan', '--nope'], 'kubegc node plan'],
])('after the wrong words %j the hint names a command that exists: %s', async (words, command) => {
  let said = '';
  const terminal = { stdout: () => undefined, stderr: (text: string) => void (said += text), columns: 100 };
  expect(await run(words, terminal)).toBe(1);
  expect(said).toContain(`Run '${command} --help' for usage.`);
});
