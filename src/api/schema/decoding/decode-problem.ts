import type { Int64 } from '../../../base/json/exact-json.ts';

/**
 * A value of a JSON type that the field cannot hold, in the words of Go's decoder (API-233). It is an exception because it stops the
 * decoding; `decodeTyped` converts it to a Status and keeps it as the cause.
 */
export class DecodeProblem extends Error {
  override readonly name = 'DecodeProblem';
}

/** The name of a JSON value in these messages; see {@link foundNumber} for numbers that do not fit. */
export function foundName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A number that does not fit, with its digits. */
export function foundNumber(value: Int64): string {
  return `number ${Number.isInteger(value) && Math.abs(Number(value)) < 1e21 ? BigInt(value) : value}`;
}

/** The position of the decoder: the kind, then field names. List indexes and map keys are left out, as in Go. */
export class DecodePosition {
  readonly #kind: string;
  readonly #fields: string[] = [];

  constructor(kind: string) {
    this.#kind = kind;
  }

  enter(field: string): void {
    this.#fields.push(field);
  }

  leave(): void {
    this.#fields.pop();
  }

  /** `found` is the value in the document, `goType` the declared type of the field. */
  mismatch(found: string, goType: string): DecodeProblem {
    const place =
      this.#fields.length === 0
        ? `value of type ${goType}`
        : `struct field ${this.#kind}.${this.#fields.join('.')} of type ${goType}`;
    return new DecodeProblem(`json: cannot unmarshal ${found} into Go ${place}`);
  }
}
