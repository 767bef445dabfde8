/** The output of a command. It is injected, so that tests read the same as a person. */
export interface Terminal {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Width in characters. */
  readonly columns: number;
  /** True if a person reads the output live. */
  readonly isInteractive?: boolean;
}
