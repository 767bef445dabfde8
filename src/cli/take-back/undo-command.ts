import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { clusterOptions } from '../command/cluster-options.ts';
import { type CommandOption, withOptions } from '../command/command-option.ts';
import { recordFolderOption } from '../cascade/record-options.ts';
import type { UndoFlags } from './undo.ts';

const undoOptions: readonly CommandOption[] = [
  {
    flags: '--managed <POLICY>',
    description: 'what a controller makes again: rebuild leaves it to the controller, restore creates it',
    choices: ['rebuild', 'restore'],
    default: 'rebuild',
  },
  {
    flags: '--on-conflict <POLICY>',
    description: 'a name that is taken: fail creates nothing, skip lets the object stand in',
    choices: ['fail', 'skip'],
    default: 'fail',
  },
  { flags: '--dry-run', description: 'only show what would be created' },
  { flags: '--another-cluster', description: 'restore into another cluster than the record is from' },
  { flags: '-y, --yes', description: 'do not ask' },
  { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
  recordFolderOption,
  ...clusterOptions,
];

/** `kubectl cascade undo ID` */
export function undoCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('undo')
    .argument('<id>', 'id of a record, or the beginning of one')
    .summary('Bring back what a recorded deletion removed')
    .description(
      'Bring back what a recorded deletion removed, owners first, with owner references to the new uids.\n\n' +
        'Shows what it will do and asks. It can be stopped and run again: what is back already is not touched.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Look at what would come back, then bring it back
  kubectl cascade undo 20261126t1555 --dry-run
  kubectl cascade undo 20261126t1555

  # Where a name is taken, keep what has it and restore the rest below it
  kubectl cascade undo 20261126t1555 --on-conflict=skip --yes

  # Create pods and ReplicaSets too, instead of leaving them to their controllers
  kubectl cascade undo 20261126t1555 --managed=restore`,
    )
    .allowExcessArguments(false)
    .action(async (id: string, flags: UndoFlags) => {
      const { undo } = await import('./undo.ts');
      setExitCode(await undo({ id }, flags, terminal));
    });
  return withOptions(command, undoOptions);
}

/** `kubectl cascade undelete TYPE/NAME`, which is also `kubectl undelete`. */
export function undeleteCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('undelete')
    .argument('<objects...>', 'TYPE/NAME, or TYPE NAME')
    .summary('Bring back one object and what was below it, from its newest record')
    .description('Bring back one object and what it owned, from the newest record that has it. The short form of undo.')
    .addHelpText(
      'after',
      `
Examples:
  # Bring back a Deployment and what was deleted with it
  kubectl cascade undelete deployment/web -n shop

  # Look first
  kubectl cascade undelete namespace/shop --dry-run

  # Without a question, and keeping what has its name now
  kubectl cascade undelete widget/root --on-conflict=skip --yes`,
    )
    .allowExcessArguments(false)
    .action(async (objects: string[], flags: UndoFlags) => {
      const { undo } = await import('./undo.ts');
      setExitCode(await undo({ objects }, flags, terminal));
    });
  return withOptions(command, undoOptions);
}
