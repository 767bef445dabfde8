import { type Int64, stringifyExactJson } from '../../base/json/exact-json.ts';
import { A_TURN, type Steps } from '../../base/time/steps.ts';
import type { V2Document } from './v2-schema.ts';
import { WIRE_FIXED64, WIRE_VARINT, WireWriter } from '../../api/codec/protobuf/protobuf-wire.ts';

/**
 * Encodes a Swagger 2.0 document as gnostic's `openapi.v2.Document` (`openapiv2/OpenAPIv2.proto`), which clients request by `+protobuf`.
 * The tables list the fields in use, by JSON name.
 */
export function* openApiV2Steps({ paths, definitions, ...rest }: V2Document): Steps<Uint8Array> {
  const writer = new WireWriter();
  // The writer begins with the last field.
  yield* writeEntries(writer, { field: 9, inner: 1, one: schema, entries: definitions });
  yield* writeEntries(writer, { field: 8, inner: 2, one: pathItem, entries: paths });
  writeMessage(writer, rest, DOCUMENT);
  return writer.finish();
}

interface Entries {
  readonly field: number;
  /** The number of the entries in the message around them. */
  readonly inner: number;
  readonly one: FieldWriter;
  readonly entries: object;
}

const ENTRIES_OF_A_STEP = 100;

function* writeEntries(writer: WireWriter, { field, inner, one, entries }: Entries): Steps<void> {
  const before = writer.size;
  let count = 0;
  for (const [name, member] of Object.entries(entries).toReversed()) {
    writeNamed(writer, inner, name, member, one);
    if (++count % ENTRIES_OF_A_STEP === 0) yield A_TURN;
  }
  writer.delimit(field, before);
}

/** Writes the value of one field with its tag. Writes nothing for a value that proto3 treats as absent. */
type FieldWriter = (writer: WireWriter, field: number, value: unknown) => void;

/** Fields by JSON name, in ascending order of field numbers. `vendor` is the number of the list of extensions. */
interface Message {
  readonly fields: Readonly<Record<string, readonly [field: number, write: FieldWriter]>>;
  readonly vendor?: number;
}

function writeMessage(writer: WireWriter, value: object, { fields, vendor }: Message): void {
  const members = value as Record<string, unknown>;
  if (vendor !== undefined) {
    const extensions = Object.keys(members).filter((name) => name.startsWith('x-'));
    for (const name of extensions.toReversed()) writeNamed(writer, vendor, name, members[name], any);
  }
  for (const [name, [field, write]] of Object.entries(fields).toReversed()) {
    const member = members[name];
    if (member !== undefined) write(writer, field, member);
  }
}

/** Writes `NamedX { name = 1, value = 2 }`, which represents an entry of a map. */
function writeNamed(writer: WireWriter, field: number, name: string, value: unknown, write: FieldWriter): void {
  const before = writer.size;
  write(writer, 2, value);
  writer.string(1, name);
  writer.delimit(field, before);
}

const text: FieldWriter = (writer, field, value) => writer.string(field, String(value));

const flag: FieldWriter = (writer, field, value) => {
  if (value !== true) return;
  writer.byte(1);
  writer.tag(field, WIRE_VARINT);
};

const integer: FieldWriter = (writer, field, value) => {
  writer.int64(value as Int64);
  writer.tag(field, WIRE_VARINT);
};

const double: FieldWriter = (writer, field, value) => {
  writer.float64(Number(value));
  writer.tag(field, WIRE_FIXED64);
};

/** Writes `Any { yaml = 2 }`; JSON is valid YAML. */
const any: FieldWriter = (writer, field, value) => {
  const before = writer.size;
  writer.string(2, `${stringifyExactJson(value)}\n`);
  writer.delimit(field, before);
};

const message =
  (of: () => Message): FieldWriter =>
  (writer, field, value) => {
    const before = writer.size;
    writeMessage(writer, value as object, of());
    writer.delimit(field, before);
  };

const repeated =
  (one: FieldWriter): FieldWriter =>
  (writer, field, values) => {
    for (const value of (values as readonly unknown[]).toReversed()) one(writer, field, value);
  };

/** Writes a message around one field, which gnostic uses for maps, types and items. */
const wrapped =
  (inner: number, one: FieldWriter): FieldWriter =>
  (writer, field, value) => {
    const before = writer.size;
    one(writer, inner, value);
    writer.delimit(field, before);
  };

/** Writes the entries of a map as named values. */
const named =
  (one: FieldWriter): FieldWriter =>
  (writer, field, value) => {
    for (const [name, member] of Object.entries(value as object).toReversed()) {
      writeNamed(writer, field, name, member, one);
    }
  };

const schema = message(() => SCHEMA);

const SCHEMA: Message = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, repeated(text)],
    enum: [20, repeated(any)],
    additionalProperties: [21, wrapped(1, schema)],
    type: [22, wrapped(1, text)],
    items: [23, wrapped(1, schema)],
    properties: [25, wrapped(1, named(schema))],
    externalDocs: [29, message(() => EXTERNAL_DOCS)],
    example: [30, any],
  },
  vendor: 31,
};

const EXTERNAL_DOCS: Message = { fields: { description: [1, text], url: [2, text] } };

const BODY_PARAMETER: Message = {
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
};

/** The field numbers are the same in the messages of query and path parameters, except for the type. */
const QUERY_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    format: [7, text],
    uniqueItems: [20, flag],
  },
};

const PATH_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    format: [6, text],
    uniqueItems: [19, flag],
  },
};

/** `ParametersItem { parameter = 1 { body_parameter = 1 | non_body_parameter = 2 { query = 3 | path = 4 } } }` */
const parameter: FieldWriter = (writer, field, value) => {
  const { in: place } = value as { readonly in: string };
  const write =
    place === 'body'
      ? wrapped(
          1,
          message(() => BODY_PARAMETER),
        )
      : wrapped(2, nonBody(place));
  const before = writer.size;
  write(writer, 1, value);
  writer.delimit(field, before);
};

function nonBody(place: string): FieldWriter {
  const [field, of] = place === 'path' ? ([4, PATH_PARAMETER] as const) : ([3, QUERY_PARAMETER] as const);
  return (writer, outer, value) => {
    const before = writer.size;
    message(() => of)(writer, field, value);
    writer.delimit(outer, before);
  };
}

/** Writes `ResponseValue { response = 1 }`, whose schema is a `SchemaItem { schema = 1 }`. */
const response = wrapped(
  1,
  message(() => RESPONSE),
);

const RESPONSE: Message = { fields: { description: [1, text], schema: [2, wrapped(1, schema)] } };

const OPERATION: Message = {
  fields: {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, repeated(parameter)],
    responses: [9, wrapped(1, named(response))],
    schemes: [10, repeated(text)],
  },
  vendor: 13,
};

const operation = message(() => OPERATION);

const PATH_ITEM: Message = {
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    patch: [8, operation],
    parameters: [9, repeated(parameter)],
  },
};

const pathItem = message(() => PATH_ITEM);

/** Its paths and definitions, fields 8 and 9, are written in steps. */
const DOCUMENT: Message = {
  fields: {
    swagger: [1, text],
    info: [2, message(() => ({ fields: { title: [1, text], version: [2, text] } }))],
  },
};
