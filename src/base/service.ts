/** Something that runs until it is stopped. */
export interface Service {
  /**
   * Resolves after `signal` is aborted and everything that the service started has ended. Rejects only if it cannot go on at all; failures
   * of one object or resource are reported and retried.
   */
  run(signal: AbortSignal): Promise<void>;
}
