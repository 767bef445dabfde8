import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { allNamespacesOption, clusterOptions } from '../command/cluster-options.ts';
import { type CommandOption, withOptions } from '../command/command-option.ts';
import type { GraphFlags, TopFlags, TreeFlags } from './tree.ts';

const treeOptions: readonly CommandOption[] = [
  { flags: '--up', description: 'owners above instead of dependents below' },
  { flags: '--depth <N>', description: 'levels; else all' },
  {
    flags: '-o, --output <FORMAT>',
    description: 'tree, json, yaml, dot or mermaid',
    choices: ['tree', 'json', 'yaml', 'dot', 'mermaid'],
    default: 'tree',
  },
  { flags: '--all', description: 'show every line, where more than 200 are folded by kind' },
  allNamespacesOption,
  ...clusterOptions,
];

/** `kubectl cascade tree` */
export function treeCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('tree')
    .argument('[objects...]', 'TYPE/NAME …, or TYPE NAME …; every object that owns something when none is given')
    .summary('Show what an object owns, and what dies with each')
    .description(
      'Show what an object owns, all the way down, and how many objects die with each of them.\n\n' +
        'Marks say what is terminating, held by finalizers, blocks its owner, or names an owner that is not there.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # What does this deployment own?
  kubectl cascade tree deployment/web -n shop

  # Who owns this pod?
  kubectl cascade tree pod/web-7d4b9f-0 -n shop --up

  # Every tree of the cluster, as a drawing
  kubectl cascade tree -A -o dot | dot -Tsvg > cluster.svg`,
    )
    .action(async (objects: string[], flags: TreeFlags) => {
      const { tree } = await import('./tree.ts');
      setExitCode(await tree(objects, flags, terminal));
    });
  return withOptions(command, treeOptions);
}

const graphOptions: readonly CommandOption[] = [
  {
    flags: '-o, --output <FORMAT>',
    description: 'json, yaml, dot or mermaid; else a tree',
    choices: ['json', 'yaml', 'dot', 'mermaid'],
  },
  { flags: '--html <FILE>', description: 'write a page that a browser opens without a network' },
  allNamespacesOption,
  ...clusterOptions,
];

/** `kubectl cascade graph` */
export function graphCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('graph')
    .summary('Draw who owns whom in a namespace or the cluster')
    .description(
      'Draw who owns whom in a namespace or the cluster: as JSON, as a drawing, or as a page to look through.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # A page of the whole cluster
  kubectl cascade graph -A --html cluster.html

  # Nodes and edges of a namespace for a program
  kubectl cascade graph -n shop -o json

  # A picture for a document
  kubectl cascade graph -n shop -o mermaid`,
    )
    .allowExcessArguments(false)
    .action(async (flags: GraphFlags) => {
      const { graph } = await import('./tree.ts');
      setExitCode(await graph(flags, terminal));
    });
  return withOptions(command, graphOptions);
}

const topOptions: readonly CommandOption[] = [
  { flags: '--limit <N>', description: 'objects shown', default: '20' },
  { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
  allNamespacesOption,
  ...clusterOptions,
];

/** `kubectl cascade top` */
export function topCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('top')
    .argument('[type]', 'only objects of this type')
    .summary('Show the objects that take most with them')
    .description('Show the objects that take most with them when they are deleted, the most dangerous first.')
    .addHelpText(
      'after',
      `
Examples:
  # The most dangerous objects of the cluster
  kubectl cascade top -A

  # The most dangerous definitions
  kubectl cascade top crd

  # Ten of a namespace, for a program
  kubectl cascade top -n shop --limit 10 -o json`,
    )
    .allowExcessArguments(false)
    .action(async (type: string | undefined, flags: TopFlags) => {
      const { top } = await import('./tree.ts');
      setExitCode(await top(type, flags, terminal));
    });
  return withOptions(command, topOptions);
}
