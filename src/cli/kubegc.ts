#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { namingKubectl } from './process/calling-kubectl.ts';
import { endWithError } from './process/command-error.ts';
import { wordsOfName } from './plugin-name.ts';
import type { Terminal } from './process/terminal.ts';
import { plainUpFlags } from './up/up-options.ts';

const plain: Terminal = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  columns: process.stdout.columns ?? 80,
  isInteractive: process.stdout.isTTY,
};
const pluginWords = wordsOfName(process.argv[1] ?? '');
const { KUBECTL_PATH: kubectlPath, PATH: searchPath = '' } = process.env;
const terminal =
  pluginWords.length === 0 ? plain : namingKubectl(plain, { path: kubectlPath, searchPath, exists: existsSync });
// A reader of the output may close the pipe early (`kubegc up --help | head`), which must not end a server.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
// An uncaught error ends the process with a readable message. Otherwise Node would first print the bundle's one long line.
process.on('uncaughtException', (error) => process.exit(endWithError(error, terminal)));
const args = [...pluginWords, ...process.argv.slice(2)];
const upFlags = args[0] === 'up' ? plainUpFlags(args.slice(1)) : undefined;
if (args[0] === '__complete') {
  const { completePlugin } = await import('./completion/plugin-completion.ts');
  const { buildProgram } = await import('./program.ts');
  const program = buildProgram(terminal, () => undefined);
  process.exitCode = await completePlugin(program, args.slice(1), terminal);
} else if (upFlags === undefined) {
  const { run } = await import('./program.ts');
  process.exitCode = await run(args, terminal, pluginWords.length === 0 ? 'kubegc' : 'kubectl');
} else {
  const { runUp } = await import('./up/up.ts');
  process.exitCode = await runUp(upFlags, terminal);
}
