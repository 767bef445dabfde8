/**
 * Distinguished Encoding Rules (X.690), as far as certificates need them: tags below 31 and definite lengths. Values are
 * written from the inside out; each function returns one whole element: tag, length, content.
 */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

export const TRUE: Buffer = Buffer.of(0x01, 0x01, 0xff);

function element(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 | lengthBytes(length).length, ...lengthBytes(length)];
  return Buffer.concat([Buffer.from(head), content]);
}

function lengthBytes(length: number): number[] {
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(SEQUENCE, Buffer.concat(parts));
}

/** Of one element, which needs no order. */
export function setOf(part: Uint8Array): Buffer {
  return element(SET, part);
}

/** A non-negative number, big endian. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  const looksNegative = (shortest[0] ?? 0) >= 0x80;
  return element(INTEGER, looksNegative ? Buffer.concat([Buffer.of(0), shortest]) : shortest);
}

/** Whole bytes, or a list of named bits of which the last byte leaves `unusedBits`. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(BIT_STRING, Buffer.concat([Buffer.of(unusedBits), bytes]));
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(OCTET_STRING, bytes);
}

export function utf8String(text: string): Buffer {
  return element(UTF8_STRING, Buffer.from(text, 'utf8'));
}

/** `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(OBJECT_IDENTIFIER, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 4.1.2.5). Fractions of a second are cut off. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? element(UTC_TIME, Buffer.from(digits.slice(2), 'latin1'))
    : element(GENERALIZED_TIME, Buffer.from(digits, 'latin1'));
}

/** `[n] IMPLICIT` over a primitive type. */
export function contextPrimitive(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | number, content);
}

/** `[n] EXPLICIT`. */
export function contextConstructed(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, content);
}

/** The elements inside a constructed one. Throws for what ends early. */
export function elementsOf(outer: Uint8Array): Uint8Array[] {
  const content = contentOf(outer);
  const elements: Uint8Array[] = [];
  for (let at = 0; at < content.length;) {
    const end = at + sizeOf(content.subarray(at));
    elements.push(content.subarray(at, end));
    at = end;
  }
  return elements;
}

export function contentOf(element: Uint8Array): Uint8Array {
  return element.subarray(headLength(element), sizeOf(element));
}

function headLength(element: Uint8Array): number {
  const length = element[1] ?? 0;
  return length < 0x80 ? 2 : 2 + (length & 0x7f);
}

function sizeOf(element: Uint8Array): number {
  const head = headLength(element);
  let length = element[1] ?? 0;
  if (length >= 0x80) {
    length = 0;
    for (const byte of element.subarray(2, head)) length = length * 256 + byte;
  }
  if (element.length < head + length) throw new RangeError('a DER element ends early');
  return head + length;
}
