import { viewOf } from '../../../base/random/byte-view.ts';
import {
  OWNER_API_VERSION_RANGE,
  OWNER_FIELDS,
  OWNER_FLAGS,
  OWNER_MESSAGE,
  OWNER_NAME_RANGE,
  OWNER_UID,
  OWNER_UID_IS_TEXT,
  OWNER_UID_RANGE,
} from '../../../api/codec/metadata/metadata-columns.ts';
import type { ObjectColumns } from '../../types/object-columns.ts';

/** The bits of `low` that are the state itself: deletionTimestamp, and the presence of the two finalizers. */
export const HASH_STATE = 0b111;

/**
 * A hash of the fields that make an update relevant (COL-046): three bits of state, and 61 bits over the references as a list. Two
 * different lists have the same hash with a chance of 2^-61, which is less than the chance of broken memory. The seed keeps anybody from
 * making two such lists, and only their own object would suffer.
 *
 * Fields instead of a result, and one function instead of several, because it runs for every event of a cluster.
 */
export class EventHash {
  low = 0;
  high = 0;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  of(columns: ObjectColumns): void {
    const { bytes, owners, ownerCount } = columns;
    const state =
      (columns.deleting ? 1 : 0) | (columns.foregroundFinalizer ? 2 : 0) | (columns.orphanFinalizer ? 4 : 0);
    let a = Math.imul(this.#seed ^ ownerCount, 0x9e3779b1);
    let b = Math.imul(a ^ this.#seed, 0x165667b1);
    if (columns.ownersUnread) {
      this.#ofMessages(columns, a, b);
      this.low = (this.low & ~HASH_STATE) | state;
      return;
    }
    for (let at = 0, end = ownerCount * OWNER_FIELDS; at < end; at += OWNER_FIELDS) {
      const flags = owners[at + OWNER_FLAGS]!;
      // A uid that is a text has no words, but precedes the other texts.
      const first = (flags & OWNER_UID_IS_TEXT) === 0 ? OWNER_NAME_RANGE : OWNER_UID_RANGE;
      for (let i = OWNER_UID; i < OWNER_UID + 4; i++) {
        a = Math.imul(a ^ owners[at + i]!, 0x85ebca6b);
        b = Math.imul(b ^ owners[at + i]!, 0xc2b2ae35);
        a ^= a >>> 15;
        b ^= b >>> 13;
      }
      a ^= flags;
      b ^= flags << 16;
      for (let range = first; range <= OWNER_API_VERSION_RANGE; range += 2) {
        let i = owners[at + range]!;
        const stop = owners[at + range + 1]!;
        a ^= stop - i;
        b ^= stop - i;
        for (; i + 4 <= stop; i += 4) {
          const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
          a = Math.imul(a ^ word, 0x85ebca6b);
          b = Math.imul(b ^ word, 0xc2b2ae35);
          a ^= a >>> 15;
          b ^= b >>> 13;
        }
        let rest = 0;
        for (; i < stop; i++) rest = (rest << 8) | bytes[i]!;
        a = Math.imul(a ^ rest, 0x85ebca6b);
        b = Math.imul(b ^ rest, 0xc2b2ae35);
        a ^= a >>> 15;
        b ^= b >>> 13;
      }
    }
    this.low = (a & ~HASH_STATE) | state;
    this.high = b;
  }

  /**
   * Hashes the references by the bytes of their messages. The same reference may have other bytes in another encoding, or from another
   * server; then the hashes differ and everything is compared, which is slow but right. Each word goes into one of two pairs of lanes, so
   * that two multiplications wait for two others instead of four.
   */
  #ofMessages({ bytes, owners, ownerCount }: ObjectColumns, low: number, high: number): void {
    const view = viewOf(bytes);
    let a = low;
    let b = high;
    let c = low ^ 0x27d4eb2f;
    let d = high ^ 0x5bd1e995;
    for (let at = OWNER_MESSAGE, end = ownerCount * OWNER_FIELDS; at < end; at += OWNER_FIELDS) {
      let i = owners[at]!;
      const stop = owners[at + 1]!;
      const length = stop - i;
      a ^= length;
      b ^= length;
      if (length < 8) {
        for (; i < stop; i++) {
          a = Math.imul(a ^ bytes[i]!, 0x85ebca6b);
          b = Math.imul(b ^ bytes[i]!, 0xc2b2ae35);
          a ^= a >>> 15;
          b ^= b >>> 13;
        }
        continue;
      }
      for (; i < stop; i += 8) {
        // The last two words overlap those before them, which avoids a loop over the remaining bytes.
        const from = i + 8 <= stop ? i : stop - 8;
        const even = view.getInt32(from, true);
        const odd = view.getInt32(from + 4, true);
        a = Math.imul(a ^ even, 0x85ebca6b);
        b = Math.imul(b ^ even, 0xc2b2ae35);
        c = Math.imul(c ^ odd, 0x85ebca6b);
        d = Math.imul(d ^ odd, 0xc2b2ae35);
        a ^= a >>> 15;
        b ^= b >>> 13;
        c ^= c >>> 15;
        d ^= d >>> 13;
      }
    }
    this.low = a ^ Math.imul(c ^ (c >>> 16), 0x9e3779b1);
    this.high = b ^ Math.imul(d ^ (d >>> 16), 0x9e3779b1);
  }
}
