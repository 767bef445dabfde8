import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { withOptions } from '../command/command-option.ts';
import type { LogFlags } from './log.ts';
import { recordFolderOption } from '../cascade/record-options.ts';

/** `kubectl cascade log [ID]` */
export function logCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('log')
    .argument('[id]', 'id of a record, or the beginning of one')
    .summary('List what was deleted, or show one deletion')
    .description('List the recorded deletions, newest first, or show one of them with its objects.')
    .addHelpText(
      'after',
      `
Examples:
  # Everything that was deleted with a record
  kubectl cascade log

  # One deletion: who, when, what, and how it ended
  kubectl cascade log 20261126t1555

  # For a program
  kubectl cascade log -o json`,
    )
    .allowExcessArguments(false)
    .action(async (id: string | undefined, flags: LogFlags) => {
      const { log } = await import('./log.ts');
      setExitCode(await log(id, flags, terminal));
    });
  return withOptions(command, [
    { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
    recordFolderOption,
  ]);
}
