import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';
import { clusterOptions } from '../command/cluster-options.ts';
import { withOptions } from '../command/command-option.ts';
import type { ExplainFlags } from './explain.ts';

/** `kubectl cascade explain TYPE/NAME` */
export function explainCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('explain')
    .argument('<object...>', 'TYPE/NAME, or TYPE NAME')
    .summary('Say why an object is alive, or why it does not go away')
    .description(
      'Say why an object is alive, or why it does not go away: its owners with proofs, what the collector decides, who set each\n' +
        'finalizer and whether anything serves it, what it waits for down to the first cause, and the next safe step.\n\n' +
        'Changes nothing; writes are dry runs. Exit code 2 when something is stuck.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # A namespace that stays in Terminating
  kubectl cascade explain namespace/shop

  # Why a dependent is still there after its owner went
  kubectl cascade explain configmap web-config -n shop

  # For a program: codes, evidence and next steps
  kubectl cascade explain pvc/data -o json`,
    )
    .action(async (objects: string[], flags: ExplainFlags) => {
      const { explainObject } = await import('./explain.ts');
      setExitCode(await explainObject(objects, flags, terminal));
    });
  return withOptions(command, [
    { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] },
    ...clusterOptions,
  ]);
}
