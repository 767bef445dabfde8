import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typedObject } from '../../../../test/arbitraries/typed-object.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { builtinResources } from '../../kinds/builtin-resources.ts';
import { META_V1 } from '../../kinds/type-table.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../meta/object-meta.ts';
import type { ObjectMeta, OwnerReference } from '../../meta/object-meta.ts';
import {
  OWNER_API_VERSION_RANGE,
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FIELDS,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_KIND_RANGE,
  OWNER_NAME_RANGE,
  OWNER_UID,
  OWNER_UID_IS_TEXT,
  OWNER_UID_RANGE,
} from './metadata-columns.ts';
import { MetadataJsonError } from './metadata-json.ts';
import { MetadataReader } from './metadata-reader.ts';
import { encodePartialObjectMetadata, encodePartialObjectMetadataEnvelope } from './partial-object-metadata.ts';
import { decodeTypedMessage, encodeProtobuf, ProtobufError } from '../protobuf/protobuf.ts';

const UID = '0b6a4d3e-9f1c-4e7a-8a51-fc2d3e4f5a6b';
const TYPE = `${META_V1}.PartialObjectMetadata`;

/** The columns as plain values. */
interface Facts {
  uid: string;
  name: string;
  namespace: string;
  resourceVersion: number;
  deleting: boolean;
  deletionSeconds: number;
  foreground: boolean;
  orphan: boolean;
  others: number;
  owners: OwnerReference[];
}

function uuidOf(words: readonly number[]): string {
  const text = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function factsOf(reader: MetadataReader): Facts {
  const { owners } = reader;
  const range = (at: number): string => reader.text(owners[at]!, owners[at + 1]!);
  const uid = reader.text(reader.uidStart, reader.uidEnd);
  if (!reader.uidIsText) expect(uuidOf([reader.uid0, reader.uid1, reader.uid2, reader.uid3])).toBe(uid);
  expect(reader.otherFinalizers).toBe(reader.otherFinalizerCount > 0);
  return {
    uid,
    name: reader.text(reader.nameStart, reader.nameEnd),
    namespace: reader.text(reader.namespaceStart, reader.namespaceEnd),
    resourceVersion: reader.resourceVersion,
    deleting: reader.deleting,
    deletionSeconds: reader.deletionSeconds,
    foreground: reader.foregroundFinalizer,
    orphan: reader.orphanFinalizer,
    others: reader.otherFinalizerCount,
    owners: Array.from({ length: reader.ownerCount }, (_, i) => {
      const at = i * OWNER_FIELDS;
      const flags = owners[at + OWNER_FLAGS]!;
      const ownerUid = range(at + OWNER_UID_RANGE);
      if ((flags & OWNER_UID_IS_TEXT) === 0) {
        expect(uuidOf([...owners.subarray(at + OWNER_UID, at + OWNER_UID + 4)])).toBe(ownerUid);
      }
      return {
        apiVersion: range(at + OWNER_API_VERSION_RANGE),
        kind: range(at + OWNER_KIND_RANGE),
        name: range(at + OWNER_NAME_RANGE),
        uid: ownerUid,
        ...((flags & OWNER_HAS_CONTROLLER) === 0 ? {} : { controller: (flags & OWNER_CONTROLLER) !== 0 }),
        ...((flags & OWNER_HAS_BLOCK) === 0 ? {} : { blockOwnerDeletion: (flags & OWNER_BLOCK) !== 0 }),
      };
    }),
  };
}

function secondsOf(time: string | null | undefined): number {
  const seconds = Math.floor(Date.parse(time ?? '') / 1000);
  return seconds < 0 ? Number.NaN : seconds;
}

/** The same facts from an object that another decoder read. */
function expectedFacts(meta: ObjectMeta): Facts {
  const finalizers = meta.finalizers ?? [];
  const version = meta.resourceVersion ?? '';
  return {
    uid: meta.uid ?? '',
    name: meta.name ?? '',
    namespace: meta.namespace ?? '',
    resourceVersion:
      /^(?:0|[1-9]\d*)$/.test(version) && Number.isSafeInteger(Number(version)) ? Number(version) : Number.NaN,
    deleting: 'deletionTimestamp' in meta,
    deletionSeconds: secondsOf(meta.deletionTimestamp),
    foreground: finalizers.includes(FINALIZER_FOREGROUND),
    orphan: finalizers.includes(FINALIZER_ORPHAN),
    others: finalizers.filter((name) => name !== FINALIZER_FOREGROUND && name !== FINALIZER_ORPHAN).length,
    owners: (meta.ownerReferences ?? []).map((owner) => ({
      apiVersion: owner.apiVersion ?? '',
      kind: owner.kind ?? '',
      name: owner.name ?? '',
      uid: owner.uid ?? '',
      ...(typeof owner.controller === 'boolean' ? { controller: owner.controller } : {}),
      ...(typeof owner.blockOwnerDeletion === 'boolean' ? { blockOwnerDeletion: owner.blockOwnerDeletion } : {}),
    })),
  };
}

/** A random ObjectMeta, in which the relevant words are likely. */
function randomMeta(seed: number): ObjectMeta {
  const random = seededRandom(seed);
  const meta = typedObject(random, `${META_V1}.ObjectMeta`) as ObjectMeta;
  const uids = [random.uuid(), random.uuid().toUpperCase(), random.uuid().slice(1), `${random.uuid().slice(0, 35)}g`];
  if (random.float() < 0.8) meta.uid = random.pick(uids);
  if (random.float() < 0.8)
    meta.resourceVersion = random.pick([
      '1',
      '0',
      '12345',
      '9007199254740991',
      '9007199254740992',
      '01',
      'x',
      '99999999999999999',
    ]);
  if (random.float() < 0.5) {
    const names = ['foregroundDeletion', 'orphan', 'orphans', 'foregroundDeletioN', 'example.com/x'];
    meta.finalizers = names.filter(() => random.float() < 0.4);
  }
  for (const owner of meta.ownerReferences ?? []) if (random.float() < 0.8) owner.uid = random.pick(uids);
  return meta;
}
const metas = fc.integer({ min: 0, max: 2 ** 31 - 1 }).map(randomMeta);

const jsonOf = (metadata: object): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }));

