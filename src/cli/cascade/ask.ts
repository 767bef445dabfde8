import { createInterface } from 'node:readline/promises';
import { CommandError } from '../process/command-error.ts';

/**
 * Asks on the terminal before something is changed; true when the answer is y or yes. Ctrl-C and the end of the input mean no. Throws a
 * {@link CommandError} that names `--yes` when there is no terminal.
 */
export async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError('there is no terminal to ask on', 'Give --yes to go on without a question.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without these listeners the question is never answered, and the connection to the cluster keeps the process alive.
  const left = new AbortController();
  terminal.once('SIGINT', () => left.abort());
  terminal.once('close', () => left.abort());
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: left.signal })).trim());
  } catch (error) {
    if (!left.signal.aborted) throw error;
    process.stderr.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}
