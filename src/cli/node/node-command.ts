import { Command } from 'commander';
import { type CommandOption, withOptions } from '../command/command-option.ts';
import type { Terminal } from '../process/terminal.ts';
import { nodeOptions, outputOption } from './node-options.ts';
import type { PlanFlags } from './plan.ts';
import type { PruneFlags } from './prune.ts';
import type { RepairFlags } from './repair.ts';
import type { RunFlags } from './run.ts';
import type { StatusFlags } from './status.ts';

type SetExitCode = (code: number) => void;

const containersOption: CommandOption = {
  flags: '--containers',
  description: 'dead containers, pod sandboxes and logs as well',
};
const confirmOption: CommandOption = { flags: '--confirm', description: 'remove; without it nothing is removed' };

/** `kubegc node`: image and container collection on this machine. */
export function nodeCommand(terminal: Terminal, setExitCode: SetExitCode): Command {
  const end = async (work: Promise<number>): Promise<void> => {
    try {
      setExitCode(await work);
    } catch (error) {
      if (
        !(error instanceof Error) ||
        !('exitCode' in error) ||
        typeof error.exitCode !== 'number' ||
        !('advice' in error)
      )
        throw error;
      terminal.stderr(`error: ${error.message}\n${typeof error.advice === 'string' ? `${error.advice}\n` : ''}`);
      setExitCode(error.exitCode);
    }
  };
  const run = new Command('run')
    .summary('Collect images and dead containers until stopped')
    .description(
      'Collect images, dead containers, pod sandboxes and logs until stopped. Beside a kubelet it collects images only.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  # Look, remove nothing\n  kubegc node run --mode audit\n\n  # With events and knowledge of pods\n  kubegc node run --pods apiserver',
    )
    .action(async (flags: RunFlags) => end((await import('./run.ts')).run(flags, terminal)));
  withOptions(run, [
    {
      flags: '--mode <MODE>',
      description: 'auto is besideKubelet where a kubelet runs, else standalone; audit removes nothing',
      choices: ['auto', 'besideKubelet', 'standalone', 'audit'],
    },
    { flags: '--dry-run', description: 'plan and report, remove nothing' },
    {
      flags: '--bind-address <HOST:PORT>',
      description: 'serve /healthz, /readyz and /metrics over plain HTTP; off unless given; :PORT is 127.0.0.1 alone',
    },
    {
      flags: '--bind-token-file <FILE>',
      description: 'bearer token that /metrics asks for; needed for addresses other than loopback',
    },
    {
      flags: '--log-level <LEVEL>',
      description: 'minimum log level',
      choices: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
    },
    {
      flags: '--log-format <FORMAT>',
      description: 'text for people, json for programs',
      choices: ['text', 'json'],
      default: 'text',
    },
    ...nodeOptions,
  ]);

  const plan = new Command('plan')
    .summary('Show what the next pass would remove, and why everything else stays')
    .description(
      'Show what the next pass would remove, how much that frees, and why everything else stays. Removes nothing.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  kubegc node plan\n  kubegc node plan --image-gc-high-threshold 50 --image-gc-low-threshold 40 -o json',
    )
    .action(async (flags: PlanFlags) => end((await import('./plan.ts')).plan(flags, terminal)));
  withOptions(plan, [containersOption, outputOption, ...nodeOptions]);

  const why = new Command('why')
    .argument('<image>', 'reference, glob, digest or id')
    .summary('Explain why an image stays or goes')
    .description('Explain why an image stays or goes, what it frees, and what it shares with others. Removes nothing.')
    .addHelpText('after', "\nExamples:\n  kubegc node why nginx:1.27\n  kubegc node why 'quay.io/team/*'")
    .action(async (image: string, flags: PlanFlags) => end((await import('./why.ts')).why(image, flags, terminal)));
  withOptions(why, [outputOption, ...nodeOptions]);

  const prune = new Command('prune')
    .summary('Remove unused images now')
    .description(
      'Remove every unused image, or as few as it takes to reach --to. Without --confirm it says what would go, and ends with exit code 3 if anything would.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  # What would go\n  kubegc node prune --dry-run\n\n  # Down to 70% use of the disk\n  kubegc node prune --to 70 --confirm',
    )
    .action(async ({ untagOnly = false, ...flags }: PruneFlags & { readonly untagOnly?: boolean }) =>
      end(
        untagOnly
          ? (await import('./untag.ts')).untag(flags, terminal)
          : (await import('./prune.ts')).prune(flags, terminal),
      ),
    );
  withOptions(prune, [
    { flags: '--to <PERCENT>', description: 'stop when this much of the disk is used; else every unused image goes' },
    containersOption,
    {
      flags: '--untag-only',
      description: 'remove tags by which no container was started, of images in use; every image stays (containerd)',
    },
    confirmOption,
    { flags: '--dry-run', description: 'say what would go' },
    outputOption,
    ...nodeOptions,
  ]);

  const status = new Command('status')
    .summary('Show the disk, what holds it, and findings')
    .description('Show how full the disk is, which images hold it, and records that no collection can remove.')
    .addHelpText(
      'after',
      '\nExamples:\n  kubegc node status\n  kubegc node status --check || echo "the disk is full, or something is wrong"',
    )
    .action(async (flags: StatusFlags) => end((await import('./status.ts')).status(flags, terminal)));
  withOptions(status, [
    {
      flags: '--check',
      description: 'end with exit code 2 when the disk is above the threshold, or there is a finding',
    },
    outputOption,
    ...nodeOptions,
  ]);

  const repair = new Command('repair')
    .summary('Remove image records that no collection can remove')
    .description(
      'Remove records of images that containerd keeps although no image shows them. Without --confirm it lists them and ends with exit code 3.',
    )
    .addHelpText('after', '\nExamples:\n  kubegc node repair --stranded --confirm')
    .action(async (flags: RepairFlags) => end((await import('./repair.ts')).repair(flags, terminal)));
  withOptions(repair, [
    { flags: '--stranded', description: 'records whose only name is a digest' },
    confirmOption,
    ...nodeOptions,
  ]);

  const node = new Command('node')
    .summary('Collect images and dead containers on this machine')
    .description(
      'See what fills the disk of a node, and collect images and dead containers over the container runtime interface.',
    );
  for (const each of [run, plan, why, prune, status, repair]) node.addCommand(each.allowExcessArguments(false));
  return node;
}
