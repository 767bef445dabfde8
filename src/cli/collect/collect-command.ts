import { Command, Option } from 'commander';
import { type CollectFlags, collectOptions } from './collect-options.ts';
import type { Terminal } from '../process/terminal.ts';

const append = (value: string, previous: string[] | undefined): string[] => [...(previous ?? []), value];

/** `kubegc collect` in the command tree. */
export function collectCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('collect')
    .summary('Run the garbage collector alone against any cluster')
    .description(
      'Run the garbage collector alone against any Kubernetes API server.\n\n' +
        'Where kube-controller-manager runs, its collector does the work and this one only observes; --mode says otherwise.\n' +
        'Prints one line when it is ready. Ctrl-C gives the lease back and ends it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Against the current context: observe if another collector runs, collect if none does
  kubegc collect

  # An API server without a collector, and this one beside it
  kubegc up --controllers '*,-garbage-collector-controller'
  kubegc collect --kubeconfig .kubegc/kubeconfig --mode collect --explain-every-action

  # Look into a cluster without changing anything
  kubegc collect --mode observe --bind-address 127.0.0.1:10257
  curl http://127.0.0.1:10257/debug/controllers/garbage-collector-controller/graph`,
    )
    .allowExcessArguments(false)
    .action(async (flags: CollectFlags) => {
      const { collect } = await import('./collect.ts');
      setExitCode(await collect(flags, terminal));
    });
  for (const each of collectOptions) {
    const option = new Option(each.flags, each.description);
    if (each.choices) option.choices(each.choices);
    if (each.repeatable) option.argParser(append);
    command.addOption(each.default === undefined ? option : option.default(each.default));
  }
  return command;
}
