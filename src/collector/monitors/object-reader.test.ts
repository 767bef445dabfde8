import { describe, expect, it } from 'vitest';
import { encodePartialObjectMetadata } from '../../api/codec/metadata/partial-object-metadata.ts';
import { ProtobufError } from '../../api/codec/protobuf/protobuf-wire.ts';
import { applied } from '../graph/apply.ts';
import { OwnershipGraph } from '../graph/ownership-graph.ts';
import { pods } from '../graph/testing/events.ts';
import { ObjectReader } from './object-reader.ts';

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o' };
const uidOf = (i: number): string => `0b6a4d3e-9f1c-4e7a-8a51-fc2d3e4f5${String(i).padStart(3, '0')}`;
const objectOf = (i: number): Uint8Array =>
  encodePartialObjectMetadata({ uid: uidOf(i), name: `n${i}`, namespace: 'ns', ownerReferences: [owner] });
const json = Buffer.from(JSON.stringify({ metadata: { uid: 'j', name: 'json', namespace: 'ns' } }));

interface Piece {
  readonly bytes: Uint8Array;
  readonly ranges: Int32Array;
  readonly count: number;
}

/** The bytes of the objects, one after the other. */
function piece(objects: readonly Uint8Array[]): Piece {
  const ranges = new Int32Array(objects.length * 2);
  let at = 0;
  for (const [i, { length }] of objects.entries()) {
    ranges[i * 2] = at;
    ranges[i * 2 + 1] = at += length;
  }
  return { bytes: Buffer.concat(objects), ranges, count: objects.length };
}

