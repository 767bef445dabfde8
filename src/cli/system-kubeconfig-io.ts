import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import type { KubeconfigIo, ProgramCall, ProgramResult } from '../client/kubeconfig-io.ts';

/** The most a credential program may print. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;

/** Kubeconfigs, tokens and credential programs of this machine. */
export const systemKubeconfigIo: KubeconfigIo = {
  env: process.env,
  homeDirectory: homedir(),
  pathListSeparator: delimiter,
  readFile: (path) => readFile(path, 'utf8'),
  runProgram,
};

function runProgram({ command, args, env, timeoutMs }: ProgramCall): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < MAX_OUTPUT_CHARACTERS) output[name] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, ...output }));
  });
}
