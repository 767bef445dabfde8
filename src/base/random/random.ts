import { randomFillSync } from 'node:crypto';
import { assert } from '../errors/assert.ts';
import { formatUuid } from './uuid.ts';

export interface Random {
  /** Uniform in [0, 1). */
  float(): number;
  /** Uniform in 0..n-1; n is a positive safe integer. */
  integer(n: number): number;
  /** Version 4, lower case. */
  uuid(): string;
  bytes(n: number): Uint8Array;
  /** A random element of a non-empty list. */
  pick<T>(xs: readonly T[]): T;
}

/** 53 random bits as a fraction, from two 32-bit words. */
function fraction(high: number, low: number): number {
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

function randomFrom(word: () => number): Random {
  const self: Random = {
    float: () => fraction(word(), word()),
    integer(n) {
      assert(Number.isSafeInteger(n) && n > 0, 'integer(n) needs a positive n');
      return Math.floor(self.float() * n);
    },
    uuid() {
      const b = self.bytes(16);
      b[6] = (b[6]! & 0x0f) | 0x40;
      b[8] = (b[8]! & 0x3f) | 0x80;
      const words = new DataView(b.buffer, b.byteOffset, 16);
      return formatUuid(words.getInt32(0), words.getInt32(4), words.getInt32(8), words.getInt32(12));
    },
    bytes(n) {
      const out = new Uint8Array(n);
      for (let i = 0; i < n; i += 4) {
        let w = word();
        for (let j = i; j < i + 4 && j < n; j++) {
          out[j] = w & 0xff;
          w >>>= 8;
        }
      }
      return out;
    },
    pick(xs) {
      assert(xs.length > 0, 'pick needs a non-empty list');
      return xs[self.integer(xs.length)]!;
    },
  };
  return self;
}

/** Words of operating system entropy, fetched 1 KiB at a time, because each fetch calls OpenSSL. */
function entropyWords(): () => number {
  const pool = new Uint32Array(256);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    return pool[next++]!;
  };
}

/** Unpredictable; fit for tokens and uids. */
export const systemRandom: Random = randomFrom(entropyWords());

/** The same sequence for the same seed, on every machine. Not for secrets. (Small fast counter generator, sfc32.) */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ Math.trunc(seed / 2 ** 32);
  let b = seed | 0;
  let c = 0x243f6a88;
  let counter = 1;
  const word = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return t >>> 0;
  };
  // Adjacent seeds differ in a few bits, so the first words would be similar.
  for (let i = 0; i < 15; i++) word();
  return randomFrom(word);
}
