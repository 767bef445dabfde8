import { COLON, JsonCursor, MemberTable, NEEDS_PARSER } from '../json/json-cursor.ts';
import { isJsonTime, secondsOfJsonTime } from './json-time.ts';
import { WIRE_BYTES, WIRE_VARINT, type WireWriter } from '../protobuf/protobuf-wire.ts';

/**
 * Converts ObjectMeta from JSON text directly to protobuf. The strings of both have the same bytes, so nothing is parsed into objects or
 * formatted again, and managed fields, usually the larger part, are copied unchanged. This takes a fifth of the time of parsing and
 * encoding for lists and watches of metadata. It accepts the text that an API server stores: no white space, no repeated members, no null.
 * It leaves any other text to the parser (see {@link read}). For text that it accepts, a test proves that the result equals that of
 * `partial-object-metadata.ts`.
 */
export class JsonMetadata {
  readonly #cursor = new JsonCursor();
  #places: number[] | undefined;
  /** Start and end of each string member, by the number of its protobuf field; 0 if absent. */
  readonly #strings = new Int32Array(2 * 16);
  #generation = 0;
  #gracePeriod = -1;
  /** Start and end of the key and value of each label, the same for each annotation, and start and end of each finalizer. */
  readonly #labels: number[] = [];
  readonly #annotations: number[] = [];
  readonly #finalizers: number[] = [];
  /** {@link OWNER} numbers for each owner, {@link ENTRY} numbers for each entry. */
  readonly #owners: number[] = [];
  readonly #entries: number[] = [];

