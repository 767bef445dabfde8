import { sameBytes } from '../../../base/same-bytes.ts';
import { COLON, CLOSE_BRACE, COMMA, JsonCursor, NEEDS_PARSER, OPEN_BRACE } from '../json/json-cursor.ts';

const LABELS = Buffer.from('labels');

/** Positions for each label: start and end of its key, start and end of its value, without quotes. */
export const LABEL_PLACES = 4;

/**
 * Finds the labels of an object in the JSON text of its metadata, so that a search through many objects parses none. The text has the form
 * of JSON.stringify, in which no member occurs twice, so the text after the labels is not read.
 */
export class JsonLabels {
  readonly #cursor = new JsonCursor();
  readonly #places: number[] = [];

  /**
   * The positions of the labels of the metadata that begins at `start`, {@link LABEL_PLACES} numbers each. They are valid until the next
   * call. Returns `parse` if only a parser can read them.
   */
  places(json: Uint8Array, start: number): readonly number[] | 'parse' {
    this.#cursor.json = json;
    this.#cursor.at = start;
    this.#places.length = 0;
    try {
      if (this.#find()) this.#cursor.members(this.#label);
      return this.#places;
    } catch (problem) {
      if (problem === NEEDS_PARSER) return 'parse';
      throw problem;
    }
  }

  /** The labels as an object. */
  record(json: Uint8Array, start: number): Record<string, string> | undefined {
    const places = this.places(json, start);
    if (places === 'parse') return undefined;
    const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
    const labels: Record<string, string> = Object.create(null) as Record<string, string>;
    for (let i = 0; i < places.length; i += LABEL_PLACES) {
      labels[text.toString('utf8', places[i], places[i + 1])] = text.toString('utf8', places[i + 2], places[i + 3]);
    }
    return labels;
  }

  /** Moves to the value of `labels`. */
  #find(): boolean {
    const cursor = this.#cursor;
    cursor.expect(OPEN_BRACE);
    if (cursor.json[cursor.at] === CLOSE_BRACE) return false;
    for (;;) {
      const start = cursor.string();
      const end = cursor.at - 1;
      cursor.expect(COLON);
      if (sameBytes(cursor.json, start, end, LABELS)) return true;
      cursor.skipValue();
      const next = cursor.json[cursor.at++];
      if (next === CLOSE_BRACE) return false;
      if (next !== COMMA) throw NEEDS_PARSER;
    }
  }

  readonly #label = (): void => {
    const cursor = this.#cursor;
    const key = cursor.string();
    const keyEnd = cursor.at - 1;
    cursor.expect(COLON);
    const value = cursor.string();
    this.#places.push(key, keyEnd, value, cursor.at - 1);
  };
}
