import type { Uid } from './identity.ts';

/** Value of a lower-case hexadecimal digit by character code, 255 for everything else. */
const DIGITS = new Uint8Array(256).fill(255);
for (let i = 0; i < 10; i++) DIGITS[0x30 + i] = i;
for (let i = 0; i < 6; i++) DIGITS[0x61 + i] = 10 + i;

const UUID_LENGTH = 36;
const DASH = 0x2d;

/**
 * A uid in the usual form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in lower case, as four 32-bit words. Other uids, upper
 * case among them, are not words: they would not come back as they were written.
 */
export class UidWords {
  w0 = 0;
  w1 = 0;
  w2 = 0;
  w3 = 0;

  /** False, and the words undefined, when the bytes are not in the usual form. */
  parse(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start !== UUID_LENGTH) return false;
    if (
      bytes[start + 8] !== DASH ||
      bytes[start + 13] !== DASH ||
      bytes[start + 18] !== DASH ||
      bytes[start + 23] !== DASH
    ) {
      return false;
    }
    const a = hex16(bytes, start);
    const b = hex16(bytes, start + 4);
    const c = hex16(bytes, start + 9);
    const d = hex16(bytes, start + 14);
    const e = hex16(bytes, start + 19);
    const f = hex16(bytes, start + 24);
    const g = hex16(bytes, start + 28);
    const h = hex16(bytes, start + 32);
    // A digit that is none sets bits above the sixteenth.
    if ((a | b | c | d | e | f | g | h) > 0xffff) return false;
    this.w0 = ((a << 16) | b) >>> 0;
    this.w1 = ((c << 16) | d) >>> 0;
    this.w2 = ((e << 16) | f) >>> 0;
    this.w3 = ((g << 16) | h) >>> 0;
    return true;
  }
}

function hex16(bytes: Uint8Array, at: number): number {
  const a = DIGITS[bytes[at]!]!;
  const b = DIGITS[bytes[at + 1]!]!;
  const c = DIGITS[bytes[at + 2]!]!;
  const d = DIGITS[bytes[at + 3]!]!;
  if ((a | b | c | d) > 15) return 0x10000;
  return (a << 12) | (b << 8) | (c << 4) | d;
}

const HEX = Buffer.from('0123456789abcdef', 'latin1');
const text = Buffer.alloc(UUID_LENGTH, '-', 'latin1');

/** The usual form of four words: one flat string. Pieced together it would be a tree of ten, and ten times as large. */
export function formatUid(w0: number, w1: number, w2: number, w3: number): Uid {
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
