import { type Int64, stringifyExactJson } from '../../../base/json/exact-json.ts';
import { JSON_SCHEMA_PROPS } from '../../kinds/type-table.ts';
import { type FieldPlan, type LevelPlan, type MessagePlan, planOf } from './protobuf-plan.ts';
import { timestampOf, ZERO_TIME_SECONDS } from './protobuf-time.ts';
import { MAX_NESTING, ProtobufError, WIRE_FIXED64, WIRE_VARINT, type WireWriter } from './protobuf-wire.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: Readonly<JsonObject> = {};

/**
 * Writes one object as the message of its type, as Go does: every field without a pointer, zero or not; pointers, lists and maps only if
 * they have a value; maps sorted by key (API-521). Fields that the type does not have are left out, null counts as absent, and a value of
 * the wrong JSON type is a {@link ProtobufError}.
 */
export function writeMessage(writer: WireWriter, plan: MessagePlan, object: JsonObject): void {
  level(writer, plan, object, 0);
}

function level(writer: WireWriter, plan: LevelPlan, object: JsonObject, depth: number): void {
  if (depth > MAX_NESTING) throw new ProtobufError('the object nests too deep');
  for (const entry of plan.descending) {
    if ('inline' in entry) {
      const before = writer.size;
      level(writer, entry.inline, object, depth + 1);
      writer.delimit(entry.number, before);
    } else field(writer, entry, Object.hasOwn(object, entry.name) ? object[entry.name] : undefined, depth);
  }
}

function field(writer: WireWriter, plan: FieldPlan, value: unknown, depth: number): void {
  const absent = value === undefined || value === null;
  if (plan.shape === 'map') {
    if (!absent) map(writer, plan, objectOf(plan, value), depth);
  } else if (plan.shape === 'list') {
    if (!absent) list(writer, plan, listOf(plan, value), depth);
  } else if (!absent) single(writer, plan, value, depth);
  else if (!plan.pointer && plan.value !== 'bytes') single(writer, plan, undefined, depth);
}

function list(writer: WireWriter, plan: FieldPlan, values: readonly unknown[], depth: number): void {
  if (plan.namedList) {
    const before = writer.size;
    strings(writer, plan, values);
    writer.delimit(plan.number, before);
    return;
  }
  for (let i = values.length - 1; i >= 0; i--) single(writer, plan, values[i] ?? undefined, depth);
}

/** Field 1 of the message that wraps a named list. */
function strings(writer: WireWriter, plan: FieldPlan, values: readonly unknown[]): void {
  for (let i = values.length - 1; i >= 0; i--) writer.string(1, stringOf(plan, values[i] ?? ''));
}

function map(writer: WireWriter, plan: FieldPlan, object: JsonObject, depth: number): void {
  const keys = Object.keys(object).sort();
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!;
    const before = writer.size;
    const value = object[key] ?? undefined;
    if (plan.namedList) {
      const inner = writer.size;
      if (value !== undefined) strings(writer, plan, listOf(plan, value));
      writer.delimit(2, inner);
    } else if (value !== undefined || plan.value !== 'bytes') numbered(writer, plan, 2, value, depth + 1);
    writer.string(1, key);
    writer.delimit(plan.number, before);
  }
}

function single(writer: WireWriter, plan: FieldPlan, value: unknown, depth: number): void {
  numbered(writer, plan, plan.number, value, depth);
}

/** Writes one value with its tag. Undefined means the zero value. */
function numbered(writer: WireWriter, plan: FieldPlan, number: number, value: unknown, depth: number): void {
  const before = writer.size;
  switch (plan.value) {
    case 'bool':
      writer.byte(value === undefined ? 0 : booleanOf(plan, value));
      writer.tag(number, WIRE_VARINT);
      return;
    case 'int32':
    case 'int64':
      writer.int64(value === undefined ? 0 : integerOf(plan, value));
      writer.tag(number, WIRE_VARINT);
      return;
    case 'float64':
      writer.float64(value === undefined ? 0 : numberOf(plan, value));
      writer.tag(number, WIRE_FIXED64);
      return;
    case 'string':
      if (value !== undefined) writer.text(stringOf(plan, value));
      break;
    case 'bytes':
      if (value !== undefined) writer.raw(bytesOf(plan, value));
      break;
    case 'message':
      level(writer, messagePlan(plan.type), value === undefined ? NOTHING : objectOf(plan, value), depth + 1);
      break;
    default:
      special(writer, plan, value, depth + 1);
  }
  writer.delimit(number, before);
}

