import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import type { KubeconfigIo, ProgramCall, ProgramResult } from '../../client/kubeconfig/kubeconfig-io.ts';

/** Maximum output of a credential program. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;

/** The kubeconfigs, tokens and credential programs of this machine. */
export const systemKubeconfigIo: KubeconfigIo = {
  env: process.env,
  homeDirectory: homedir(),
  pathListSeparator: delimiter,
  readFile: (path) => readFile(path, 'utf8'),
  runProgram: (call) => runProgram(call, systemClock),
};

/**
 * Runs a program until it and its output end, or until the timeout: then it is killed without a further wait. Its child processes keep
 * running, but their output is closed. They cannot be killed with it, because in a separate process group it could not ask on the terminal.
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
    // This event comes when all holders of the pipes are gone, including children that the program left behind.
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
