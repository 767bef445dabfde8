import { WireReader } from '../../api/codec/protobuf/protobuf-wire.ts';

/**
 * Decodes gnostic's messages for tests, by the field numbers of `OpenAPIv2.proto`. It shares no code with the encoder, so an unchanged
 * document proves that both are right.
 */
type Tree = Record<string, unknown>;

type Read = (reader: WireReader, into: Tree) => void;

const fieldsOf = (reader: WireReader, end: number, fields: Readonly<Record<number, Read>>): Tree => {
  const outer = reader.end;
  reader.end = end;
  const into: Tree = {};
  while (reader.more) {
    const number = reader.tag() >>> 3;
    const read = fields[number];
    if (read === undefined) throw new Error(`field ${number} is not expected here`);
    read(reader, into);
  }
  reader.end = outer;
  return into;
};

const nested = (reader: WireReader, fields: Readonly<Record<number, Read>>): Tree =>
  fieldsOf(reader, reader.delimited(), fields);

const text =
  (name: string): Read =>
  (reader, into) =>
    void (into[name] = reader.string());
const flag =
  (name: string): Read =>
  (reader, into) =>
    void (into[name] = reader.varint() === 1);
const integer =
  (name: string): Read =>
  (reader, into) =>
    void (into[name] = reader.varint());
const double =
  (name: string): Read =>
  (reader, into) =>
    void (into[name] = reader.float64());
const push = (into: Tree, name: string, value: unknown): void => void ((into[name] ??= []) as unknown[]).push(value);
const texts =
  (name: string): Read =>
  (reader, into) =>
    push(into, name, reader.string());
const yaml = (reader: WireReader): unknown =>
  JSON.parse(nested(reader, { 2: text('yaml') })['yaml'] as string) as unknown;
const any =
  (name: string): Read =>
  (reader, into) =>
    void (into[name] = yaml(reader));
const anys =
  (name: string): Read =>
  (reader, into) =>
    push(into, name, yaml(reader));
const one =
  (name: string, fields: () => Readonly<Record<number, Read>>): Read =>
  (reader, into) =>
    void (into[name] = nested(reader, fields()));

/** A message with one field, which is returned instead of the message. */
const inside =
  (name: string, fields: Readonly<Record<number, Read>>): Read =>
  (reader, into) =>
    void (into[name] = nested(reader, fields)['value']);

/** Reads the `NamedX` entries of the current message. */
const entries =
  (value: Read): Read =>
  (reader, into) => {
    const { name, value: member } = nested(reader, { 1: text('name'), 2: value });
    into[name as string] = member;
  };

const vendor: Read = entries(any('value'));

const SCHEMA: Readonly<Record<number, Read>> = {
  1: text('$ref'),
  2: text('format'),
  3: text('title'),
  4: text('description'),
  5: any('default'),
  6: double('multipleOf'),
  7: double('maximum'),
  8: flag('exclusiveMaximum'),
  9: double('minimum'),
  10: flag('exclusiveMinimum'),
  11: integer('maxLength'),
  12: integer('minLength'),
  13: text('pattern'),
  14: integer('maxItems'),
  15: integer('minItems'),
  16: flag('uniqueItems'),
  17: integer('maxProperties'),
  18: integer('minProperties'),
  19: texts('required'),
  20: anys('enum'),
  21: inside('additionalProperties', { 1: one('value', () => SCHEMA) }),
  22: inside('type', { 1: text('value') }),
  23: inside('items', { 1: one('value', () => SCHEMA) }),
  25: one('properties', () => ({ 1: entries(one('value', () => SCHEMA)) })),
  29: one('externalDocs', () => ({ 1: text('description'), 2: text('url') })),
  30: any('example'),
  31: vendor,
};

const QUERY = { 1: flag('required'), 2: text('in'), 4: text('name'), 6: text('type'), 20: flag('uniqueItems') };
const PATH = { 1: flag('required'), 2: text('in'), 4: text('name'), 5: text('type'), 19: flag('uniqueItems') };
const BODY = { 2: text('name'), 3: text('in'), 4: flag('required'), 5: one('schema', () => SCHEMA) };

const parameters: Read = (reader, into) => {
  const merge: Read = (inner, tree) =>
    void Object.assign(
      tree,
      nested(inner, {
        1: (at, found) => void Object.assign(found, nested(at, BODY)),
        2: (at, found) =>
          void Object.assign(
            found,
            nested(at, {
              3: (deep, last) => void Object.assign(last, nested(deep, QUERY)),
              4: (deep, last) => void Object.assign(last, nested(deep, PATH)),
            }),
          ),
      }),
    );
  push(into, 'parameters', nested(reader, { 1: merge }));
};

const RESPONSE = { 1: text('description'), 2: inside('schema', { 1: one('value', () => SCHEMA) }) };

const OPERATION: Readonly<Record<number, Read>> = {
  1: texts('tags'),
  3: text('description'),
  5: text('operationId'),
  6: texts('produces'),
  7: texts('consumes'),
  8: parameters,
  9: one('responses', () => ({ 1: entries(inside('value', { 1: one('value', () => RESPONSE) })) })),
  10: texts('schemes'),
  13: vendor,
};

const PATH_ITEM: Readonly<Record<number, Read>> = {
  2: one('get', () => OPERATION),
  3: one('put', () => OPERATION),
  4: one('post', () => OPERATION),
  5: one('delete', () => OPERATION),
  8: one('patch', () => OPERATION),
  9: parameters,
};

export function readOpenApiV2(bytes: Uint8Array): Tree {
  return fieldsOf(new WireReader(bytes), bytes.length, {
    1: text('swagger'),
    2: one('info', () => ({ 1: text('title'), 2: text('version') })),
    8: one('paths', () => ({ 2: entries(one('value', () => PATH_ITEM)) })),
    9: one('definitions', () => ({ 1: entries(one('value', () => SCHEMA)) })),
  });
}
