import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { type CommandOption, withOptions } from '../command/command-option.ts';
import { objectOptions } from './object-arguments.ts';
import { planOptions } from './plan-options.ts';
import type { PreviewFlags } from './preview.ts';

const previewOptions: readonly CommandOption[] = [
  ...planOptions,
  {
    flags: '-o, --output <FORMAT>',
    description: 'tree, wide, json, yaml, name, dot or mermaid',
    choices: ['tree', 'wide', 'json', 'yaml', 'name', 'dot', 'mermaid'],
    default: 'tree',
  },
  {
    flags: '--all',
    description: 'show every line, where more than 200 are folded by kind; with TYPE alone: all objects of the type',
  },
  { flags: '--save <FILE>', description: 'also write the plan as JSON, for delete --plan' },
  allNamespacesOption,
  ...objectOptions,
  ...clusterOptions,
];

/** `kubectl cascade preview` */
export function previewCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('preview')
    .argument('[objects...]', 'TYPE/NAME …, TYPE NAME …, or TYPE with -l')
    .summary('Show what a deletion would do, and change nothing')
    .description(
      'Show what a deletion would do, and change nothing.\n\n' +
        'Runs the garbage collector on a copy of the cluster. Controllers that react to the deletion are not part of it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # What would go with this deployment?
  kubectl cascade preview deployment/web -n shop

  # The same when its dependents are orphaned
  kubectl cascade preview deployment/web -n shop --cascade=orphan

  # What would be lost with a namespace, as JSON
  kubectl cascade preview namespace/shop -o json

  # A plan that a colleague can look at and carry out
  kubectl cascade preview -f shop.yaml --save plan.json
  kubectl cascade delete --plan plan.json`,
    )
    .action(async (objects: string[], flags: PreviewFlags) => {
      const { preview } = await import('./preview.ts');
      setExitCode(await preview(objects, flags, terminal));
    });
  return withOptions(command, previewOptions);
}
