import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import type { ObjectColumns } from '../types/object-columns.ts';

/** Receives the uids that will soon be looked up in the graph. */
interface ExpectsObjects {
  expect(objects: readonly ObjectColumns[], count: number): void;
}

/** The first bytes of an object. They hold all fields that are read, except those behind managedFields. */
const READ_BYTES = 512;
const LINE = 64;
/** Maximum number of managers of an object whose fields are skipped together with those of other objects. */
const PAUSES = 4;
const BRACE = 0x7b;
/** An offset at which no object begins. */
const NOWHERE = -1;

/**
 * Reads objects for the graph, several at once when the stream announces them. Each object and its node are at a different place in memory.
 * One after the other, they would wait for memory three times per object; together they wait about once. That is half of the time of an
 * update in a graph of a million.
 *
 * The fields behind managedFields are read in rounds, because they too are at a different place for each object.
 *
 * With or without reading ahead, `read` gives the same result, and throws the same error at the same object. All monitors share one reader:
 * the objects that were read ahead are read before any other monitor's turn.
 */
export class ObjectReader {
  readonly #graph: ExpectsObjects;
  /** The reader of objects that were not announced. */
  readonly #single = new MetadataReader();
  readonly #ahead: MetadataReader[] = [];
  readonly #starts: number[] = [];
  readonly #paused: boolean[] = [];
  #bytes: Uint8Array | undefined;
  #next = 0;
  #count = 0;
  /** The number of readers that the last batch used. */
  #used = 0;
  /** The value has no meaning; without it the compiler would remove the loads. */
  touched = 0;

  constructor(graph: ExpectsObjects) {
    this.#graph = graph;
  }

  /** See ReflectorSink. Bound: as many readers as the largest number of objects that were announced together. */
  ahead(bytes: Uint8Array, ranges: Int32Array, count: number): void {
    this.#next = 0;
    this.#count = 0;
    this.#bytes = count === 0 ? undefined : bytes;
    for (let i = 0; i < count; i++) this.#touch(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
    const known = this.#scanAhead(bytes, ranges, count);
    this.#count = known;
    // Otherwise readers that this batch does not need would keep the bytes of an earlier one in memory.
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
      // The texts of one JSON object are overwritten by those of the next, so JSON is not read ahead.
      if (bytes[start] === BRACE) continue;
      const reader = (ahead[known] ??= new MetadataReader());
      try {
        const scanned = reader.scanHead(bytes, start, ranges[i * 2 + 1]!);
        this.#paused[known] = scanned === 'paused';
        if (scanned === 'paused') paused++;
      } catch {
        // `read` throws the error when it is this object's turn.
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
        // This object is not read ahead; `read` throws the error, as above.
        this.#starts[i] = NOWHERE;
        continue;
      }
      paused[i] = true;
      left++;
    }
    return left;
  }

  /** The columns of the object `bytes[start..end)`, valid until the next call. Throws like MetadataReader. */
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
    // The processor itself prefetches memory that is read sequentially.
    if (end <= stop + READ_BYTES) return;
    let touched = 0;
    for (let at = start; at < stop; at += LINE) touched ^= bytes[at]!;
    this.touched ^= touched;
  }
}
