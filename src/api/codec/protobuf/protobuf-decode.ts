import { parseExactJson } from '../../../base/json/exact-json.ts';
import { tooManyMembers, tooManyValues } from '../json/body-values.ts';
import { JSON_SCHEMA_PROPS } from '../../kinds/type-table.ts';
import type { SpecialType } from '../../kinds/type-table.ts';
import { type FieldPlan, type LevelPlan, type MessagePlan, planOf } from './protobuf-plan.ts';
import { microTimeText, timeText, ZERO_TIME_SECONDS } from './protobuf-time.ts';
import { MAX_NESTING, ProtobufError, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from './protobuf-wire.ts';

/**
 * Reads the fields of a message into slots, one per JSON field, and then makes the object, with fields in order of declaration and the zero
 * values that Go prints (API-521). There are two steps because a field may occur twice: the parts of a nested message are merged, and the
 * last scalar wins.
 */
type Slots = unknown[];

/** Decodes a value that Go keeps as raw bytes and that is itself protobuf: the envelope of a nested object. */
export type DecodeEmbedded = (bytes: Uint8Array, depth: number) => unknown;

/** `k8s\0` */
function isEnveloped(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start > 4 &&
    bytes[start] === 0x6b &&
    bytes[start + 1] === 0x38 &&
    bytes[start + 2] === 0x73 &&
    bytes[start + 3] === 0
  );
}

/** The bounds of a message from a client. */
export interface DecodeBounds {
  /** Maximum number of fields, elements and entries, also where a later one replaces an earlier one. */
  readonly values: number;
  /** Maximum number of entries in one map. */
  readonly members: number;
}

const UNBOUNDED: DecodeBounds = { values: Infinity, members: Infinity };

export class MessageDecoder {
  readonly #reader: WireReader;
  readonly #decodeEmbedded: DecodeEmbedded;
  readonly #bounds: DecodeBounds;
  #values = 0;

  constructor(bytes: Uint8Array, decodeEmbedded: DecodeEmbedded, bounds = UNBOUNDED) {
    this.#reader = new WireReader(bytes);
    this.#decodeEmbedded = decodeEmbedded;
    this.#bounds = bounds;
  }

  /** The JSON object of one message. `depth` counts the messages around it. */
  decode(plan: MessagePlan, depth: number): Record<string, unknown> {
    const slots: Slots = [];
    this.#level(plan, slots, depth);
    return objectFrom(plan, slots);
  }

