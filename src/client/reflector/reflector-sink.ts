import type { TransportError } from '../http/transport.ts';

/**
 * The meaning of a known object's absence from an enumeration. `proven`: the enumeration was as new as any earlier state, so the object no
 * longer exists. `unproven`: the server could answer from a cache of any age, which may be older than an interrupted enumeration.
 */
export type EnumerationGaps = 'proven' | 'unproven';

/**
 * Receives the events of one resource from a reflector. All calls are synchronous and in the server's order. An object is
 * `bytes[start..end)`: JSON text if its first byte is `{`, otherwise protobuf, with the `k8s\0` envelope from a watch and as a bare message
 * from a list. The range may be overwritten after the call returns, so a sink copies what it keeps. If a sink throws for an unreadable
 * object, the reflector reports it and lists again, so that nothing is dropped silently.
 *
 * The reflector keeps no objects. The sink, which knows its objects, detects deletions that only a new list shows (COL-042, COL-047): every
 * object without `added` or `modified` between `replaceBegin` and `replaceEnd` is gone, or must be verified elsewhere if the gaps prove
 * nothing.
 */
export interface ReflectorSink {
  /**
   * A complete enumeration begins. Until `replaceEnd` each existing object comes at least once as `added` or `modified`, known or not;
   * `deleted` keeps its meaning.
   */
  replaceBegin(): void;
  /** The enumeration is complete as of this resource version. `gaps` describes objects that were not in it. */
  replaceEnd(resourceVersion: string, gaps: EnumerationGaps): void;
  /** The enumeration broke off. The objects that it showed exist; absences prove nothing. */
  replaceAbort(): void;
  /**
   * A hint that these objects come next, one by one; 0 withdraws it. See `OnWatchAhead`. Most objects come without a hint, so nothing may
   * depend on it.
   */
  ahead?(bytes: Uint8Array, ranges: Int32Array, count: number): void;
  added(bytes: Uint8Array, start: number, end: number): void;
  modified(bytes: Uint8Array, start: number, end: number): void;
  /** The object's last state, with the resource version of its deletion. */
  deleted(bytes: Uint8Array, start: number, end: number): void;
  /** Everything up to this resource version has been delivered. */
  bookmark(resourceVersion: string): void;
  /** The first enumeration is complete (COL-025). Called once, right after its `replaceEnd`. */
  synced(): void;
  /** The server has answered a list or watch; its content follows. `began`: when the enumeration or the watch began, monotonic, ms. */
  opened?(began: number): void;
  /** The connection of a watch broke that had been of use. The watch resumes at once. */
  cut?(error: TransportError): void;
  /** A failure that will be retried (COL-048). A StatusError, TransportError or DecodeError. */
  failed(error: Error): void;
  /** Back-pressure: while the promise is pending, nothing more is read from the server. */
  ready?(): Promise<void> | undefined;
}
