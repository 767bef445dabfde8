/** Something that runs until it is stopped. */
export interface Service {
  /**
   * Resolves after `signal` is aborted and everything the service started has ended. Rejects only when it can not go
   * on at all; trouble with one object or one resource is reported and survived.
   */
  run(signal: AbortSignal): Promise<void>;
}
