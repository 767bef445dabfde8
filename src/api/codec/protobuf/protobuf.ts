import { typeNameOf } from '../../kinds/type-table.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { type DecodeBounds, MessageDecoder } from './protobuf-decode.ts';
import { writeMessage } from './protobuf-encode.ts';
import { openEnvelope, writeEnvelope } from './protobuf-envelope.ts';
import { type MessagePlan, planOf } from './protobuf-plan.ts';
import { MAX_NESTING, ProtobufError, WireWriter } from './protobuf-wire.ts';

export { isProtobufEnvelope } from './protobuf-envelope.ts';
export { ProtobufError } from './protobuf-wire.ts';

/**
 * All calls share one writer, because writing is synchronous and never re-entrant and its buffer is worth keeping. `encode` empties it
 * after an error.
 */
const writer = new WireWriter();

function encode(write: () => void): Uint8Array {
  try {
    write();
    return writer.finish();
  } finally {
    writer.reset();
  }
}

function planOfType(typeName: string): MessagePlan {
  const plan = planOf(typeName);
  if (plan === undefined) throw new ProtobufError(`no type ${typeName}`);
  // The Go types of Table have no protobuf tags.
  if (HAS_NO_MESSAGE.has(typeName)) {
    throw new ProtobufError(`${typeName} can not be encoded as a protocol buffer`);
  }
  return plan;
}

const HAS_NO_MESSAGE: ReadonlySet<string> = new Set(
  ['Table', 'TableRow', 'TableColumnDefinition', 'TableRowCondition'].map(
    (name) => `apimachinery/pkg/apis/meta/v1.${name}`,
  ),
);

function planOfKind(apiVersion: string, kind: string): MessagePlan {
  if (kind === '') throw new ProtobufError("Object 'Kind' is missing");
  if (apiVersion === '') throw new ProtobufError("Object 'apiVersion' is missing");
  const typeName = typeNameOf(apiVersion, kind);
  if (typeName === undefined) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return planOfType(typeName);
}

export interface DecodeOptions {
  /** Used if the envelope has no apiVersion. */
  readonly apiVersion?: string;
  readonly kind?: string;
  /** Absent for a trusted source. */
  readonly bounds?: DecodeBounds;
}

/**
 * The JSON of an enveloped object (API-520), with the zero values that Go prints (API-521). Throws {@link ProtobufError} unless the bytes
 * are an object of a built-in kind, and a StatusError 413 beyond the bounds. Nothing in the result shares memory with `bytes`.
 */
export function decodeProtobuf(bytes: Uint8Array, options: DecodeOptions = {}): KubeObject {
  return decodeEnveloped(bytes, 0, options);
}

function decodeEnveloped(bytes: Uint8Array, depth: number, defaults: DecodeOptions): KubeObject {
  if (depth > MAX_NESTING) throw new ProtobufError('objects nest too deep');
  const envelope = openEnvelope(bytes);
  const apiVersion = envelope.apiVersion || (defaults.apiVersion ?? '');
  const kind = envelope.kind || (defaults.kind ?? '');
  const plan = planOfKind(apiVersion, kind);
  const { bounds } = defaults;
  const embedded = bounds === undefined ? decodeEmbedded : boundedEmbedded(bounds);
  return { kind, apiVersion, ...new MessageDecoder(envelope.raw, embedded, bounds).decode(plan, depth) };
}

function decodeEmbedded(bytes: Uint8Array, depth: number): KubeObject {
  return decodeEnveloped(bytes, depth, {});
}

function boundedEmbedded(bounds: DecodeBounds): typeof decodeEmbedded {
  return (bytes, depth) => decodeEnveloped(bytes, depth, { bounds });
}

/**
 * An object with its envelope. Unknown fields are left out, and null counts as absent. Throws {@link ProtobufError} for kinds without a
 * type and for values of the wrong JSON type.
 */
export function encodeProtobuf(object: KubeObject): Uint8Array {
  const { apiVersion = '', kind = '' } = object;
  const plan = planOfKind(apiVersion, kind);
  return encode(() => writeEnvelope(writer, { apiVersion, kind }, () => writeMessage(writer, plan, object)));
}

/** The bare message of a type in the type table. */
export function encodeTypedMessage(typeName: string, object: object): Uint8Array {
  const plan = planOfType(typeName);
  return encode(() => writeMessage(writer, plan, object as Readonly<Record<string, unknown>>));
}

/** Objects of one type in the form of list items, one after the other, each a bare message with its tag and length. */
export function encodeTypedItems(typeName: string, objects: readonly object[]): Uint8Array {
  const plan = planOfType(typeName);
  return encode(() => {
    for (const object of objects.toReversed()) {
      const before = writer.size;
      writeMessage(writer, plan, object as Readonly<Record<string, unknown>>);
      writer.delimit(2, before);
    }
  });
}

/** The JSON of a bare message. Messages do not contain `kind` and `apiVersion`. */
export function decodeTypedMessage(typeName: string, bytes: Uint8Array): Record<string, unknown> {
  return new MessageDecoder(bytes, decodeEmbedded).decode(planOfType(typeName), 0);
}
