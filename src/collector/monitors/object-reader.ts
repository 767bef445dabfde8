import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import type { ObjectColumns } from '../types/object-columns.ts';

/** The uids that will be looked up in the graph soon. */
export interface ExpectsObjects {
  expect(objects: readonly ObjectColumns[], count: number): void;
}

/** Of an object without managedFields, and in front of those of an object with them, all that is read stands within this. */
const READ_BYTES = 512;
const LINE = 64;
/** The most managers of an object whose fields are passed over together with those of others. */
const PAUSES = 4;
const BRACE = 0x7b;
/** The start of no object. */
const NOWHERE = -1;

/**
 * Reads objects for the graph, several ahead when the stream says what comes: each object is somewhere else in memory, and so is its
 * node, so that one after the other would wait for memory three times an object; together they wait for it about
 * once. That is half of the time of an update in a graph of a million.
 *
 * What stands behind managedFields is read in rounds: each object's is somewhere else again.
 *
 * Ahead or not, `read` gives the same, and throws the same at the same object. One for all monitors: what was read ahead is read
 * before any other monitor's turn.
 */
export class ObjectReader {
  readonly #graph: ExpectsObjects;
  /** For what comes unannounced. */
  readonly #single = new MetadataReader();
  readonly #ahead: MetadataReader[] = [];
  readonly #starts: number[] = [];
  readonly #paused: boolean[] = [];
  #bytes: Uint8Array | undefined;
  #next = 0;
  #count = 0;
  /** Of the readers, those of the last batch. */
  #used = 0;
  /** Means nothing; without it loads that nobody uses would be left out. */
  touched = 0;

  constructor(graph: ExpectsObjects) {
    this.#graph = graph;
  }

  /** See ReflectorSink. Bound: as many readers as were ever announced at once. */
  ahead(bytes: Uint8Array, ranges: Int32Array, count: number): void {
    this.#next = 0;
    this.#count = 0;
    this.#bytes = count === 0 ? undefined : bytes;
    for (let i = 0; i < count; i++) this.#touch(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
    const known = this.#scanAhead(bytes, ranges, count);
    this.#count = known;
    // Else what was read for a longer batch would keep the piece of the stream in which that stood.
    for (let i = known; i < this.#used; i++) this.#ahead[i]!.bytes = bytes;
    this.#used = known;
    this.#graph.expect(this.#ahead, known);
  }

  #scanAhead(bytes: Uint8Array, ranges: Int32Array, count: number): number {
    const ahead = this.#ahead;
    let known = 0;
    let paused = 0;
    for (let i = 0; i < count; i++) {
      const start = ranges[i * 2]!;
      // The texts of one JSON object are overwritten by those of the next.
      if (bytes[start] === BRACE) continue;
      const reader = (ahead[known] ??= new MetadataReader());
      try {
        const scanned = reader.scanHead(bytes, start, ranges[i * 2 + 1]!);
        this.#paused[known] = scanned === 'paused';
        if (scanned === 'paused') paused++;
      } catch {
        // `read` will say it, when it is this object's turn.
        continue;
      }
      this.#starts[known++] = start;
    }
    for (let round = 1; paused > 0; round++) paused = this.#scanOn(bytes, known, round < PAUSES ? 'next pause' : 'end');
    return known;
  }

  #scanOn(bytes: Uint8Array, known: number, to: 'next pause' | 'end'): number {
    const ahead = this.#ahead;
    const paused = this.#paused;
    let touched = 0;
    for (let i = 0; i < known; i++) if (paused[i]!) touched ^= bytes[ahead[i]!.pausedAt]!;
    this.touched ^= touched;
    let left = 0;
    for (let i = 0; i < known; i++) {
      if (!paused[i]!) continue;
      paused[i] = false;
      try {
        if (ahead[i]!.scanOn(to) === 'done') continue;
      } catch {
        // Not read ahead, then: as above.
        this.#starts[i] = NOWHERE;
        continue;
      }
      paused[i] = true;
      left++;
    }
    return left;
  }

  /** The columns of the object `bytes[start..end)`, until the next call. Throws like MetadataReader. */
  read(bytes: Uint8Array, start: number, end: number): ObjectColumns {
    if (bytes === this.#bytes) {
      while (this.#next < this.#count) {
        const at = this.#next++;
        if (this.#starts[at] === start) return this.#ahead[at]!;
        if (this.#starts[at]! > start) {
          this.#next = at;
          break;
        }
      }
    }
    this.#single.scan(bytes, start, end);
    return this.#single;
  }

  #touch(bytes: Uint8Array, start: number, end: number): void {
    const stop = start + READ_BYTES;
    // Memory that is read on and on the processor fetches ahead itself.
    if (end <= stop + READ_BYTES) return;
    let touched = 0;
    for (let at = start; at < stop; at += LINE) touched ^= bytes[at]!;
    this.touched ^= touched;
  }
}
