/**
 * Maximum characters of all warnings of one answer, as upstream. Beyond it each warning is cut, and beyond twice that no more are added.
 */
const MAX_TOTAL_CHARACTERS = 4 * 1024;
const MAX_CUT_CHARACTERS = 256;

/**
 * The warnings of one answer, each text once (API-010). If together they are too long for headers, all are cut, so that many long ones
 * leave space for later ones (apiserver `pkg/endpoints/filters/warning.go`).
 */
export class WarningList {
  #texts: string[] = [];
  /** The texts before they were cut. */
  readonly #known = new Set<string>();
  #characters = 0;
  #cutting = false;

  add(text: string): void {
    if (text === '' || this.#known.has(text) || (this.#cutting && this.#characters >= MAX_TOTAL_CHARACTERS)) return;
    this.#known.add(text);
    if (!this.#cutting && this.#characters + lengthOf(text) > MAX_TOTAL_CHARACTERS) {
      this.#cutting = true;
      this.#texts = [...this.#known].map(cut);
      this.#characters = this.#texts.reduce((sum, one) => sum + lengthOf(one), 0);
      return;
    }
    const sent = this.#cutting ? cut(text) : text;
    this.#texts.push(sent);
    this.#characters += lengthOf(sent);
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Cuts between characters, never inside one. */
function cut(text: string): string {
  return [...text].slice(0, MAX_CUT_CHARACTERS).join('');
}
