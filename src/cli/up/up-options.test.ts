import { describe, expect, it } from 'vitest';
import { buildProgram } from '../program.ts';
import { plainUpFlags } from './up-options.ts';

/** The options that commander parses from a command line; undefined when it refuses, or prints instead of running. */
async function byCommander(args: readonly string[]): Promise<unknown> {
  const silent = { stdout: () => undefined, stderr: () => undefined, columns: 80 };
  const program = buildProgram(silent, () => undefined);
  const up = program.commands.find((command) => command.name() === 'up');
  let flags: unknown;
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  }
  up?.action((seen: unknown) => {
    flags = seen;
  });
  await program.parseAsync(['up', ...args], { from: 'user' }).catch(() => undefined);
  return flags;
}

describe('the flags of up without commander', () => {
  it.each([
    [],
    ['--data-dir', 'here'],
    ['--data-dir=here'],
    ['--data-dir='],
    ['--data-dir', '--store'],
    ['--data-dir', 'a=b', '--data-dir=c=d\ne'],
    ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', '/tmp/k'],
    ['--store', 'file', '--store', 'memory'],
    [
      '--store',
      'etcd',
      '--etcd-endpoints',
      'https://a:1,https://b:1',
      '--etcd-servers=https://c:1',
      '--etcd-prefix',
      '/x',
    ],
    ['--controllers', '*,-garbagecollector', '--controllers', '-namespace'],
    ['--controllers', '-garbagecollector'],
    ['-f', 'a.yaml', '--filename', 'b', '--filename=c'],
    ['--log-level', 'silent', '--log-format=json'],
    ['--exit-with-parent', '--store', 'memory'],
  ])('%j reads as commander reads it', async (...args) => {
    expect(plainUpFlags(args)).toEqual(await byCommander(args));
    expect(plainUpFlags(args)).toBeDefined();
  });

  it.each([
    ['--help'],
    ['-h'],
    ['--data-dir'],
    ['--dta-dir', 'x'],
    ['--store', 'mysql'],
    ['--store=mysql'],
    ['-fa.yaml'],
    ['-f=a.yaml'],
    ['stray'],
    ['--'],
    [''],
    ['--listen', '127.0.0.1:0', 'stray'],
  ])('%j is left to commander', (...args) => {
    expect(plainUpFlags(args)).toBeUndefined();
  });
});
