import { ForeignClusterError } from '../../collector/trust/cluster-identity.ts';
import type { Terminal } from './terminal.ts';

/**
 * An error that stops the command: one sentence says what is wrong, another one what to do. The program prints both to stderr and ends with
 * exit code 1.
 */
export class CommandError extends Error {
  readonly advice: string | undefined;

  constructor(message: string, advice?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.advice = advice;
  }
}

/** The system's reason in words, for messages: `permission denied`, not `EACCES: permission denied, open '…'`. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const words: Record<string, string> = {
    EACCES: 'permission denied',
    EADDRINUSE: 'the address is already in use',
    EADDRNOTAVAIL: 'this machine does not have that address',
    EEXIST: 'a file of that name is in the way',
    EISDIR: 'it is a directory',
    ENOENT: 'no such file or directory',
    ENOSPC: 'no space left on the device',
    ENOTDIR: 'a part of the path is not a directory',
    EROFS: 'the file system is read-only',
  };
  return words[code] ?? error.message;
}

/** Wrong usage and refusals end with 1; 2 and above have other meanings (findings, guard, timeout). */
export const exitCodeError = 1;

/** `kubegc collect` met another cluster than the one it started with. */
export const exitCodeForeignCluster = 5;

/** The reason why the command cannot go on: the message of a {@link CommandError}, or all details of an internal error. */
export function endWithError(error: unknown, terminal: Terminal): number {
  if (error instanceof ForeignClusterError) {
    terminal.stderr(`error: ${error.message}\n`);
    return exitCodeForeignCluster;
  }
  if (error instanceof CommandError) {
    terminal.stderr(`error: ${error.message}\n${error.advice ? `${error.advice}\n` : ''}`);
    return exitCodeError;
  }
  terminal.stderr(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  terminal.stderr('This is a fault in kubegc, not in what you typed. Please report it with the text above.\n');
  return exitCodeError;
}
