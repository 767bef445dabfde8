/** The user who sent a request, as the API server knows it. */
export interface Requester {
  /** Name of the user. */
  readonly username: string;
  /** Groups of the user. */
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
