/** Where a command writes. Injected, so that tests read what a person would see. */
export interface Terminal {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Width in characters. */
  readonly columns: number;
  /** A person reads it as it comes. */
  readonly isInteractive?: boolean;
}