/** Reads from the middle of other bytes, as in a chunk of a stream. */
function read(bytes: Uint8Array): MetadataReader {
  const around = Buffer.concat([Buffer.from('{"k8s'), bytes, Buffer.from('{}}')]);
  const reader = new MetadataReader();
  reader.read(around, 5, 5 + bytes.length);
  return reader;
}

describe('metadata reader', () => {
  it('COL-041 reads what the table-driven decoder reads, enveloped and bare, protobuf and JSON', () => {
    fc.assert(
      fc.property(metas, (meta) => {
        const bare = encodePartialObjectMetadata(meta);
        const expected = expectedFacts(decodeTypedMessage(TYPE, bare)['metadata'] as ObjectMeta);
        expect(factsOf(read(bare))).toEqual(expected);
        expect(factsOf(read(encodePartialObjectMetadataEnvelope(meta)))).toEqual(expected);
        expect(factsOf(read(jsonOf(meta)))).toEqual(expected);
        const hash = read(bare).changeHash();
        expect(read(jsonOf(meta)).changeHash()).toBe(hash);
        expect(Number.isSafeInteger(hash) && hash >= 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('COL-040 reads any built-in kind when the server sends whole objects', () => {
    for (const info of builtinResources()) {
      const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`;
      const object = typedObject(seededRandom(info.resource.length), info.typeName!);
      const metadata = randomMeta(info.resource.length);
      const bytes = encodeProtobuf({ ...object, apiVersion, kind: info.kind, metadata });
      expect(factsOf(read(bytes)), info.resource).toEqual(expectedFacts(metadata));
    }
  });

  it('COL-041 references that were left unread are read when they are asked for', () => {
    const reader = new MetadataReader();
    fc.assert(
      fc.property(metas, (meta) => {
        const bare = encodePartialObjectMetadata(meta);
        const expected = expectedFacts(decodeTypedMessage(TYPE, bare)['metadata'] as ObjectMeta);
        for (const bytes of [bare, encodePartialObjectMetadataEnvelope(meta), jsonOf(meta)]) {
          reader.scan(bytes, 0, bytes.length);
          expect(reader.ownerCount).toBe(expected.owners.length);
          reader.readOwners();
          reader.readOwners();
          expect(factsOf(reader)).toEqual(expected);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('COL-041 reading with pauses gives the same, wherever managedFields stand, and the same errors', () => {
    const field = (tag: readonly number[], value: Uint8Array): Buffer =>
      Buffer.concat([Uint8Array.from(tag), Uint8Array.of((value.length & 0x7f) | 0x80, value.length >> 7), value]);
    const managed = field([0x8a, 0x01], Buffer.alloc(150, 'f'));
    /** The fields of ObjectMeta, without tag and length. */
    const inner = (meta: ObjectMeta): Uint8Array => {
      const bytes = encodePartialObjectMetadata(meta);
      return bytes.subarray(1 + bytes.subarray(1).findIndex((byte) => byte < 0x80) + 1);
    };
    const paused = (bytes: Uint8Array, pauses: number): MetadataReader => {
      const reader = new MetadataReader();
      let at = 0;
      for (let scanned = reader.scanHead(bytes, 0, bytes.length); scanned === 'paused'; pauses--) {
        expect(reader.pausedAt).toBeGreaterThan(at);
        at = reader.pausedAt;
        // The readers share the state of the scan.
        new MetadataReader().scan(bytes, 0, bytes.length);
        scanned = reader.scanOn(pauses > 0 ? 'next pause' : 'end');
      }
      reader.readOwners();
      return reader;
    };
    const piece = fc.tuple(metas, fc.nat({ max: 3 }));
    const damage = fc.option(fc.tuple(fc.nat(), fc.nat(255)));
    fc.assert(
      fc.property(
        fc.array(fc.array(piece, { maxLength: 3 }), { maxLength: 2 }),
        fc.nat(4),
        damage,
        (all, n, spoilt) => {
          const fieldsOf = (pieces: (typeof all)[number]): Buffer =>
            Buffer.concat(
              pieces.flatMap(([meta, count]) => [inner(meta), ...Array.from({ length: count }, () => managed)]),
            );
          const whole = Buffer.concat(all.map((pieces) => field([0x0a], fieldsOf(pieces))));
          const bytes = Buffer.concat([whole, field([0x12], Buffer.alloc(200, 's'))]);
          // Damages any byte but the first, which identifies JSON.
          if (spoilt !== null) bytes[1 + (spoilt[0] % (bytes.length - 1))] = spoilt[1];
          let expected: Facts;
          try {
            expected = factsOf(read(bytes));
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError);
            expect(() => paused(bytes, n)).toThrow(ProtobufError);
            return;
          }
          expect(factsOf(paused(bytes, n))).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('COL-048 a damaged reference is an error when it is read', () => {
    const meta = { uid: UID, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'p' }] };
    const bytes = Buffer.from(encodePartialObjectMetadata(meta));
    // The length of the uid, the last field.
    bytes[bytes.lastIndexOf('p') - 1] = 9;
    const reader = new MetadataReader();
    expect(reader.scan(bytes, 0, bytes.length)).toBe(true);
    expect(() => reader.readOwners()).toThrow(ProtobufError);
    expect(() => reader.read(bytes, 0, bytes.length)).toThrow(ProtobufError);
  });

  it('damaged bytes give what the decoder gives, or an error', () => {
    const reader = new MetadataReader();
    fc.assert(
      fc.property(metas, fc.nat(), fc.nat(255), fc.nat(), (meta, at, byte, cut) => {
        const bytes = encodePartialObjectMetadata(meta);
        bytes[at % bytes.length] = byte;
        for (const damaged of [bytes, bytes.subarray(0, cut % bytes.length)]) {
          let decoded: ObjectMeta | undefined;
          try {
            decoded = decodeTypedMessage(TYPE, damaged)['metadata'] as ObjectMeta;
          } catch {
            // The decoder checks more than the reader, so the reader may also return.
          }
          try {
            reader.read(damaged, 0, damaged.length);
          } catch (error) {
            // A damaged first byte of `{` makes the reader read the bytes as JSON.
            expect(error instanceof ProtobufError || (error instanceof MetadataJsonError && damaged[0] === 0x7b)).toBe(
              true,
            );
            expect(decoded === undefined || damaged[0] === 0x7b).toBe(true);
            continue;
          }
          if (decoded !== undefined) expect(factsOf(reader)).toEqual(expectedFacts(decoded));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('garbage is an error or nothing, never a hang', () => {
    const reader = new MetadataReader();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.boolean(), (garbage, enveloped) => {
        const bytes = enveloped ? Buffer.concat([Buffer.from('k8s\0'), garbage]) : garbage;
        try {
          reader.read(bytes, 0, bytes.length);
        } catch (error) {
          expect(error instanceof ProtobufError || error instanceof MetadataJsonError).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('says whether there is a uid, and keeps nothing of the object before', () => {
    const reader = new MetadataReader();
    const full = encodePartialObjectMetadataEnvelope({
      name: 'a',
      uid: UID,
      deletionTimestamp: '2026-11-21T12:00:00Z',
      finalizers: ['orphan', 'x/y'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: UID, controller: true }],
    });
    expect(reader.read(full, 0, full.length)).toBe(true);
    expect(reader.uidIsText).toBe(false);
    const bookmark = encodePartialObjectMetadataEnvelope({ resourceVersion: '77' });
    expect(reader.read(bookmark, 0, bookmark.length)).toBe(false);
    expect(factsOf(reader)).toEqual(expectedFacts({ resourceVersion: '77' }));
    expect(reader.text(reader.resourceVersionStart, reader.resourceVersionEnd)).toBe('77');
    const none = encodePartialObjectMetadata({});
    expect(reader.readObjectMeta(none, 2, none.length)).toBe(false);
  });

  it('many owners grow the columns', () => {
    const ownerReferences = Array.from({ length: 100 }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: `p${i}`,
      uid: `u${i}`,
    }));
    expect(factsOf(read(encodePartialObjectMetadata({ ownerReferences }))).owners).toEqual(ownerReferences);
  });
});

describe('metadata from JSON', () => {
  const managedFields = [
    {
      manager: 'm',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"x"}': {} }, 'f:finalizers': {} } },
    },
  ];
  const base = { name: 'a', namespace: 'n', uid: UID, resourceVersion: '5' };

  it.each([
    ['managedFields last, as Go writes it', { ...base, finalizers: ['orphan'], managedFields }],
    ['finalizers after it', { ...base, managedFields, finalizers: ['orphan'] }],
    ['all of it before the rest, in the order of the alphabet', { finalizers: ['orphan'], managedFields, ...base }],
    [
      'its pattern inside an annotation',
      { annotations: { a: 'x,"managedFields":[' }, ...base, finalizers: ['orphan'] },
    ],
    [
      'its pattern in a map of strings',
      { annotations: { b: 'x', managedFields: '[' }, ...base, finalizers: ['orphan'] },
    ],
    ['an object of that name deeper down', { other: { x: 1, managedFields: [1] }, ...base, finalizers: ['orphan'] }],
  ])('5.1 the cut changes nothing: %s', (_name, metadata) => {
    expect(factsOf(read(jsonOf(metadata)))).toEqual(expectedFacts({ ...base, finalizers: ['orphan'] }));
  });

  it('5.1 the cut changes nothing: a key written with an escape', () => {
    const text = JSON.stringify({ metadata: { ...base, managedFields, finalizers: ['orphan'] } });
    const escaped = text.replace('"finalizers":["orphan"]', '"finali\\u007aers":["orphan"]');
    expect(escaped).not.toBe(text);
    expect(factsOf(read(Buffer.from(escaped)))).toEqual(expectedFacts({ ...base, finalizers: ['orphan'] }));
  });

  it('5.1 the cut changes nothing: a whole object with owners in its template', () => {
    const object = {
      kind: 'Deployment',
      metadata: { ...base, managedFields },
      spec: { template: { metadata: { finalizers: ['orphan'], managedFields } } },
    };
    expect(factsOf(read(Buffer.from(JSON.stringify(object))))).toEqual(expectedFacts(base));
    const { kind, metadata, spec } = object;
    expect(factsOf(read(Buffer.from(JSON.stringify({ kind, spec, metadata }))))).toEqual(expectedFacts(base));
  });

  it('5.1 any order of keys, any position of managedFields', () => {
    fc.assert(
      fc.property(metas, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (meta, order) => {
        const all = { ...meta, managedFields };
        const keys = Object.keys(all)
          .map((key, i) => [key, order[i]!] as const)
          .sort((a, b) => a[1] - b[1]);
        const shuffled = Object.fromEntries(keys.map(([key]) => [key, all[key as keyof typeof all]]));
        expect(factsOf(read(jsonOf(shuffled)))).toEqual(expectedFacts(all));
      }),
      { numRuns: 300 },
    );
  });

  it('null is absent', () => {
    const nulls = { uid: null, name: null, deletionTimestamp: null, finalizers: null, ownerReferences: null };
    expect(factsOf(read(jsonOf(nulls)))).toEqual(expectedFacts({}));
    expect(factsOf(read(Buffer.from('{"metadata":null}')))).toEqual(expectedFacts({}));
  });

  it.each([
    ['{', 'the object is no JSON'],
    ['{"metadata":[]}', 'metadata is no object'],
    ['{"metadata":{"uid":5}}', 'metadata: uid is no string'],
    ['{"metadata":{"finalizers":"x"}}', 'metadata.finalizers is no list'],
    ['{"metadata":{"ownerReferences":[1]}}', 'metadata.ownerReferences is no object'],
    ['{"metadata":{"ownerReferences":[{"controller":"yes"}]}}', 'controller is no boolean'],
  ])('%s is an error', (text, message) => {
    expect(() => read(Buffer.from(text))).toThrow(message);
    expect(() => read(Buffer.from(text))).toThrow(MetadataJsonError);
  });

  it('long texts grow the scratch without moving what was read', () => {
    const meta = {
      ...base,
      name: 'x'.repeat(9000),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'ü'.repeat(9000), uid: UID }],
    };
    expect(factsOf(read(jsonOf(meta)))).toEqual(expectedFacts(meta));
  });
});

describe('change hash', () => {
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: UID };
  const base: ObjectMeta = { name: 'a', uid: UID, resourceVersion: '1', ownerReferences: [owner], finalizers: ['x/y'] };
  const hash = (meta: ObjectMeta): number => read(encodePartialObjectMetadata(meta)).changeHash();

  it.each<[string, ObjectMeta]>([
    ['resourceVersion', { resourceVersion: '2' }],
    ['labels', { labels: { a: 'b' } }],
    ['other finalizers', { finalizers: ['x/y', 'x/z'] }],
    ['managedFields', { managedFields: [{ manager: 'm' }] }],
    ['generation', { generation: 4 }],
  ])('COL-046 %s do not count', (_name, change) => {
    expect(hash({ ...base, ...change })).toBe(hash(base));
  });

  it('COL-046 every relevant change counts', () => {
    const states: ObjectMeta[] = [
      base,
      { ...base, deletionTimestamp: '2026-11-21T12:00:00Z' },
      { ...base, finalizers: ['orphan'] },
      { ...base, finalizers: ['foregroundDeletion'] },
      { ...base, ownerReferences: [] },
      { ...base, ownerReferences: [owner, owner] },
      { ...base, ownerReferences: [{ ...owner, uid: `${UID.slice(0, -1)}c` }] },
      { ...base, ownerReferences: [{ ...owner, uid: 'c' }] },
      { ...base, ownerReferences: [{ ...owner, name: 'p' }] },
      { ...base, ownerReferences: [{ ...owner, kind: 'Secret' }] },
      { ...base, ownerReferences: [{ ...owner, apiVersion: 'v2' }] },
      { ...base, ownerReferences: [{ ...owner, controller: false }] },
      { ...base, ownerReferences: [{ ...owner, controller: true }] },
      { ...base, ownerReferences: [{ ...owner, blockOwnerDeletion: false }] },
      { ...base, ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
      { ...base, ownerReferences: [{ ...owner, name: '', kind: 'ConfigMapo' }] },
    ];
    expect(new Set(states.map(hash)).size).toBe(states.length);
  });

  it('COL-046 neighbouring names spread over all 53 bits', () => {
    const hashes = Array.from({ length: 20_000 }, (_, i) =>
      hash({ ownerReferences: [{ ...owner, name: `owner-${i}` }] }),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(new Set(hashes.map((value) => value % 2 ** 21)).size).toBeGreaterThan(19_000);
    expect(new Set(hashes.map((value) => Math.floor(value / 2 ** 21))).size).toBeGreaterThan(19_900);
  });
});