  /** Reads up to the reader's `end`. */
  #level(level: LevelPlan, slots: Slots, depth: number): void {
    if (depth > MAX_NESTING) throw new ProtobufError('messages nest too deep');
    const reader = this.#reader;
    while (reader.more) {
      const tag = reader.tag();
      const entry = level.byNumber.get(Math.floor(tag / 8));
      if (entry === undefined) reader.skip(tag);
      else if ('inline' in entry) {
        expectWire(tag, WIRE_BYTES, 'embedded struct');
        this.#nested(() => this.#level(entry.inline, slots, depth + 1));
      } else this.#field(entry, tag, slots, depth);
    }
  }

  /** Runs `read` with the reader limited to the length-delimited value at the cursor. */
  #nested<T>(read: () => T): T {
    const reader = this.#reader;
    const end = reader.delimited();
    const outer = reader.end;
    reader.end = end;
    const value = read();
    reader.end = outer;
    reader.at = end;
    return value;
  }

  #field(plan: FieldPlan, tag: number, slots: Slots, depth: number): void {
    const { slot } = plan;
    if (++this.#values > this.#bounds.values) throw tooManyValues();
    if (plan.shape === 'map') {
      expectWire(tag, WIRE_BYTES, plan.name);
      this.#entry(plan, (slots[slot] ??= new Map<string, unknown>()) as Map<string, unknown>, depth);
    } else if (plan.namedList) {
      expectWire(tag, WIRE_BYTES, plan.name);
      this.#namedList((slots[slot] ??= []) as string[], plan);
    } else if (plan.shape === 'list') this.#elements(plan, tag, (slots[slot] ??= []) as unknown[], depth);
    else slots[slot] = this.#value(plan, tag, slots[slot], depth);
  }

  /** One element, or several packed ones. */
  #elements(plan: FieldPlan, tag: number, list: unknown[], depth: number): void {
    if ((tag & 7) === WIRE_BYTES && wireOf(plan) !== WIRE_BYTES) {
      this.#nested(() => {
        while (this.#reader.more) list.push(this.#scalar(plan));
      });
    } else list.push(this.#value(plan, tag, undefined, depth));
  }

  #entry(plan: FieldPlan, map: Map<string, unknown>, depth: number): void {
    this.#nested(() => {
      const reader = this.#reader;
      let key = '';
      let value: unknown;
      while (reader.more) {
        const tag = reader.tag();
        const number = Math.floor(tag / 8);
        if (number === 1) {
          expectWire(tag, WIRE_BYTES, plan.name);
          key = reader.string();
        } else if (number === 2) {
          if (plan.namedList) {
            expectWire(tag, WIRE_BYTES, plan.name);
            this.#namedList((value ??= []) as string[], plan);
          } else value = this.#value(plan, tag, value, depth + 1);
        } else reader.skip(tag);
      }
      map.set(key, value);
      if (map.size > this.#bounds.members) throw tooManyMembers();
    });
  }

  #namedList(list: string[], plan: FieldPlan): void {
    this.#nested(() => {
      const reader = this.#reader;
      while (reader.more) {
        const tag = reader.tag();
        if (Math.floor(tag / 8) === 1) {
          expectWire(tag, WIRE_BYTES, plan.name);
          list.push(reader.string());
        } else reader.skip(tag);
      }
    });
  }

  /** Returns messages as slots, so that a second part can be merged into `before`, and all other values as JSON. */
  #value(plan: FieldPlan, tag: number, before: unknown, depth: number): unknown {
    expectWire(tag, wireOf(plan), plan.name);
    if (plan.value === 'message') {
      const slots = (before ?? []) as Slots;
      this.#nested(() => this.#level(messagePlan(plan.type), slots, depth + 1));
      return slots;
    }
    return isSpecial(plan.value)
      ? this.#nested(() => this.#special(plan.value as SpecialType, depth))
      : this.#scalar(plan);
  }

  #scalar(plan: FieldPlan): unknown {
    const reader = this.#reader;
    switch (plan.value) {
      case 'string':
        return reader.string();
      case 'bool':
        return reader.varint() !== 0;
      case 'int32':
        return reader.varint() | 0;
      case 'int64':
        return reader.int64();
      case 'float64':
        return finite(reader.float64());
      default: {
        const end = reader.delimited();
        const value = reader.base64(reader.at, end);
        reader.at = end;
        return value;
      }
    }
  }

  #special(type: SpecialType, depth: number): unknown {
    if (depth > MAX_NESTING) throw new ProtobufError('messages nest too deep');
    switch (type) {
      case 'Time':
      case 'MicroTime':
        return this.#time(type);
      case 'Quantity':
        return this.#quantity();
      case 'IntOrString':
        return this.#intOrString();
      case 'RawExtension':
      case 'FieldsV1':
      case 'JSON':
        return this.#raw(type, depth);
      default:
        return this.#schemaOr(type, depth);
    }
  }

  #time(type: 'Time' | 'MicroTime'): string | null {
    const reader = this.#reader;
    if (!reader.more) return null;
    let seconds = 0;
    let nanos = 0;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === 8) seconds = reader.varint();
      else if (tag === 16) nanos = reader.varint() | 0;
      else skipUnlessKnown(reader, tag, 2, type);
    }
    return type === 'Time' ? timeText(seconds) : microTimeText(seconds, nanos);
  }

  #quantity(): string {
    const reader = this.#reader;
    let text = '';
    while (reader.more) {
      const tag = reader.tag();
      if (tag === 10) text = reader.string();
      else skipUnlessKnown(reader, tag, 1, 'Quantity');
    }
    return text === '' ? '0' : text;
  }

  #intOrString(): string | number {
    const reader = this.#reader;
    let type = 0;
    let number = 0;
    let text = '';
    while (reader.more) {
      const tag = reader.tag();
      if (tag === 8) type = reader.varint();
      else if (tag === 16) number = reader.varint() | 0;
      else if (tag === 26) text = reader.string();
      else skipUnlessKnown(reader, tag, 3, 'IntOrString');
    }
    if (type !== 0 && type !== 1) throw new ProtobufError(`impossible IntOrString.Type ${type}`);
    return type === 0 ? number : text;
  }

  /** JSON text in a field of bytes. */
  #raw(type: string, depth: number): unknown {
    const reader = this.#reader;
    let start = 0;
    let end = 0;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === 10) {
        end = reader.delimited();
        start = reader.at;
        reader.at = end;
      } else skipUnlessKnown(reader, tag, 1, type);
    }
    if (start === end) return null;
    if (isEnveloped(reader.bytes, start, end))
      return this.#decodeEmbedded(reader.bytes.subarray(start, end), depth + 1);
    try {
      return parseExactJson(reader.text(start, end));
    } catch (cause) {
      throw new ProtobufError(`${type} holds no JSON`, { cause });
    }
  }

  /** The unions over JSONSchemaProps, as MarshalJSON in apiextensions `v1/marshal.go` prints them. */
  #schemaOr(type: SpecialType, depth: number): unknown {
    const reader = this.#reader;
    const plan = messagePlan(JSON_SCHEMA_PROPS);
    const bool = type === 'JSONSchemaPropsOrBool';
    const schemaTag = bool ? 18 : 10;
    let allows = false;
    let schema: Slots | undefined;
    const list: unknown[] = [];
    while (reader.more) {
      const tag = reader.tag();
      if (tag === schemaTag) {
        const slots: Slots = (schema ??= []);
        this.#nested(() => this.#level(plan, slots, depth + 1));
      } else if (bool && tag === 8) allows = reader.varint() !== 0;
      else if (!bool && tag === 18) {
        list.push(
          type === 'JSONSchemaPropsOrStringArray'
            ? reader.string()
            : this.#nested(() => {
                const slots: Slots = [];
                this.#level(plan, slots, depth + 1);
                return objectFrom(plan, slots);
              }),
        );
      } else skipUnlessKnown(reader, tag, 2, type);
    }
    if (list.length > 0) return list;
    if (schema !== undefined) return objectFrom(plan, schema);
    return bool ? allows : null;
  }
}

