const encoder = new TextEncoder();

/** A buffer into which texts are encoded one after the other. A range is valid until the next `encode`, or until `reset`. */
export class TextScratch {
  #bytes: Uint8Array = new Uint8Array(1024);
  #end = 0;

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Encodes at the start of the buffer. */
  encode(text: string): { readonly bytes: Uint8Array; readonly start: number; readonly end: number } {
    this.#end = 0;
    const end = this.append(text);
    return { bytes: this.#bytes, start: 0, end };
  }

  reset(): void {
    this.#end = 0;
  }

  /** Appends the text, for which the buffer may be reallocated, and returns the new end. The text begins at the previous end. */
  append(text: string): number {
    this.#reserve(text.length * 3);
    const bytes = this.#bytes;
    const start = this.#end;
    let i = 0;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      bytes[start + i] = code;
    }
    this.#end = start + i;
    if (i < text.length) this.#end += encoder.encodeInto(text.slice(i), bytes.subarray(start + i)).written;
    return this.#end;
  }

  /** Appends the text, and returns the buffer. The text ends at `end`. */
  bytesAfter(text: string): Uint8Array {
    this.append(text);
    return this.#bytes;
  }

  get end(): number {
    return this.#end;
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#bytes.length) return;
    const grown = new Uint8Array((this.#end + size) * 2);
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = grown;
  }
}
