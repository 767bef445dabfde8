import * as fc from 'fast-check';
import { seededRandom } from '../../src/base/random/random.ts';
import type { Random } from '../../src/base/random/random.ts';
import { type FieldInfo, fieldsOf, JSON_SCHEMA_PROPS } from '../../src/api/kinds/type-table.ts';

type Json = Record<string, unknown>;

const STRINGS = ['', 'a', 'web-frontend', 'ünïcode ☃ 𝄞', 'with "quotes" and \\', 'x'.repeat(100), '\u0000'] as const;
const INTEGERS = [0, 1, -1, 127, 128, 300, -300, 65_536, 2 ** 31 - 1, -(2 ** 31)] as const;
const LONG_INTEGERS = [...INTEGERS, 2 ** 31, 2 ** 32, -(2 ** 40), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
const TIMES = ['2026-11-21T12:00:00Z', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z'] as const;
const KEYS = ['a', 'app.kubernetes.io/name', '__proto__', 'constructor', '', 'ä'] as const;
const ANYTHING = [{}, { a: [1, null, 'x'] }, 'text', 7, true, [{ b: {} }]] as const;

/** Deeper than this only scalars are made, so that recursive types end. */
const MAX_DEPTH = 7;

function scalar(random: Random, type: string): unknown {
  switch (type) {
    case 'string':
      return random.pick(STRINGS);
    case 'bool':
      return random.float() < 0.5;
    case 'int32':
      return random.pick(INTEGERS);
    case 'int64':
      return random.pick(LONG_INTEGERS);
    case 'float64':
      return random.pick([0, 1.5, -2e300, 1e-9]);
    case 'bytes':
      return Buffer.from(random.bytes(1 + random.integer(5))).toString('base64');
    case 'Time':
      return random.pick(TIMES);
    case 'MicroTime':
      return random.pick(TIMES).replace('Z', `.${String(random.integer(1_000_000)).padStart(6, '0')}Z`);
    case 'Quantity':
      return random.pick(['0', '100m', '1Gi', '1.5']);
    case 'IntOrString':
      return random.float() < 0.5 ? random.pick(INTEGERS) : random.pick(STRINGS);
    default:
      return random.pick(ANYTHING);
  }
}

function value(random: Random, type: string, depth: number): unknown {
  if (type.startsWith('JSONSchemaPropsOr')) {
    if (random.float() < 0.5 || depth > MAX_DEPTH) {
      if (type === 'JSONSchemaPropsOrBool') return random.float() < 0.5;
      if (type === 'JSONSchemaPropsOrStringArray') return ['a', ''];
    }
    return type === 'JSONSchemaPropsOrArray' && random.float() < 0.5
      ? [typedObject(random, JSON_SCHEMA_PROPS, depth + 1)]
      : typedObject(random, JSON_SCHEMA_PROPS, depth + 1);
  }
  return fieldsOf(type).length > 0 || type.includes('/') ? typedObject(random, type, depth + 1) : scalar(random, type);
}

function several(random: Random, make: () => unknown): unknown[] {
  return Array.from({ length: random.integer(3) }, make);
}

function fieldValue(random: Random, field: FieldInfo, depth: number): unknown {
  if (!field.map) {
    return field.list ? several(random, () => value(random, field.type, depth)) : value(random, field.type, depth);
  }
  const map: Json = {};
  for (let i = random.integer(3); i > 0; i--) {
    Object.defineProperty(map, random.pick(KEYS), {
      value: field.list ? several(random, () => value(random, field.type, depth)) : value(random, field.type, depth),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return map;
}

/** A JSON object of the type with some of its fields set, some of them to zero values; without kind and apiVersion. */
export function typedObject(random: Random, typeName: string, depth = 0): Json {
  const object: Json = {};
  const fields = fieldsOf(typeName);
  // A handful of fields each, whatever the size of the type.
  const density = Math.min(0.6, 6 / Math.max(fields.length, 1));
  for (const field of fields) {
    if (field.number === 0) continue;
    if (depth >= MAX_DEPTH && field.type.includes('/')) continue;
    if (random.float() < density) object[field.name] = fieldValue(random, field, depth);
  }
  return object;
}

export function typedObjectArbitrary(typeName: string): fc.Arbitrary<Json> {
  return fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((seed) => typedObject(seededRandom(seed), typeName));
}
