import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { type CommandOption, withOptions } from '../command/command-option.ts';
import { objectOptions } from './object-arguments.ts';
import { planOptions } from './plan-options.ts';
import type { DeleteFlags, WaitFlags } from './delete.ts';
import { recordFolderOption, secretsOption } from './record-options.ts';

const timeoutOption: CommandOption = {
  flags: '--timeout <DURATION>',
  description: 'limit of the wait, then exit code 4; 0s: none',
  default: '0s',
};

const deleteOptions: readonly CommandOption[] = [
  ...planOptions,
  { flags: '--digest <DIGEST>', description: 'delete only if the plan still has this digest; asks nothing' },
  {
    flags: '--plan <FILE>',
    description: 'delete what a saved plan says, if the cluster still gives the same; asks nothing',
  },
  {
    flags: '--budget <N|KIND=N>',
    description: 'refuse a plan that removes more, altogether or of a kind',
    repeatable: true,
  },
  {
    flags: '--dry-run <HOW>',
    description: 'client: only show the plan; server: send the requests with dryRun; none: delete',
    choices: ['none', 'client', 'server'],
  },
  { flags: '--no-wait', description: 'end when the requests are accepted' },
  { flags: '--wait [BOOL]', description: "kubectl's form: --wait=false is --no-wait" },
  timeoutOption,
  { flags: '-y, --yes', description: 'do not ask' },
  { flags: '-o, --output <FORMAT>', description: 'json: print the record in the end', choices: ['json'] },
  recordFolderOption,
  secretsOption,
  { flags: '--all', description: 'with TYPE alone: all objects of the type' },
  allNamespacesOption,
  ...objectOptions,
  ...clusterOptions,
];

/** `kubectl cascade delete` */
export function deleteCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('delete')
    .argument('[objects...]', 'TYPE/NAME …, TYPE NAME …, or TYPE with -l')
    .summary('Delete with a plan and a record, and wait for the whole end')
    .description(
      'Delete with a plan and a record, and wait for the whole end.\n\n' +
        'Shows the plan and asks, keeps every object that goes, deletes, waits until the last is gone, and compares with the plan.\n' +
        'Exit codes: 3 when nothing was deleted because the plan changed or exceeds the budget, 4 when the time is over.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Look, answer, and wait for the end
  kubectl cascade delete deployment/web -n shop

  # In a script: this plan or nothing, at most 50 objects
  kubectl cascade delete deployment/web -n shop --digest 3f9c2e81a0b4 --budget 50 --timeout 5m

  # What a colleague has looked at
  kubectl cascade delete --plan plan.json`,
    )
    .action(async (objects: string[], flags: DeleteFlags) => {
      const { deleteObjects } = await import('./delete.ts');
      setExitCode(await deleteObjects(objects, flags, terminal));
    });
  return withOptions(command, deleteOptions);
}

/** `kubectl cascade wait` */
export function waitCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('wait')
    .argument('<id>', 'id of a record, or the beginning of one')
    .summary('Wait for the end of a deletion that was interrupted')
    .description('Wait for the end of a deletion that was interrupted, and compare it with its plan.')
    .addHelpText(
      'after',
      `
Examples:
  # Go on after Ctrl-C
  kubectl cascade wait 20261126t1555

  # At most ten minutes
  kubectl cascade wait 20261126t1555 --timeout 10m

  # Which deletions are there?
  kubectl cascade log`,
    )
    .allowExcessArguments(false)
    .action(async (id: string, flags: WaitFlags) => {
      const { waitFor } = await import('./delete.ts');
      setExitCode(await waitFor(id, flags, terminal));
    });
  return withOptions(command, [timeoutOption, recordFolderOption, ...clusterOptions]);
}
