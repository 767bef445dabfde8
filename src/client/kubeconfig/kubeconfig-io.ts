/** The I/O that finding and using credentials needs. `cli` provides the real one. */
export interface KubeconfigIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** `:`, or `;` on Windows. */
  readonly pathListSeparator: string;
  /** UTF-8 text. Rejects with an error whose `code` is `ENOENT` if there is no such file. */
  readFile(path: string): Promise<string>;
  /** Runs a program without a terminal, up to its timeout. Rejects if it cannot be started. */
  runProgram(program: ProgramCall): Promise<ProgramResult>;
}

export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface ProgramResult {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  /** True if it was killed after `timeoutMs`. */
  readonly timedOut?: boolean;
  readonly stdout: string;
  readonly stderr: string;
}
