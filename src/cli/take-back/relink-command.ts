import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { withOptions } from '../command/command-option.ts';
import type { RelinkFlags } from './relink.ts';

/** `kubectl cascade relink (-f DIR | --live)` */
export function relinkCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('relink')
    .summary('Repair owner references that a restore from a backup left stale')
    .description(
      'Repair owner references whose uid is stale but whose kind, namespace and name resolve.\n\n' +
        'A backup tool creates objects anew, with new uids; references that still name the old ones make the collector delete\n' +
        'the dependents. Shows each change and asks; every patch carries the resourceVersion that the change rests on.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Look at the stale references of a namespace, then repair them
  kubectl cascade relink --live -n shop --dry-run
  kubectl cascade relink --live -n shop

  # Put back references that the backup tool dropped, from the manifests of the backup
  kubectl cascade relink -f backup/ -n shop

  # The whole cluster, for a program
  kubectl cascade relink --live -A --dry-run -o json`,
    )
    .allowExcessArguments(false)
    .action(async (flags: RelinkFlags) => {
      const { relink } = await import('./relink.ts');
      setExitCode(await relink(flags, terminal));
    });
  return withOptions(command, [
    { flags: '--live', description: 'the references that objects in the cluster have' },
    {
      flags: '-f, --filename <FILE>',
      description: 'the references that objects in a file or directory have',
      repeatable: true,
    },
    { flags: '--dry-run', description: 'only show the changes' },
    { flags: '-y, --yes', description: 'do not ask' },
    { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
    allNamespacesOption,
    ...clusterOptions,
  ]);
}
