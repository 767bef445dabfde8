import { ProtobufError, WireReader, type WireWriter } from './protobuf-wire.ts';

/** `k8s\0`, the first bytes of every object in protobuf (API-520). */
export const ENVELOPE_MAGIC: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** The envelope of an object's message (`runtime.Unknown`). */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message, as a view without a copy. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

/** Kubernetes reports a missing envelope, not the protobuf library, so the text has no `proto:`. */
class NoEnvelopeError extends ProtobufError {
  constructor(message: string) {
    super(message);
    this.message = message;
  }
}

export function isProtobufEnvelope(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && ENVELOPE_MAGIC.every((byte, i) => bytes[i] === byte);
}

export function openEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new NoEnvelopeError('empty data');
  if (!isProtobufEnvelope(bytes)) {
    throw new NoEnvelopeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (bytes.length === ENVELOPE_MAGIC.length) throw new NoEnvelopeError('empty body');
  const reader = new WireReader(bytes, ENVELOPE_MAGIC.length);
  let apiVersion = '';
  let kind = '';
  let raw = bytes.subarray(0, 0);
  let contentEncoding = '';
  let contentType = '';
  while (reader.more) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.end;
        reader.end = reader.delimited();
        while (reader.more) {
          const inner = reader.tag();
          if (inner === 10) apiVersion = reader.string();
          else if (inner === 18) kind = reader.string();
          else reader.skip(inner);
        }
        reader.end = outer;
        break;
      }
      case 18: {
        const end = reader.delimited();
        raw = bytes.subarray(reader.at, end);
        reader.at = end;
        break;
      }
      case 26:
        contentEncoding = reader.string();
        break;
      case 34:
        contentType = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { apiVersion, kind, raw, contentEncoding, contentType };
}

/** Writes an enveloped object; `writeRaw` writes the object's message. */
export function writeEnvelope(
  writer: WireWriter,
  type: { apiVersion: string; kind: string },
  writeRaw: () => void,
): void {
  // Go writes the two content fields even if they are empty.
  writer.string(4, '');
  writer.string(3, '');
  let before = writer.size;
  writeRaw();
  writer.delimit(2, before);
  before = writer.size;
  writer.string(2, type.kind);
  writer.string(1, type.apiVersion);
  writer.delimit(1, before);
  writer.raw(ENVELOPE_MAGIC);
}
