import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { withOptions } from '../command/command-option.ts';
import type { RecorderFlags } from './record.ts';
import { recordFolderOption, secretsOption } from '../cascade/record-options.ts';

/** `kubegc record` */
export function recordCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('record')
    .summary('Record what anybody deletes, so that it can be brought back')
    .description(
      'Watch a cluster and record the last state of every object that anybody deletes, so that undo can bring it back.\n\n' +
        'Reads only. Runs until Ctrl-C; what is waiting is written before it ends.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Everything in one namespace
  kubegc record -n shop

  # Some kinds in the whole cluster
  kubegc record -A --types deployments,configmaps,secrets,widgets.example.com

  # Keep no Secrets, and the records in a folder of their own
  kubegc record -A --no-secrets --record-dir /var/lib/kubegc/cascades`,
    )
    .allowExcessArguments(false)
    .action(async (flags: RecorderFlags) => {
      const { record } = await import('./record.ts');
      setExitCode(await record(flags, terminal));
    });
  return withOptions(command, [
    { flags: '--types <TYPES>', description: 'types to watch, with commas between them; else all that can be deleted' },
    { flags: '--rebuilt', description: 'also record what a controller makes again, such as pods of a ReplicaSet' },
    recordFolderOption,
    secretsOption,
    allNamespacesOption,
    ...clusterOptions,
  ]);
}