function messagePlan(type: string): MessagePlan {
  const plan = planOf(type);
  if (plan === undefined) throw new ProtobufError(`no type ${type}`);
  return plan;
}

function wireOf({ value }: FieldPlan): number {
  if (value === 'bool' || value === 'int32' || value === 'int64') return WIRE_VARINT;
  return value === 'float64' ? WIRE_FIXED64 : WIRE_BYTES;
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'bool', 'int32', 'int64', 'float64', 'bytes']);

function isSpecial(value: FieldPlan['value']): boolean {
  return value !== 'message' && !SCALARS.has(value);
}

function expectWire(tag: number, wire: number, field: string): void {
  if ((tag & 7) !== wire) throw new ProtobufError(`wrong wireType = ${tag & 7} for field ${field}`);
}

/** A known field number at this point has the wrong wire type. */
function skipUnlessKnown(reader: WireReader, tag: number, last: number, type: string): void {
  const number = Math.floor(tag / 8);
  if (number <= last) throw new ProtobufError(`wrong wireType = ${tag & 7} for field ${number} of ${type}`);
  reader.skip(tag);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new ProtobufError(`${value} has no JSON form`);
  return value;
}

// ---- slots to JSON ----

function objectFrom(plan: MessagePlan, slots: Slots): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of plan.slots) {
    const value = jsonOf(field, slots[field.slot]);
    if (value !== undefined) object[field.name] = value;
  }
  return object;
}

/** Undefined leaves the field out, like Go's `omitempty` for empty values. A struct is never left out. */
function jsonOf(field: FieldPlan, value: unknown): unknown {
  const absent = field.omitempty ? undefined : null;
  if (field.shape === 'map') return value === undefined ? absent : mapFrom(field, value as Map<string, unknown>);
  if (field.shape === 'list') {
    // A wrapped list is a message, so it can be present and empty.
    if (value === undefined || (field.omitempty && (value as unknown[]).length === 0)) return absent;
    return (value as unknown[]).map((element) => finished(field, element));
  }
  if (value === undefined) return field.pointer ? absent : zeroOf(field);
  if (field.pointer) return finished(field, value);
  if (field.omitempty && isEmptyScalar(field, value)) return undefined;
  return field.omitzero && value === null ? undefined : finished(field, value);
}

function mapFrom(field: FieldPlan, entries: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, raw] of entries) {
    const value = raw === undefined ? mapZeroOf(field) : finished(field, raw);
    // An assignment would set the prototype.
    if (key === '__proto__')
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
  }
  return object;
}

function finished(field: FieldPlan, value: unknown): unknown {
  return field.value === 'message' ? objectFrom(messagePlan(field.type), value as Slots) : value;
}

function isEmptyScalar(field: FieldPlan, value: unknown): boolean {
  return SCALARS.has(field.value) && (value === '' || value === 0 || value === false);
}

/** The value of a field without a pointer that is absent from the message. */
function zeroOf(field: FieldPlan): unknown {
  if (field.omitzero || (field.omitempty && SCALARS.has(field.value))) return undefined;
  return field.value === 'bytes' ? null : zeroValue(field);
}

function mapZeroOf(field: FieldPlan): unknown {
  return field.namedList ? [] : zeroValue(field);
}

function zeroValue(field: FieldPlan): unknown {
  switch (field.value) {
    case 'string':
    case 'bytes':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'float64':
    case 'IntOrString':
      return 0;
    case 'Time':
      return timeText(ZERO_TIME_SECONDS);
    case 'MicroTime':
      return microTimeText(ZERO_TIME_SECONDS, 0);
    case 'Quantity':
      return '0';
    case 'JSONSchemaPropsOrBool':
      return false;
    case 'message':
      return objectFrom(messagePlan(field.type), []);
    default:
      return null;
  }
}
