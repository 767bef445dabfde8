import { createInterface } from 'node:readline/promises';
import { CommandError } from '../process/command-error.ts';

/**
 * Asks on the terminal before a change; true if the answer is y or yes. Without a terminal nobody can answer, so it throws a {@link
 * CommandError} that names `--yes`.
 */
export async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError('there is no terminal to ask on', 'Give --yes to go on without a question.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
