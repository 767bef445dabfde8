import { TextScratch } from './text-scratch.ts';
import { WordTable } from './word-table.ts';

/** The separator of apiVersion and kind; neither can contain it. */
const SEPARATOR = 0;
const SEPARATOR_TEXT = '\u0000';

/**
 * Pairs of apiVersion and kind as small integers, with a count of their users, because references may name any number of invented kinds.
 */
export class KindTable {
  readonly #words: WordTable;
  #buffer: Uint8Array = new Uint8Array(256);
  readonly #scratch = new TextScratch();

  constructor(words: WordTable = new WordTable()) {
    this.#words = words;
  }

  get size(): number {
    return this.#words.size;
  }

  acquire(bytes: Uint8Array, versionStart: number, versionEnd: number, kindStart: number, kindEnd: number): number {
    const length = versionEnd - versionStart + 1 + (kindEnd - kindStart);
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(length * 2);
    const buffer = this.#buffer;
    let to = 0;
    for (let i = versionStart; i < versionEnd; i++) buffer[to++] = bytes[i]!;
    buffer[to++] = SEPARATOR;
    for (let i = kindStart; i < kindEnd; i++) buffer[to++] = bytes[i]!;
    return this.#words.acquire(buffer, 0, to);
  }

  acquireText(apiVersion: string, kind: string): number {
    const { bytes, start, end } = this.#scratch.encode(apiVersion + SEPARATOR_TEXT + kind);
    return this.#words.acquire(bytes, start, end);
  }

  /** -1 if it is not in use. */
  find(apiVersion: string, kind: string): number {
    const { bytes, start, end } = this.#scratch.encode(apiVersion + SEPARATOR_TEXT + kind);
    return this.#words.find(bytes, start, end);
  }

  retain(id: number): void {
    this.#words.retain(id);
  }

  release(id: number): void {
    this.#words.release(id);
  }

  equals(
    id: number,
    bytes: Uint8Array,
    versionStart: number,
    versionEnd: number,
    kindStart: number,
    kindEnd: number,
  ): boolean {
    const word = this.#words.bytes(id);
    const versionLength = versionEnd - versionStart;
    if (word.length !== versionLength + 1 + (kindEnd - kindStart) || word[versionLength] !== SEPARATOR) return false;
    for (let i = 0; i < versionLength; i++) if (word[i] !== bytes[versionStart + i]) return false;
    for (let i = kindStart, at = versionLength + 1; i < kindEnd; i++) if (word[at++] !== bytes[i]) return false;
    return true;
  }

  words(id: number): { readonly apiVersion: string; readonly kind: string } {
    const text = this.#words.text(id);
    const split = text.indexOf(SEPARATOR_TEXT);
    return { apiVersion: text.slice(0, split), kind: text.slice(split + 1) };
  }

  clone(): KindTable {
    return new KindTable(this.#words.clone());
  }
}
