/** All warnings of one answer together; beyond it each is cut, and beyond it again there are no more. In characters, as upstream. */
const MAX_TOTAL_CHARACTERS = 4 * 1024;
const MAX_CUT_CHARACTERS = 256;

/**
 * The warnings of one answer, each text once (API-010). When they are together too long for headers, all of them are cut, so that many
 * long ones leave room for the ones after them (apiserver `pkg/endpoints/filters/warning.go`).
 */
export class WarningList {
  #texts: string[] = [];
  /** As they were given. */
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

/** Between characters, never inside one. */
function cut(text: string): string {
  return [...text].slice(0, MAX_CUT_CHARACTERS).join('');
}
