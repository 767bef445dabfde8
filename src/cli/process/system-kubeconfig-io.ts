import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import type { KubeconfigIo, ProgramCall, ProgramResult } from '../../client/kubeconfig/kubeconfig-io.ts';

/** The most a credential program may print. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;

/** Kubeconfigs, tokens and credential programs of this machine. */
export const systemKubeconfigIo: KubeconfigIo = {
  env: process.env,
  homeDirectory: homedir(),
  pathListSeparator: delimiter,
  readFile: (path) => readFile(path, 'utf8'),
  runProgram: (call) => runProgram(call, systemClock),
};

/**
 * Runs it until it ends and its output does, or the time is over: then it is killed without a further wait. Its own child processes are left
 * alone, but their output is closed. They cannot be killed with it: a process group of its own would have no terminal to ask on.
 */
export function runProgram({ command, args, env, timeoutMs }: ProgramCall, clock: Clock): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    const timer = clock.setTimer(timeoutMs, () => {
      const timedOut = child.exitCode === null && child.signalCode === null;
      child.kill('SIGKILL');
      child.unref();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ exitCode: child.exitCode, ...output, ...(timedOut ? { timedOut } : {}) });
    });
    child.on('error', (error) => {
      timer.cancel();
      reject(error);
    });
    // It comes when everybody who holds the pipes is gone, also whom the program has left behind.
    child.on('close', (exitCode) => {
      timer.cancel();
      resolve({ exitCode, ...output });
    });
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < MAX_OUTPUT_CHARACTERS) output[name] += text;
      });
    }
  });
}
