import { assert } from '../../base/errors/assert.ts';

/** Maximum bytes of all bodies in progress on one server, enough for 85 of the largest size. */
export const MAX_BODIES_BYTES = 256 * 1024 * 1024;
/** Maximum bytes for one connection, enough for 16 of the largest size. */
export const MAX_CONNECTION_BODIES_BYTES = 48 * 1024 * 1024;

/**
 * Counts the bytes of request bodies in progress, with one limit for the server and one for each connection, so that no client can exhaust
 * the memory. Invariant: neither count ever exceeds its limit, and both return to zero when all requests have been answered.
 */
export class BodyBudget {
  readonly #ofConnection = new WeakMap<object, number>();
  #total = 0;

  /** Bytes of all bodies in progress. */
  get total(): number {
    return this.#total;
  }

  /** Adds `bytes` for a connection. Returns false and adds nothing if a limit would be exceeded. */
  take(connection: object, bytes: number): boolean {
    const held = this.#ofConnection.get(connection) ?? 0;
    if (this.#total + bytes > MAX_BODIES_BYTES || held + bytes > MAX_CONNECTION_BODIES_BYTES) return false;
    this.#total += bytes;
    this.#ofConnection.set(connection, held + bytes);
    return true;
  }

  giveBack(connection: object, bytes: number): void {
    const held = (this.#ofConnection.get(connection) ?? 0) - bytes;
    this.#total -= bytes;
    assert(held >= 0 && this.#total >= 0, 'more body bytes are released than were taken');
    this.#ofConnection.set(connection, held);
  }
}
