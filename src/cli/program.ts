import { Command, CommanderError, Option } from 'commander';
import { cascadeCommand } from './cascade-command.ts';
import { addOptions } from './flags/add-options.ts';
import { recordCommand } from './take-back/record-command.ts';
import { collectCommand } from './collect/collect-command.ts';
import { endWithError, exitCodeError } from './process/command-error.ts';
import { completionScript } from './completion/completion-script.ts';
import { envtestAssetsCommand, envtestExecutables } from './envtest/envtest-command.ts';
import { mcpCommand } from './mcp/mcp-command.ts';
import { guardCommand } from './guard/guard-command.ts';
import { nodeCommand } from './node/node-command.ts';
import { knownControllers } from '../assembly/controller-names.ts';
import type { Terminal } from './process/terminal.ts';
import type { UpFlags } from './up/up.ts';
import { upOptions } from './up/up-options.ts';
import { kubegcVersion, kubernetesVersion } from './process/version.ts';

function upCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('up')
    .summary('Run an API server with its garbage collector in this process')
    .description(
      'Run an API server and the garbage collector in one process, for kubectl, client-go and operators.\n\n' +
        'Prints where the kubeconfig is and one line when it is ready. Ctrl-C ends it.',
    )
    .addHelpText(
      'after',
      `
Controllers: ${Object.keys(knownControllers).join(', ')}

Examples:
  # Serve on 127.0.0.1:6443 and keep everything in ./.kubegc
  kubegc up

  # A throw-away server on a free port, for a test
  kubegc up --store memory --listen 127.0.0.1:0 --write-kubeconfig /tmp/kubeconfig

  # An API server alone: nothing collects
  kubegc up --controllers '*,-garbage-collector-controller'`,
    )
    .allowExcessArguments(false)
    .action(async (flags: UpFlags) => {
      const { up } = await import('./up/up.ts');
      setExitCode(await up(flags, terminal));
    });
  addOptions(command, upOptions);
  return command;
}

function versionLine(): string {
  return `kubegc ${kubegcVersion} (Kubernetes API ${kubernetesVersion}, Node ${process.versions.node})`;
}

/** Builds the whole command tree, from which completion and the reference page are generated. */
export function buildProgram(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const program = new Command('kubegc')
    .description('See it, test it, take it back: the deletion system for Kubernetes.')
    .version(versionLine(), '--version', 'print the version')
    .addCommand(upCommand(terminal, setExitCode))
    .addCommand(collectCommand(terminal, setExitCode))
    .addCommand(guardCommand(terminal, setExitCode))
    .addCommand(nodeCommand(terminal, setExitCode))
    .addCommand(envtestAssetsCommand(terminal))
    .addCommand(cascadeCommand(terminal, setExitCode))
    .addCommand(recordCommand(terminal, setExitCode))
    .addCommand(mcpCommand(terminal, setExitCode))
    .allowExcessArguments(false);
  for (const command of envtestExecutables(terminal, setExitCode)) program.addCommand(command, { hidden: true });
  program
    .command('version')
    .summary('Print the version of kubegc and of the API it speaks')
    .description('Print the version of kubegc and of the Kubernetes API it speaks.')
    .addOption(new Option('-o, --output <FORMAT>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExamples:\n  kubegc version\n  kubegc version -o json')
    .allowExcessArguments(false)
    .action(({ output }: { output: string }) => {
      const version = { kubegc: kubegcVersion, kubernetes: kubernetesVersion, node: process.versions.node };
      terminal.stdout(
        output === 'json'
          ? `${JSON.stringify({ apiVersion: 'kubegc/v1', kind: 'Version', ...version })}\n`
          : `${versionLine()}\n`,
      );
    });
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .summary('Print a completion script for bash, zsh or fish')
    .description('Print a completion script for a shell.')
    .addHelpText(
      'after',
      `
Examples:
  source <(kubegc completion bash)
  source <(kubegc completion zsh)
  kubegc completion fish | source`,
    )
    .allowExcessArguments(false)
    .action((shell: string) => terminal.stdout(completionScript(shell, program)));
  program.addHelpText(
    'after',
    `
Examples:
  kubegc up
  kubegc up --help
  kubegc collect --mode observe
  export KUBECONFIG=.kubegc/kubeconfig && kubectl get namespaces`,
  );
  return program;
}

/** The words of a command, from the program's name on: `kubegc cascade graph`. */
function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`;
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/**
 * Runs one command line; resolves with the exit code. Never throws.
 * @param name the program that a person called: `kubectl` for a plugin
 */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  name: 'kubegc' | 'kubectl' = 'kubegc',
): Promise<number> {
  let exitCode = 0;
  const program = buildProgram(terminal, (code) => {
    exitCode = code;
  }).name(name);
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({
      writeOut: terminal.stdout,
      writeErr: terminal.stderr,
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      outputError: (text, write) => write(text),
    });
    command.showHelpAfterError(`Run '${wordsOf(command)} --help' for usage.`);
  }
  try {
    if (args.length === 0) {
      terminal.stdout(program.helpInformation());
      return 0;
    }
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodeError;
    return endWithError(error, terminal);
  }
}
