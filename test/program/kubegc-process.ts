import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** The built program, as a user gets it; `KUBEGC_COMMAND` names another one (an installed tarball). */
export const kubegcCommand = process.env['KUBEGC_COMMAND'] ?? join(root, 'dist/kubegc.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const readyPattern = /^kubegc is ready/m;

export interface ProcessOptions {
  readonly cwd?: string;
  /** Beside what this process has. */
  readonly env?: Readonly<Record<string, string>>;
  /** No file may become larger; stands in for a disk that has no room left. */
  readonly fileKilobytes?: number;
  /** A folder that the program sees where the kubelet puts the files of a pod's ServiceAccount. */
  readonly serviceAccount?: string;
}

/** With a `/run` of its own, in which `/var/run/secrets` is. */
function inPod(serviceAccount: string, program: readonly string[]): string[] {
  const place = '/run/secrets/kubernetes.io';
  const script = `mount -t tmpfs none /run && mkdir -p ${place} && ln -s "$0" ${place}/serviceaccount && exec "$@"`;
  return ['unshare', '--map-root-user', '--mount', 'sh', '-ec', script, serviceAccount, ...program];
}

/** The real program in a process of its own. */
export class KubegcProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[], { cwd, env, fileKilobytes, serviceAccount }: ProcessOptions = {}) {
    let program = [process.execPath, kubegcCommand, ...args];
    if (fileKilobytes !== undefined) program = ['bash', '-c', `ulimit -f ${fileKilobytes}; exec "$0" "$@"`, ...program];
    if (serviceAccount !== undefined) program = inPod(serviceAccount, program);
    const [command = '', ...rest] = program;
    this.#child = spawn(command, rest, {
      cwd: cwd ?? root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.ended = new Promise((settle) => {
      this.#child.on('close', (code, signal) => settle({ code, signal, stdout: this.#stdout, stderr: this.#stderr }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return `${this.#stdout}${this.#stderr}`;
  }

  /** Resolves when the program has said that it is ready; rejects with its output when it ends before. */
  async ready(): Promise<void> {
    let over = false;
    void this.ended.then(() => (over = true));
    await until('kubegc is ready', () => over || readyPattern.test(this.#stdout)).catch(() => undefined);
    if (!readyPattern.test(this.#stdout)) throw new Error(`kubegc did not get ready:\n${this.output}`);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<Ended> {
    this.kill('SIGTERM');
    return this.ended;
  }
}

/** A directory that is gone after `use` has ended, whatever happened in it. */
export async function temporaryDirectory(): Promise<{ path: string; [Symbol.asyncDispose](): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'kubegc-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
