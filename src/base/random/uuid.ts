import { viewOf } from './byte-view.ts';

const UUID_LENGTH = 36;
const DASH = 0x2d;

/**
 * The value of two lower-case hexadecimal digits, by the two bytes as one number. Upper case is not accepted, because it would not be
 * written back in the same form. Only the few cache lines of the 128 KB between `00` and `ff` are used.
 */
const PAIRS = new Int16Array(2 ** 16).fill(-1);
for (let value = 0; value < 256; value++) {
  const text = value.toString(16).padStart(2, '0');
  PAIRS[(text.charCodeAt(0) << 8) | text.charCodeAt(1)] = value;
}

/**
 * A uuid in the canonical form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in lower case, as four 32-bit words. The object is reused, because a
 * result for each uuid would be garbage. The words are signed, because an unsigned one would be a boxed number.
 */
export class UuidWords {
  w0 = 0;
  w1 = 0;
  w2 = 0;
  w3 = 0;

  /** Returns false and keeps the words if the bytes are not in the canonical form. */
  parse(bytes: Uint8Array, start: number, end: number): boolean {
    if (
      end - start !== UUID_LENGTH ||
      bytes[start + 8] !== DASH ||
      bytes[start + 13] !== DASH ||
      bytes[start + 18] !== DASH ||
      bytes[start + 23] !== DASH
    ) {
      return false;
    }
    const view = viewOf(bytes);
    const a = half(view, start);
    const b = half(view, start + 4);
    const c = half(view, start + 9);
    const d = half(view, start + 14);
    const e = half(view, start + 19);
    const f = half(view, start + 24);
    const g = half(view, start + 28);
    const h = half(view, start + 32);
    if ((a | b | c | d | e | f | g | h) < 0) return false;
    this.w0 = (a << 16) | b;
    this.w1 = (c << 16) | d;
    this.w2 = (e << 16) | f;
    this.w3 = (g << 16) | h;
    return true;
  }
}

/** Parses four digits; negative if one is invalid. */
function half(view: DataView, at: number): number {
  return (PAIRS[view.getUint16(at)]! << 8) | PAIRS[view.getUint16(at + 2)]!;
}

const HEX = Buffer.from('0123456789abcdef', 'latin1');
const text = Buffer.alloc(UUID_LENGTH, '-', 'latin1');

/** The canonical form of four words as one flat string. Concatenation would create a tree of ten strings, ten times as large. */
export function formatUuid(w0: number, w1: number, w2: number, w3: number): string {
  writeHalf(w0 >>> 16, 0);
  writeHalf(w0 & 0xffff, 4);
  writeHalf(w1 >>> 16, 9);
  writeHalf(w1 & 0xffff, 14);
  writeHalf(w2 >>> 16, 19);
  writeHalf(w2 & 0xffff, 24);
  writeHalf(w3 >>> 16, 28);
  writeHalf(w3 & 0xffff, 32);
  return text.toString('latin1');
}

function writeHalf(h: number, at: number): void {
  text[at] = HEX[h >>> 12]!;
  text[at + 1] = HEX[(h >>> 8) & 15]!;
  text[at + 2] = HEX[(h >>> 4) & 15]!;
  text[at + 3] = HEX[h & 15]!;
}
