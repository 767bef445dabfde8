/** The outside world as far as finding and using credentials needs it. `cli` binds the real one. */
export interface KubeconfigIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** `:`, or `;` on Windows. */
  readonly pathListSeparator: string;
  /** UTF-8 text. Rejects with an error whose `code` is `ENOENT` when there is no such file. */
  readFile(path: string): Promise<string>;
  /** Runs a program without a terminal, no longer than it may. Rejects when it can not be started. */
  runProgram(program: ProgramCall): Promise<ProgramResult>;
}

export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface ProgramResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** It was still running after `timeoutMs`, and was killed. */
  readonly timedOut?: boolean;
  readonly stdout: string;
  readonly stderr: string;
}
