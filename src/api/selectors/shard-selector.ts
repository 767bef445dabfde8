import type { ObjectMeta } from '../meta/object-meta.ts';
import { quoted } from '../meta/quoted.ts';
import { newBadRequest } from '../status-error.ts';

type ShardedField = 'uid' | 'namespace';

/** An unsigned number of up to 65 bits: the bits above the lowest 32, and the lowest 32. */
interface Wide {
  readonly high: number;
  readonly low: number;
}

/** The hashes from `start` up to, but without, `end`. */
interface HashRange {
  readonly start: Wide;
  readonly end: Wide;
}

/** The objects whose field has a hash within one of some ranges (feature `ShardedListAndWatch`, API-607). */
export class ShardSelector {
  /** The normal form: each bound has 16 digits, except 2^64. */
  readonly text: string;
  readonly #field: ShardedField;
  readonly #ranges: readonly HashRange[];

  constructor(field: ShardedField, ranges: readonly HashRange[]) {
    this.#field = field;
    this.#ranges = ranges;
    this.text = ranges
      .map(({ start, end }) => `shardRange(object.metadata.${field}, '${hex(start)}', '${hex(end)}')`)
      .join(' || ');
  }

  matches(metadata: Pick<ObjectMeta, ShardedField>): boolean {
    const hash = fnv1a64(metadata[this.#field] ?? '');
    return this.#ranges.some(({ start, end }) => !isLess(hash, start) && isLess(hash, end));
  }
}

const TERM =
  /\s*shardRange\s*\(\s*object\.metadata\.(\w+)\s*,\s*(?:'([^']*)'|"([^"]*)")\s*,\s*(?:'([^']*)'|"([^"]*)")\s*\)\s*/y;

/**
 * Parses `shardRange(object.metadata.uid, '0x0', '0x8000000000000000')`, or several such terms of one field joined by `||`. Throws a 400
 * for any other text.
 */
export function parseShardSelector(text: string): ShardSelector {
  const ranges: HashRange[] = [];
  let field: ShardedField | undefined;
  for (let at = 0; ; at += 2) {
    TERM.lastIndex = at;
    const term = TERM.exec(text);
    if (term === null) throw refused(`expected shardRange(field, 'start', 'end') at position ${at}`);
    const named = shardedField(term[1] ?? '');
    if (field !== undefined && field !== named) throw refused('all ranges must be of the same field');
    field = named;
    ranges.push(rangeOf(term[2] ?? term[3] ?? '', term[4] ?? term[5] ?? ''));
    at = TERM.lastIndex;
    if (at === text.length) return new ShardSelector(field, ranges);
    if (!text.startsWith('||', at)) throw refused(`expected || at position ${at}`);
  }
}

function shardedField(name: string): ShardedField {
  if (name === 'uid' || name === 'namespace') return name;
  throw refused(`object.metadata.${name} is not supported, use object.metadata.uid or object.metadata.namespace`);
}

function rangeOf(from: string, to: string): HashRange {
  const range = { start: boundOf(from), end: boundOf(to) };
  if (isLess(range.start, range.end)) return range;
  throw refused(`the start ${quoted(from)} must be less than the end ${quoted(to)}`);
}

/** All hashes are below this bound. */
const ALL: Wide = { high: 2 ** 32, low: 0 };

function boundOf(text: string): Wide {
  if (!/^0x[\da-f]{1,17}$/i.test(text)) {
    throw refused(`${quoted(text)} is no bound, use 0x and up to 16 hexadecimal digits, or 0x10000000000000000`);
  }
  const digits = text.slice(2).padStart(17, '0');
  const bound = { high: Number.parseInt(digits.slice(0, 9), 16), low: Number.parseInt(digits.slice(9), 16) };
  if (isLess(ALL, bound)) throw refused(`${quoted(text)} is greater than ${hex(ALL)}`);
  return bound;
}

function refused(why: string): Error {
  return newBadRequest(`invalid shardSelector: ${why}`);
}

function isLess(a: Wide, b: Wide): boolean {
  return a.high === b.high ? a.low < b.low : a.high < b.high;
}

function hex({ high, low }: Wide): string {
  return `0x${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}`;
}

const OFFSET: Wide = { high: 0xcbf29ce4, low: 0x84222325 };
/** The prime of FNV is 2^40 plus this. */
const PRIME_LOW = 0x1b3;

/** 64-bit FNV-1a of the bytes in UTF-8, in two halves because products of 64 bits would need BigInt for every byte. */
function fnv1a64(text: string): Wide {
  let { high, low } = OFFSET;
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * PRIME_LOW;
    // A shift by 40 bits puts the lower half into the upper one, 8 bits further.
    high = (high * PRIME_LOW + Math.floor(product / 2 ** 32) + low * 256) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return { high, low };
}