  /**
   * Reads the object that begins at `start`. Returns `parse`, and reads nothing, if the object has a form that cannot be copied. The
   * bytes must not change until {@link write}.
   */
  read(json: Uint8Array, start: number): 'read' | 'parse' {
    this.#cursor.json = json;
    this.#cursor.at = start;
    this.#strings.fill(0);
    this.#generation = 0;
    this.#gracePeriod = -1;
    for (const list of [this.#labels, this.#annotations, this.#finalizers, this.#owners, this.#entries])
      list.length = 0;
    try {
      this.#cursor.members(() => this.#member());
      return 'read';
    } catch (problem) {
      if (problem === NEEDS_PARSER) return 'parse';
      throw problem;
    }
  }

  /** The position after the text that was read. */
  get end(): number {
    return this.#cursor.at;
  }

  /**
   * Writes the message ObjectMeta. The text does not contain `resourceVersion`. The positions of the fields are written to `places`, if
   * given: {@link PLACE} numbers each.
   */
  write(writer: WireWriter, resourceVersion: string, places?: number[]): void {
    this.#places = places;
    for (let i = this.#entries.length - ENTRY; i >= 0; i -= ENTRY) this.#writeEntry(writer, i);
    for (let i = this.#finalizers.length - 2; i >= 0; i -= 2) {
      this.#write(writer, 14, this.#finalizers[i]!, this.#finalizers[i + 1]!);
    }
    for (let i = this.#owners.length - OWNER; i >= 0; i -= OWNER) this.#writeOwner(writer, i);
    this.#writeMap(writer, 12, this.#annotations);
    this.#writeMap(writer, 11, this.#labels);
    if (this.#gracePeriod >= 0) {
      writer.varint(this.#gracePeriod);
      places?.push(PLACE_CONSTANT, this.#gracePeriod, 0, writer.size);
      writer.tag(10, WIRE_VARINT);
    }
    if (this.#strings[2 * DELETION]! > 0) this.#writeTime(writer, DELETION, this.#strings[2 * DELETION]!);
    this.#writeTime(writer, CREATION, this.#strings[2 * CREATION]!);
    writer.varint(this.#generation);
    places?.push(PLACE_CONSTANT, this.#generation, 0, writer.size);
    writer.tag(7, WIRE_VARINT);
    const before = writer.size;
    writer.text(resourceVersion);
    places?.push(PLACE_REVISION, 0, 0, writer.size);
    writer.delimit(6, before);
    for (let field = UID; field >= NAME; field--) {
      this.#write(writer, field, this.#strings[2 * field]!, this.#strings[2 * field + 1]!);
    }
  }

  #member(): void {
    const start = this.#cursor.string();
    const end = this.#cursor.at - 1;
    this.#cursor.expect(COLON);
    const field = MEMBERS.find(this.#cursor.json, start, end);
    switch (field) {
      case NAME:
      case GENERATE_NAME:
      case NAMESPACE:
      case SELF_LINK:
      case UID:
        this.#strings[2 * field] = this.#cursor.string();
        this.#strings[2 * field + 1] = this.#cursor.at - 1;
        return;
      case CREATION:
      case DELETION:
        this.#strings[2 * field] = this.#time();
        return;
      case GENERATION:
        this.#generation = this.#cursor.integer();
        return;
      case GRACE_PERIOD:
        this.#gracePeriod = this.#cursor.integer();
        return;
      case LABELS:
        return this.#map(this.#labels);
      case ANNOTATIONS:
        return this.#map(this.#annotations);
      case FINALIZERS:
        return this.#cursor.elements(() => void this.#finalizers.push(this.#cursor.string(), this.#cursor.at - 1));
      case OWNER_REFERENCES:
        return this.#cursor.elements(() => this.#owner());
      case MANAGED_FIELDS:
        return this.#cursor.elements(() => this.#entry());
      default:
        throw NEEDS_PARSER;
    }
  }

  #map(into: number[]): void {
    this.#cursor.members(() => {
      const key = this.#cursor.string();
      const keyEnd = this.#cursor.at - 1;
      this.#cursor.expect(COLON);
      const value = this.#cursor.string();
      into.push(key, keyEnd, value, this.#cursor.at - 1);
    });
    this.#sort(into);
  }

  /** Sorts by the bytes of the keys, as the table-driven codec does. Most are already sorted. */
  #sort(quads: number[]): void {
    for (let i = 4; i < quads.length; i += 4) {
      if (this.#compare(quads, i - 4, i) < 0) continue;
      const order = Array.from({ length: quads.length / 4 }, (_, at) => 4 * at);
      order.sort((a, b) => this.#compare(quads, a, b));
      const sorted = order.flatMap((at) => quads.slice(at, at + 4));
      for (let j = 0; j < quads.length; j++) quads[j] = sorted[j]!;
      return;
    }
  }

  #compare(quads: readonly number[], left: number, right: number): number {
    const json = this.#cursor.json;
    let [a, b] = [quads[left]!, quads[right]!];
    const [aEnd, bEnd] = [quads[left + 1]!, quads[right + 1]!];
    for (; a < aEnd && b < bEnd; a++, b++) {
      // Beyond ASCII, the other encoder's order (by code units) differs from that of bytes.
      if (json[a]! >= 0x80 || json[b]! >= 0x80) throw NEEDS_PARSER;
      if (json[a] !== json[b]) return json[a]! - json[b]!;
    }
    if (a === aEnd && b === bEnd) throw NEEDS_PARSER;
    return a === aEnd ? -1 : 1;
  }

  #owner(): void {
    const at = this.#owners.length;
    this.#owners.push(0, 0, 0, 0, 0, 0, 0, 0, -1, -1);
    this.#cursor.members(() => {
      const start = this.#cursor.string();
      const end = this.#cursor.at - 1;
      this.#cursor.expect(COLON);
      const member = OWNER_MEMBERS.find(this.#cursor.json, start, end);
      if (member < 0) throw NEEDS_PARSER;
      if (member >= 8) this.#owners[at + member] = this.#cursor.boolean();
      else {
        this.#owners[at + member] = this.#cursor.string();
        this.#owners[at + member + 1] = this.#cursor.at - 1;
      }
    });
  }

  #entry(): void {
    const at = this.#entries.length;
    for (let i = 0; i < ENTRY; i++) this.#entries.push(0);
    this.#cursor.members(() => {
      const start = this.#cursor.string();
      const end = this.#cursor.at - 1;
      this.#cursor.expect(COLON);
      const member = ENTRY_MEMBERS.find(this.#cursor.json, start, end);
      if (member < 0) throw NEEDS_PARSER;
      if (member === ENTRY_TIME) this.#entries[at + member] = this.#time();
      else if (member === ENTRY_FIELDS) {
        this.#entries[at + member] = this.#cursor.at;
        this.#cursor.skipObject();
        this.#entries[at + member + 1] = this.#cursor.at;
      } else {
        this.#entries[at + member] = this.#cursor.string();
        this.#entries[at + member + 1] = this.#cursor.at - 1;
      }
    });
  }

  /** The start of a time such as `2026-11-21T15:04:05Z`. Its length never varies. */
  #time(): number {
    const start = this.#cursor.string();
    if (!isJsonTime(this.#cursor.json, start, this.#cursor.at - 1)) throw NEEDS_PARSER;
    return start;
  }

  #write(writer: WireWriter, field: number, start: number, end: number): void {
    writer.copy(this.#cursor.json, start, end);
    if (this.#places !== undefined) this.#places.push(PLACE_TEXT, start, end, writer.size);
    writer.varint(end - start);
    writer.varint(field * 8 + WIRE_BYTES);
  }

  #writeMap(writer: WireWriter, field: number, quads: readonly number[]): void {
    for (let i = quads.length - 4; i >= 0; i -= 4) {
      const before = writer.size;
      this.#write(writer, 2, quads[i + 2]!, quads[i + 3]!);
      this.#write(writer, 1, quads[i]!, quads[i + 1]!);
      writer.delimit(field, before);
    }
  }

  #writeOwner(writer: WireWriter, at: number): void {
    const before = writer.size;
    this.#writeBoolean(writer, 7, this.#owners[at + OWNER_BLOCK]!);
    this.#writeBoolean(writer, 6, this.#owners[at + OWNER_CONTROLLER]!);
    for (const [field, member] of OWNER_STRINGS) {
      this.#write(writer, field, this.#owners[at + member]!, this.#owners[at + member + 1]!);
    }
    writer.delimit(13, before);
  }

  #writeBoolean(writer: WireWriter, field: number, value: number): void {
    if (value < 0) return;
    writer.byte(value);
    this.#places?.push(PLACE_CONSTANT, value, 0, writer.size);
    writer.tag(field, WIRE_VARINT);
  }

  #writeEntry(writer: WireWriter, at: number): void {
    const entries = this.#entries;
    const before = writer.size;
    this.#write(writer, 8, entries[at + ENTRY_SUBRESOURCE]!, entries[at + ENTRY_SUBRESOURCE + 1]!);
    if (entries[at + ENTRY_FIELDS]! > 0) {
      const inner = writer.size;
      this.#write(writer, 1, entries[at + ENTRY_FIELDS]!, entries[at + ENTRY_FIELDS + 1]!);
      writer.delimit(7, inner);
    }
    this.#write(writer, 6, entries[at + ENTRY_FIELDS_TYPE]!, entries[at + ENTRY_FIELDS_TYPE + 1]!);
    if (entries[at + ENTRY_TIME]! > 0) this.#writeTime(writer, 4, entries[at + ENTRY_TIME]!);
    this.#write(writer, 3, entries[at + ENTRY_API_VERSION]!, entries[at + ENTRY_API_VERSION + 1]!);
    this.#write(writer, 2, entries[at + ENTRY_OPERATION]!, entries[at + ENTRY_OPERATION + 1]!);
    this.#write(writer, 1, entries[at + ENTRY_MANAGER]!, entries[at + ENTRY_MANAGER + 1]!);
    writer.delimit(17, before);
  }

  /** `start` 0 means no time. */
  #writeTime(writer: WireWriter, field: number, start: number): void {
    const before = writer.size;
    if (start > 0) {
      writer.varint(0);
      writer.tag(2, WIRE_VARINT);
      writer.varint(secondsOfJsonTime(this.#cursor.json, start));
      if (this.#places !== undefined) this.#places.push(PLACE_TIME, start, 0, writer.size);
      writer.tag(1, WIRE_VARINT);
    }
    writer.delimit(field, before);
  }
}

/**
 * A part of the message that depends on the text: its type, the start and end of its text, and its start in the message, counted from the
 * end.
 */
export const PLACE = 4;
export const PLACE_TEXT = 0;
/** A time as a varint of seconds, in the form that {@link secondsOfJsonTime} reads. */
export const PLACE_TIME = 1;
export const PLACE_REVISION = 2;
/** A constant. Such a place holds the number instead of the start of a text. */
export const PLACE_CONSTANT = 3;

/** Numbers of the fields of ObjectMeta. */
const NAME = 1;
const GENERATE_NAME = 2;
const NAMESPACE = 3;
const SELF_LINK = 4;
const UID = 5;
const GENERATION = 7;
const CREATION = 8;
const DELETION = 9;
const GRACE_PERIOD = 10;
const LABELS = 11;
const ANNOTATIONS = 12;
const OWNER_REFERENCES = 13;
const FINALIZERS = 14;
const MANAGED_FIELDS = 17;

/** Positions of an owner's members among its numbers: start and end of each string, then the booleans. */
const OWNER = 10;
const OWNER_CONTROLLER = 8;
const OWNER_BLOCK = 9;
/** Field number and position, descending. */
const OWNER_STRINGS = [
  [5, 0],
  [4, 2],
  [3, 4],
  [1, 6],
] as const;

const ENTRY = 14;
const ENTRY_MANAGER = 0;
const ENTRY_OPERATION = 2;
const ENTRY_API_VERSION = 4;
const ENTRY_TIME = 6;
const ENTRY_FIELDS_TYPE = 8;
const ENTRY_FIELDS = 10;
const ENTRY_SUBRESOURCE = 12;

const MEMBERS = new MemberTable({
  name: NAME,
  generateName: GENERATE_NAME,
  namespace: NAMESPACE,
  selfLink: SELF_LINK,
  uid: UID,
  generation: GENERATION,
  creationTimestamp: CREATION,
  deletionTimestamp: DELETION,
  deletionGracePeriodSeconds: GRACE_PERIOD,
  labels: LABELS,
  annotations: ANNOTATIONS,
  ownerReferences: OWNER_REFERENCES,
  finalizers: FINALIZERS,
  managedFields: MANAGED_FIELDS,
});

const OWNER_MEMBERS = new MemberTable({
  apiVersion: 0,
  uid: 2,
  name: 4,
  kind: 6,
  controller: OWNER_CONTROLLER,
  blockOwnerDeletion: OWNER_BLOCK,
});

const ENTRY_MEMBERS = new MemberTable({
  manager: ENTRY_MANAGER,
  operation: ENTRY_OPERATION,
  apiVersion: ENTRY_API_VERSION,
  time: ENTRY_TIME,
  fieldsType: ENTRY_FIELDS_TYPE,
  fieldsV1: ENTRY_FIELDS,
  subresource: ENTRY_SUBRESOURCE,
});
