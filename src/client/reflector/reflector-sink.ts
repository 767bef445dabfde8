/**
 * The meaning of an object that the sink knew and an enumeration lacks. `proven`: it was as new as anything shown
 * before it, so the object no longer exists. `unproven`: the server was allowed to answer from a cache of any age, which may be
 * older than an enumeration that broke off before.
 */
export type EnumerationGaps = 'proven' | 'unproven';

/**
 * Where a reflector delivers what it sees of one resource. All calls are synchronous and in the server's order.
 *
 * An object is `bytes[start..end)`: JSON text when its first byte is `{`, else protobuf: with the `k8s\0` envelope from a
 * watch, a bare message from a list. The range may be overwritten after the call returns; a sink copies what it keeps.
 * A sink that can not read an object throws: the reflector reports it and lists again (nothing is dropped silently).
 *
 * The reflector keeps no objects. Deletions that only a new list shows (COL-042, COL-047) are found by the sink, which
 * knows its objects anyway: everything not `added` or `modified` between `replaceBegin` and `replaceEnd` is gone, or looked
 * for elsewhere if the gaps prove nothing.
 */
export interface ReflectorSink {
  /**
   * A complete enumeration begins. Until `replaceEnd` each object that exists comes at least once as `added` or
   * `modified`, known or not; `deleted` keeps its meaning.
   */
  replaceBegin(): void;
  /** The enumeration is complete as of this resource version. What `gaps` says is true of objects that were not in it. */
  replaceEnd(resourceVersion: string, gaps: EnumerationGaps): void;
  /** The enumeration broke off: what it showed is true, what it did not show proves nothing. */
  replaceAbort(): void;
  /**
   * A hint: these objects come next, one by one, before anything else is read; 0 takes the hint back. See `OnWatchAhead`. Nothing may
   * depend on it: most objects come without.
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
  /** The server has answered a list or watch; what it has to say follows. */
  opened?(): void;
  /** Something went wrong and will be tried again (COL-048). A StatusError, TransportError or DecodeError. */
  failed(error: Error): void;
  /** Back-pressure: while the promise is pending no more is read from the server. */
  ready?(): Promise<void> | undefined;
}
