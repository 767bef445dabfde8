/** One value of a DER text (X.690): what of a request for a certificate has to be read is little, so no library is loaded for it. */
export interface DerValue {
  readonly tag: number;
  /** Without tag and length. */
  readonly content: Buffer;
  /** With them. */
  readonly whole: Buffer;
}

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
  /** The first of the fields that are told by a number. */
  numbered0: 0xa0,
} as const;

/** Go's words for it. */
export class DerError extends Error {
  constructor(why: string) {
    super(`asn1: ${why}`);
  }
}

/** The values of a text one after the other. */
export function derValues(der: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let rest = der; rest.length > 0;) {
    const value = derValue(rest);
    values.push(value);
    rest = rest.subarray(value.whole.length);
  }
  return values;
}

/** The values inside a value of the tag. */
export function derChildren(value: DerValue | undefined, tag: number): DerValue[] {
  if (value?.tag !== tag) throw new DerError("structure error: tags don't match");
  return derValues(value.content);
}

/** `2.5.4.10`. */
export function objectIdentifier({ content }: DerValue): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length > 0) arcs.push(arc);
    else arcs.push(Math.min(Math.floor(arc / 40), 2), arc - 40 * Math.min(Math.floor(arc / 40), 2));
    arc = 0;
  }
  return arcs.join('.');
}

function derValue(der: Buffer): DerValue {
  const [tag, first] = der;
  if (tag === undefined || first === undefined) throw truncated();
  // Tags above 30 take further bytes; nothing that is read here has one.
  if ((tag & 0x1f) === 0x1f) throw new DerError('structure error: invalid tag');
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  if (first === 0x80 || lengthBytes > 4) throw new DerError('syntax error: indefinite length found (not DER)');
  const header = 2 + lengthBytes;
  if (der.length < header) throw truncated();
  const length = lengthBytes === 0 ? first : der.readUIntBE(2, lengthBytes);
  if (der.length < header + length) throw truncated();
  return { tag, content: der.subarray(header, header + length), whole: der.subarray(0, header + length) };
}

function truncated(): DerError {
  return new DerError('syntax error: data truncated');
}