/** Names by reading each in its turn. */
function namesOf(reader: ObjectReader, { bytes, ranges, count }: Piece): string[] {
  return Array.from({ length: count }, (_, i) => {
    const columns = reader.read(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
    return columns.text(columns.nameStart, columns.nameEnd);
  });
}

const announced = (reader: ObjectReader, { bytes, ranges, count }: Piece): void => reader.ahead(bytes, ranges, count);

describe('ObjectReader', () => {
  const objects = Array.from({ length: 40 }, (_, i) => objectOf(i));
  const names = objects.map((_, i) => `n${i}`);

  it.each([1, 7, 16, 32, 40])('COL-041 reads %i objects ahead, and the same without', (count) => {
    const reader = new ObjectReader(new OwnershipGraph());
    const some = piece(objects.slice(0, count));
    announced(reader, some);
    expect(namesOf(reader, some)).toEqual(names.slice(0, count));
    expect(namesOf(reader, some)).toEqual(names.slice(0, count));
  });

  it('COL-041 keeps no piece of the stream but the last one', () => {
    const reader = new ObjectReader(new OwnershipGraph());
    const long = piece(objects.slice(0, 3));
    announced(reader, long);
    const { ranges } = long;
    const columns = [0, 1, 2].map((i) => reader.read(long.bytes, ranges[i * 2]!, ranges[i * 2 + 1]!));
    const short = piece(objects.slice(3, 4));
    announced(reader, short);
    expect(columns.map(({ bytes }) => bytes === short.bytes)).toEqual([true, true, true]);
  });

  it('COL-041 objects in JSON between those in protobuf have their own texts', () => {
    const reader = new ObjectReader(new OwnershipGraph());
    const mixed = piece([json, objectOf(1), json, objectOf(2)]);
    announced(reader, mixed);
    expect(namesOf(reader, mixed)).toEqual(['json', 'n1', 'json', 'n2']);
  });

  it('COL-041 what is not asked for is passed over, and what was not announced is read', () => {
    const reader = new ObjectReader(new OwnershipGraph());
    const { bytes, ranges, count } = piece(objects.slice(0, 4));
    reader.ahead(bytes, ranges, count);
    const nameAt = (i: number): string => {
      const columns = reader.read(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
      return columns.text(columns.nameStart, columns.nameEnd);
    };
    expect([nameAt(2), nameAt(0), nameAt(3), nameAt(1)]).toEqual(['n2', 'n0', 'n3', 'n1']);
    const other = piece([objectOf(9)]);
    reader.ahead(bytes, ranges, count);
    expect([...namesOf(reader, other), nameAt(0)]).toEqual(['n9', 'n0']);
  });

  it('COL-048 an announcement that is taken back leaves nothing of it', () => {
    const reader = new ObjectReader(new OwnershipGraph());
    const first = piece([objectOf(10), objectOf(11)]);
    announced(reader, first);
    reader.ahead(first.bytes, first.ranges, 0);
    first.bytes.set(piece([objectOf(12), objectOf(13)]).bytes);
    const words = (of: ObjectReader): number[] =>
      [0, 1].map((i) => of.read(first.bytes, first.ranges[i * 2]!, first.ranges[i * 2 + 1]!).uid3);
    expect(words(reader)).toEqual(words(new ObjectReader(new OwnershipGraph())));
  });

  it('COL-048 a damaged object is an error in its turn, not before', () => {
    const reader = new ObjectReader(new OwnershipGraph());
    const damaged = Uint8Array.of(0x0a, 0x7f, 0x0a);
    const { bytes, ranges, count } = piece([objectOf(1), damaged, objectOf(2)]);
    reader.ahead(bytes, ranges, count);
    const columns = reader.read(bytes, ranges[0]!, ranges[1]!);
    expect(columns.text(columns.nameStart, columns.nameEnd)).toBe('n1');
    expect(() => reader.read(bytes, ranges[2]!, ranges[3]!)).toThrow(ProtobufError);
  });

  it('COL-041 COL-048 reads ahead behind managedFields, of as many managers as there are, and what is damaged there in its turn', () => {
    const managedBy = (i: number): Uint8Array => {
      const managedFields = Array.from({ length: i }, (_, n) => ({ manager: `m${n}`, fieldsV1: { 'f:a': {} } }));
      return encodePartialObjectMetadata({ uid: uidOf(i), name: `n${i}`, namespace: 'ns', managedFields });
    };
    const reader = new ObjectReader(new OwnershipGraph());
    const some = piece(names.slice(0, 12).map((_, i) => managedBy(i)));
    announced(reader, some);
    expect(namesOf(reader, some)).toEqual(names.slice(0, 12));
    // The last manager's length.
    const damaged = managedBy(2);
    damaged[damaged.lastIndexOf(0x8a) + 2] = 0x7f;
    const { bytes, ranges, count } = piece([managedBy(3), damaged, managedBy(4)]);
    reader.ahead(bytes, ranges, count);
    const nameAt = (i: number): string => {
      const columns = reader.read(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
      return columns.text(columns.nameStart, columns.nameEnd);
    };
    expect(nameAt(0)).toBe('n3');
    expect(() => nameAt(1)).toThrow(ProtobufError);
    expect(nameAt(2)).toBe('n4');
  });

  it('COL-050 looking ahead changes nothing in the graph, whatever its size', () => {
    const graph = new OwnershipGraph();
    const reader = new ObjectReader(graph);
    const all = piece(Array.from({ length: 2000 }, (_, i) => objectOf(i)));
    for (let from = 0; from < 2000; from += 16) {
      const ranges = all.ranges.subarray(from * 2, (from + 16) * 2);
      reader.ahead(all.bytes, ranges, 16);
      const before = graph.counts.nodes;
      reader.ahead(all.bytes, ranges, 16);
      expect(graph.counts.nodes).toBe(before);
      for (let i = 0; i < 16; i++) {
        const columns = reader.read(all.bytes, ranges[i * 2]!, ranges[i * 2 + 1]!);
        expect(applied(graph, { type: 'observedColumns', resource: pods, columns }).outcome).toBe('changed');
      }
    }
    expect(graph.counts).toMatchObject({ observed: 2000, virtual: 1, references: 2000 });
    expect(graph.node(uidOf(999))?.identity.name).toBe('n999');
  });
});
