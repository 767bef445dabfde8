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

it.each([
  [['cascade', 'preview', '--help'], 'Usage: kubectl cascade preview [options]'],
  [['cascade', 'undelete', '--help'], 'Usage: kubectl cascade undelete [options]'],
  [['cascade', 'undo'], "Run 'kubectl cascade undo --help' for usage."],
])('as a plugin of kubectl, %j names kubectl', async (words, text) => {
  let said = '';
  const write = (part: string): void => void (said += part);
  await run(words, { stdout: write, stderr: write, columns: 100 }, 'kubectl');
  expect(said).toContain(text);
  expect(said).not.toContain('kubegc cascade');
});
