import { COLON, JsonCursor, MemberTable, NEEDS_PARSER } from './json-cursor.ts';

/**
 * Reads some members of an object in JSON text and skips the others, whatever their size. The text must have the form of JSON.stringify, in
 * which no member occurs twice.
 */
export class JsonMembers<Name extends string> {
  readonly #names: readonly Name[];
  readonly #table: MemberTable;
  readonly #cursor = new JsonCursor();

  constructor(names: readonly Name[]) {
    this.#names = names;
    this.#table = new MemberTable(Object.fromEntries(names.map((name, index) => [name, index])));
  }

  /** The members of the object that begins at `start`, as a parser would return them; undefined if only a parser can read them. */
  read(json: Buffer, start: number): Partial<Record<Name, unknown>> | undefined {
    const cursor = this.#cursor;
    cursor.json = json;
    cursor.at = start;
    const read: Partial<Record<Name, unknown>> = {};
    try {
      cursor.members(() => {
        const name = this.#name();
        const value = cursor.at;
        cursor.skipValue();
        if (name !== undefined) read[name] = JSON.parse(json.toString('utf8', value, cursor.at));
      });
      return read;
    } catch (problem) {
      if (problem === NEEDS_PARSER) return undefined;
      throw problem;
    }
  }

  /** The name of the member at the cursor, which is then at the member's value; undefined for a skipped member. */
  #name(): Name | undefined {
    const cursor = this.#cursor;
    const start = cursor.string();
    const index = this.#table.find(cursor.json, start, cursor.at - 1);
    cursor.expect(COLON);
    return index < 0 ? undefined : this.#names[index];
  }
}
