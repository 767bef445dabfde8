import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type CommandOptions, type CommandResult, runCommand } from '../program/run-command.ts';

/**
 * The kubectl binaries to test with, from KUBECTL_PATHS (separated by colons). It is an error, never a skip, when there are
 * fewer than two: the promise is that several versions work.
 */
export function kubectlPaths(): readonly string[] {
  const paths = (process.env['KUBECTL_PATHS'] ?? '').split(':').filter((path) => path !== '');
  if (paths.length < 2 || !paths.every((path) => existsSync(path))) {
    throw new Error(
      'KUBECTL_PATHS must name at least two kubectl binaries, separated by colons. ' +
        'Get them with: scripts/debian-kubectl.sh .cache/kubectl trixie forky',
    );
  }
  return paths;
}

/**
 * Binaries that are too old for everything: they have fewer commands, read OpenAPI v2 and know no protobuf writes. An error,
 * never a skip, when there is none.
 */
export function olderKubectlPaths(): readonly string[] {
  const paths = (process.env['KUBECTL_OLDER_PATHS'] ?? '').split(':').filter((path) => path !== '');
  if (paths.length === 0 || !paths.every((path) => existsSync(path))) {
    throw new Error(
      'KUBECTL_OLDER_PATHS must name a kubectl binary of an older release. ' +
        'Get it with: scripts/debian-kubectl.sh .cache/kubectl bookworm',
    );
  }
  return paths;
}

/** 36 of 1.36.4. */
export async function minorVersionOf(kubectl: Kubectl): Promise<number> {
  const version = JSON.parse(await kubectl.run('version --client -o json')) as { clientVersion: { minor: string } };
  return Number.parseInt(version.clientVersion.minor, 10);
}

/** One kubectl binary with a kubeconfig and a cache of its own. */
export class Kubectl {
  readonly path: string;
  readonly kubeconfig: string;
  readonly #home: string;

  constructor(options: { path: string; kubeconfig: string; home: string }) {
    this.path = options.path;
    this.kubeconfig = options.kubeconfig;
    this.#home = options.home;
  }

  /** Starts `kubectl ARGS`, which goes on until it is stopped. */
  start(args: readonly string[]): { readonly stdout: string; stop(): Promise<void> } {
    const env = { ...process.env, KUBECONFIG: this.kubeconfig, HOME: this.#home };
    const child = spawn(this.path, [...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise<void>((over) => child.once('close', () => over()));
    const running = {
      stdout: '',
      stop(): Promise<void> {
        child.kill();
        return ended;
      },
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (running.stdout += text));
    return running;
  }

  /** Runs `kubectl ARGS`, whatever comes of it. */
  try(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    const env = { KUBECONFIG: this.kubeconfig, HOME: this.#home, ...options.env };
    return runCommand(this.path, args, { ...options, env });
  }

  /** Runs `kubectl ARGS` and returns stdout; an exit code other than 0 is an error that contains the output. */
  async run(line: string | readonly string[], options: CommandOptions = {}): Promise<string> {
    const args = typeof line === 'string' ? line.split(' ') : line;
    const { code, stdout, stderr } = await this.try(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`);
    return stdout;
  }

  async json(line: string): Promise<Record<string, never>> {
    return JSON.parse(await this.run(`${line} -o json`)) as Record<string, never>;
  }
}
