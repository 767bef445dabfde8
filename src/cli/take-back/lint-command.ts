import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { withOptions } from '../command/command-option.ts';
import type { LintFlags } from './lint.ts';

/** `kubectl cascade lint [-f DIR]` */
export function lintCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('lint')
    .summary('Find what is wrong with ownership, in a cluster or in manifests')
    .description(
      'Find what is wrong with ownership: owners that do not exist, stale uids, references across namespaces, cycles,\n' +
        'objects that a collector would delete now, objects that have been terminating for long.\n\n' +
        'Reads only. Exit code 2 when something is found.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # One namespace
  kubectl cascade lint -n shop

  # The whole cluster, with what has been terminating for an hour
  kubectl cascade lint -A --older-than 1h

  # Manifests, without a cluster
  kubectl cascade lint -f deploy/ -o json`,
    )
    .allowExcessArguments(false)
    .action(async (flags: LintFlags) => {
      const { lint } = await import('./lint.ts');
      setExitCode(await lint(flags, terminal));
    });
  return withOptions(command, [
    {
      flags: '-f, --filename <FILE>',
      description: 'manifests of a file or directory, instead of a cluster',
      repeatable: true,
    },
    {
      flags: '--older-than <DURATION>',
      description: 'report objects that have been terminating longer',
      default: '5m',
    },
    { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
    allNamespacesOption,
    ...clusterOptions,
  ]);
}