/** The content of a special type's message (API-522). */
function special(writer: WireWriter, plan: FieldPlan, value: unknown, depth: number): void {
  switch (plan.value) {
    case 'Time':
    case 'MicroTime': {
      if (value === undefined) return;
      const { seconds, nanos } = timestampOf(stringOf(plan, value));
      const kept = plan.value === 'Time' ? 0 : nanos;
      // The zero time is the empty message.
      if (seconds === ZERO_TIME_SECONDS && kept === 0) return;
      writer.varint(kept);
      writer.tag(2, WIRE_VARINT);
      writer.varint(seconds);
      writer.tag(1, WIRE_VARINT);
      return;
    }
    case 'Quantity':
      writer.string(1, value === undefined ? '0' : typeof value === 'number' ? String(value) : stringOf(plan, value));
      return;
    case 'IntOrString':
      intOrString(writer, plan, value ?? 0);
      return;
    case 'RawExtension':
    case 'FieldsV1':
    case 'JSON':
      if (value !== undefined) writer.string(1, jsonText(plan, value));
      return;
    default:
      if (value !== undefined) schemaOr(writer, plan, value, depth);
      else if (plan.value === 'JSONSchemaPropsOrBool') allows(writer, false);
  }
}

function intOrString(writer: WireWriter, plan: FieldPlan, value: unknown): void {
  const isText = typeof value === 'string';
  writer.string(3, isText ? value : '');
  writer.varint(isText ? 0 : Number(integerOf(plan, value)));
  writer.tag(2, WIRE_VARINT);
  writer.byte(isText ? 1 : 0);
  writer.tag(1, WIRE_VARINT);
}

function allows(writer: WireWriter, value: boolean): void {
  writer.byte(value ? 1 : 0);
  writer.tag(1, WIRE_VARINT);
}

/** The unions over JSONSchemaProps, as UnmarshalJSON in apiextensions `v1/marshal.go` reads them. */
function schemaOr(writer: WireWriter, plan: FieldPlan, value: unknown, depth: number): void {
  const schema = (number: number, props: unknown): void => {
    const before = writer.size;
    level(writer, messagePlan(JSON_SCHEMA_PROPS), objectOf(plan, props), depth + 1);
    writer.delimit(number, before);
  };
  if (plan.value === 'JSONSchemaPropsOrBool') {
    if (typeof value !== 'boolean') schema(2, value);
    allows(writer, value !== false);
  } else if (!Array.isArray(value)) schema(1, value);
  else {
    for (let i = value.length - 1; i >= 0; i--) {
      if (plan.value === 'JSONSchemaPropsOrStringArray') writer.string(2, stringOf(plan, value[i] ?? ''));
      else schema(2, value[i] ?? NOTHING);
    }
  }
}

function messagePlan(type: string): MessagePlan {
  const plan = planOf(type);
  if (plan === undefined) throw new ProtobufError(`no type ${type}`);
  return plan;
}

function jsonText(plan: FieldPlan, value: unknown): string {
  try {
    const text: string | undefined = stringifyExactJson(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw new ProtobufError(`${where(plan)}: no JSON form`, { cause });
  }
  throw mismatch(plan, 'JSON', value);
}

function booleanOf(plan: FieldPlan, value: unknown): 0 | 1 {
  if (typeof value !== 'boolean') throw mismatch(plan, 'a bool', value);
  return value ? 1 : 0;
}

function integerOf(plan: FieldPlan, value: unknown): Int64 {
  const bits = plan.value === 'int64' ? 63 : 31;
  if (typeof value === 'bigint' && bits === 63) return value;
  if (!Number.isInteger(value)) throw mismatch(plan, 'an integer', value);
  const integer = value as number;
  if (integer < -(2 ** bits) || integer >= 2 ** bits) throw mismatch(plan, `an int${bits + 1}`, value);
  return integer;
}

function numberOf(plan: FieldPlan, value: unknown): number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw mismatch(plan, 'a number', value);
  return value;
}

function stringOf(plan: FieldPlan, value: unknown): string {
  if (typeof value !== 'string') throw mismatch(plan, 'a string', value);
  return value;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function bytesOf(plan: FieldPlan, value: unknown): Uint8Array {
  // Go ignores line ends.
  const text = stringOf(plan, value).replaceAll(/[\r\n]/g, '');
  if (!BASE64.test(text)) throw new ProtobufError(`${where(plan)}: illegal base64 data`);
  return Buffer.from(text, 'base64');
}

function objectOf(plan: FieldPlan, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(plan, 'an object', value);
  return value as JsonObject;
}

function listOf(plan: FieldPlan, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw mismatch(plan, 'a list', value);
  return value;
}

function where(plan: FieldPlan): string {
  return `${plan.owner.slice(plan.owner.lastIndexOf('/') + 1)}.${plan.name}`;
}

function mismatch(plan: FieldPlan, wanted: string, value: unknown): ProtobufError {
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
  return new ProtobufError(`${where(plan)}: expected ${wanted}, found ${found}`);
}
