import { Command } from 'commander';
import { addOptions } from '../flags/add-options.ts';
import { type CollectFlags, collectOptions } from './collect-options.ts';
import type { Terminal } from '../process/terminal.ts';

/** `kubegc collect` in the command tree. */
export function collectCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('collect')
    .summary('Run the garbage collector alone against any cluster')
    .description(
      'Run the garbage collector alone against any Kubernetes API server.\n\n' +
        'Without --mode it observes: it watches the cluster, shows what the collector would do and why, and writes nothing.\n' +
        'Prints one line when it is ready. Ctrl-C releases the lease and ends it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Watch the current context without changing anything, and see what would be deleted and why
  kubegc collect --explain-every-action

  # Collect for an API server that has no collector
  kubegc up --controllers '*,-garbage-collector-controller'
  kubegc collect --kubeconfig .kubegc/kubeconfig --mode collect --explain-every-action

  # The graph and the metrics in a browser
  kubegc collect --bind-address 127.0.0.1:10257
  curl http://127.0.0.1:10257/`,
    )
    .allowExcessArguments(false)
    .action(async (flags: CollectFlags) => {
      const { collect } = await import('./collect.ts');
      setExitCode(await collect(flags, terminal));
    });
  addOptions(command, collectOptions);
  return command;
}
