import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typedObjectArbitrary } from '../../../../test/arbitraries/typed-object.ts';
import {
  type FieldInfo,
  fieldsOf,
  isScalarType,
  JSON_SCHEMA_PROPS,
  kindNames,
  META_V1,
  typeNameOf,
  typeNames,
} from '../../kinds/type-table.ts';
import {
  decodeProtobuf,
  decodeTypedMessage,
  encodeProtobuf,
  encodeTypedMessage,
  isProtobufEnvelope,
  ProtobufError,
} from './protobuf.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** Bytes in groups for the reader. */
const packed = (text: string): string => text.replaceAll(' ', '');
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(packed(text), 'hex'));

type Json = Record<string, unknown>;

/** Removes differences that a reader must not see: nulls, and zero values of fields that are no pointers. */
function withoutZeros(typeName: string, object: Json): Json {
  const kept: [string, unknown][] = [];
  for (const field of fieldsOf(typeName)) {
    if (!Object.hasOwn(object, field.name)) continue;
    const value = fieldWithoutZeros(field, object[field.name]);
    if (value !== undefined) kept.push([field.name, value]);
  }
  return Object.fromEntries(kept);
}

function fieldWithoutZeros(field: FieldInfo, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (field.map) {
    const entries = Object.entries(value as Json).map(
      ([key, item]) => [key, field.list ? (item as unknown[]) : valueWithoutZeros(field.type, item)] as const,
    );
    return entries.length === 0 ? undefined : new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  if (field.list) return orUndefined((value as unknown[]).map((item) => valueWithoutZeros(field.type, item)));
  const kept = valueWithoutZeros(field.type, value);
  if (field.pointer) return kept;
  if (typeof kept === 'object' && kept !== null && Object.keys(kept).length === 0 && !Array.isArray(kept))
    return undefined;
  if (field.type === 'Quantity' && kept === '0') return undefined;
  if (field.type === 'IntOrString') return kept === 0 ? undefined : kept;
  // Empty bytes differ from absent bytes, but JSON with omitempty cannot show the difference.
  return isScalarType(field.type) && (kept === '' || kept === 0 || kept === false) ? undefined : kept;
}

const orUndefined = (list: unknown[]): unknown => (list.length === 0 ? undefined : list);
const orNull = (list: unknown[]): unknown => (list.length === 0 ? null : list);

function valueWithoutZeros(type: string, value: unknown): unknown {
  if (type.startsWith('JSONSchemaPropsOr')) {
    if (Array.isArray(value)) return orNull(value.map((item) => valueWithoutZeros(JSON_SCHEMA_PROPS, item)));
    return typeof value === 'object' && value !== null ? withoutZeros(JSON_SCHEMA_PROPS, value as Json) : value;
  }
  return type.includes('/') && typeof value === 'object' ? withoutZeros(type, (value ?? {}) as Json) : value;
}

describe('protobuf of every type', () => {
  const messages = typeNames().filter((name) => !/\.Table/.test(name));

  it('API-521 what goes out comes back, for every struct of the table', () => {
    for (const typeName of messages) {
      fc.assert(
        fc.property(typedObjectArbitrary(typeName), (object) => {
          const bytes = encodeTypedMessage(typeName, object);
          const back = decodeTypedMessage(typeName, bytes);
          expect(withoutZeros(typeName, back)).toEqual(withoutZeros(typeName, object));
          // Encoding the decoded object again gives the same bytes.
          expect(hex(encodeTypedMessage(typeName, back))).toBe(hex(bytes));
        }),
        { numRuns: 8 },
      );
    }
  });

  it('API-520 every kind with its envelope', () => {
    for (const [apiVersion, kind] of kindNames()) {
      if (kind === 'Table') continue;
      const bytes = encodeProtobuf({ apiVersion, kind });
      expect(isProtobufEnvelope(bytes)).toBe(true);
      const object = decodeProtobuf(bytes);
      expect(Object.keys(object).slice(0, 2)).toEqual(['kind', 'apiVersion']);
      expect(object).toMatchObject({ apiVersion, kind });
    }
  });

  it('garbage is an error or an object, never a crash or a hang', () => {
    const types = ['api/core/v1.Pod', `${META_V1}.PartialObjectMetadata`, JSON_SCHEMA_PROPS, 'api/core/v1.Secret'];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.uint8Array({ maxLength: 200 }), (typeName, bytes) => {
        survives(() => decodeTypedMessage(typeName, bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('a damaged message is an error or an object, never a crash or a hang', () => {
    const typeName = 'api/core/v1.PodSpec';
    fc.assert(
      fc.property(typedObjectArbitrary(typeName), fc.nat(), fc.nat(255), fc.nat(), (object, at, byte, cut) => {
        const bytes = encodeTypedMessage(typeName, object);
        if (bytes.length === 0) return;
        bytes[at % bytes.length] = byte;
        survives(() => decodeTypedMessage(typeName, bytes));
        survives(() => decodeTypedMessage(typeName, bytes.subarray(0, cut % bytes.length)));
      }),
      { numRuns: 300 },
    );
  });
});

function survives(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(ProtobufError);
  }
}

describe('protobuf as Go writes it', () => {
  it('API-520 envelope: magic, type, message, two empty content fields', () => {
    expect(hex(encodeProtobuf({ apiVersion: 'v1', kind: 'DeleteOptions' }))).toBe(
      hex(unhex('6b387300 0a13 0a027631 120d44656c6574654f7074696f6e73 1200 1a00 2200')),
    );
  });

  it('API-521 values are written even when zero, pointers only when set', () => {
    const type = 'api/apps/v1.ReplicaSetStatus';
    expect(hex(encodeTypedMessage(type, {}))).toBe('08001000180020002800');
    expect(hex(encodeTypedMessage('api/apps/v1.StatefulSetOrdinals', {}))).toBe('0800');
    expect(hex(encodeTypedMessage(`${META_V1}.DeleteOptions`, {}))).toBe('');
    expect(hex(encodeTypedMessage(`${META_V1}.DeleteOptions`, { gracePeriodSeconds: 0, orphanDependents: null }))).toBe(
      '0800',
    );
  });

  it('API-521 readers distinguish an unset pointer from zero, and take unset and zero values alike', () => {
    const options = `${META_V1}.DeleteOptions`;
    expect(decodeTypedMessage(options, unhex(''))).toEqual({});
    expect(decodeTypedMessage(options, unhex('0800'))).toEqual({ gracePeriodSeconds: 0 });
    const status = 'api/apps/v1.ReplicaSetStatus';
    expect(decodeTypedMessage(status, unhex(''))).toEqual({ replicas: 0 });
    expect(decodeTypedMessage(status, unhex('08001000'))).toEqual({ replicas: 0 });
  });

  it('API-521 JSON has the fields without omitempty, structs always, and lists as null', () => {
    expect(decodeProtobuf(encodeProtobuf({ apiVersion: 'v1', kind: 'Pod' }))).toEqual({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {},
      spec: { containers: null },
      status: {},
    });
    expect(decodeTypedMessage('api/core/v1.Event', unhex(''))).toEqual({
      metadata: {},
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    });
  });

  it.each([
    [9007199254740993n, '8180808080808010'],
    [9223372036854775807n, 'ffffffffffffffff7f'],
    [-9223372036854775808n, '80808080808080808001'],
  ])('API-522 an int64 field holds %s exactly', (integer, digits) => {
    const bytes = encodeTypedMessage('api/batch/v1.CronJob', { spec: { startingDeadlineSeconds: integer } });
    expect(hex(bytes)).toContain(`10${digits}`);
    const { spec } = decodeTypedMessage('api/batch/v1.CronJob', bytes) as { spec: Json };
    expect(spec['startingDeadlineSeconds']).toBe(integer);
  });

  it('API-522 negative integers take ten bytes', () => {
    expect(hex(encodeTypedMessage(`${META_V1}.DeleteOptions`, { gracePeriodSeconds: -1 }))).toBe(
      '08ffffffffffffffffff01',
    );
    expect(decodeTypedMessage(`${META_V1}.DeleteOptions`, unhex('08ffffffffffffffffff01'))).toEqual({
      gracePeriodSeconds: -1,
    });
  });

  it.each([
    ['Time', `${META_V1}.Condition`, 'lastTransitionTime', '2026-11-21T12:00:00Z', '08c08f86d8061000', undefined],
    [
      'Time with offset and fraction',
      `${META_V1}.Condition`,
      'lastTransitionTime',
      '2026-11-21T13:00:00.9+01:00',
      '08c08f86d8061000',
      '2026-11-21T12:00:00Z',
    ],
    ['MicroTime', 'api/coordination/v1.LeaseSpec', 'renewTime', '1970-01-01T00:00:01.000002Z', '080110d00f', undefined],
    ['Quantity', 'api/core/v1.ResourceFieldSelector', 'divisor', '1Gi', '0a03314769', undefined],
    ['IntOrString number', 'api/core/v1.ServicePort', 'targetPort', 80, '080010501a00', undefined],
    ['IntOrString text', 'api/core/v1.ServicePort', 'targetPort', 'web', '080110001a03776562', undefined],
    ['FieldsV1', `${META_V1}.ManagedFieldsEntry`, 'fieldsV1', { 'f:a': {} }, '0a0a7b22663a61223a7b7d7d', undefined],
    ['RawExtension', 'api/apps/v1.ControllerRevision', 'data', { a: 1 }, '0a077b2261223a317d', undefined],
    ['JSON', JSON_SCHEMA_PROPS, 'default', 'x', '0a03227822', undefined],
    ['schema or bool', JSON_SCHEMA_PROPS, 'additionalProperties', false, '0800', undefined],
    ['schema or list of strings', JSON_SCHEMA_PROPS, 'dependencies', { a: ['b'] }, '0a01611203120162', undefined],
  ])('API-522 %s', (_name, typeName, field, value, bytes, back) => {
    const message = encodeTypedMessage(typeName, { [field]: value });
    expect(hex(message)).toContain(bytes);
    expect(decodeTypedMessage(typeName, message)[field]).toEqual(back ?? value);
  });

  it('API-522 the empty message is no time; the first second of 1970 is one', () => {
    const type = `${META_V1}.ObjectMeta`;
    expect(decodeTypedMessage(type, unhex('4200'))).toEqual({});
    expect(decodeTypedMessage(type, unhex('42040800 1000'))).toEqual({ creationTimestamp: '1970-01-01T00:00:00Z' });
    expect(decodeTypedMessage(type, unhex('4a00'))).toEqual({ deletionTimestamp: null });
    expect(hex(encodeTypedMessage(`${META_V1}.Condition`, { lastTransitionTime: null }))).toContain('2200');
  });

  it('API-522 maps are sorted by key; bytes are base64 in JSON', () => {
    const type = 'api/core/v1.Secret';
    const bytes = encodeTypedMessage(type, { data: { b: 'AQI=', a: '' } });
    expect(hex(bytes)).toContain(packed('1205 0a0161 1200 1207 0a0162 12020102'));
    expect(decodeTypedMessage(type, bytes)['data']).toEqual({ a: '', b: 'AQI=' });
  });

  it('API-522 a list type with a name is a message of items', () => {
    const extra = { extra: { scopes: ['a', 'b'] } };
    const bytes = encodeTypedMessage('api/authentication/v1.UserInfo', extra);
    expect(hex(bytes)).toContain(packed('2210 0a0673636f706573 1206 0a0161 0a0162'));
    expect(decodeTypedMessage('api/authentication/v1.UserInfo', bytes)).toEqual(extra);
  });

  it('API-522 an embedded struct is a message, its fields stand in the outer object', () => {
    const volume = { name: 'v', emptyDir: {} };
    const bytes = encodeTypedMessage('api/core/v1.Volume', volume);
    expect(hex(bytes)).toBe(packed('0a0176 1204 1202 0a00'));
    expect(decodeTypedMessage('api/core/v1.Volume', bytes)).toEqual(volume);
  });

  it('an enveloped object inside a RawExtension is decoded', () => {
    const inner = encodeProtobuf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    const list = encodeTypedMessage('api/core/v1.List', {});
    const item = Buffer.concat([Buffer.from([0x0a, inner.length]), inner]);
    const bytes = Buffer.concat([list, Buffer.from([0x12, item.length]), item]);
    expect(decodeTypedMessage('api/core/v1.List', bytes)['items']).toMatchObject([
      { kind: 'Namespace', metadata: { name: 'n' } },
    ]);
  });
});

describe('protobuf that is not as Go writes it', () => {
  const pod = 'api/core/v1.Pod';

  it('unknown fields of every wire type, and groups, are passed over', () => {
    const unknown = packed('a006 01 a106 0000000000000000 a206 0161 a506 00000000 a306 0801 a406');
    expect(decodeTypedMessage(pod, unhex(`${unknown} 0a03 0a0161`))).toMatchObject({ metadata: { name: 'a' } });
  });

  it('parts of one message are merged, the last scalar stands, lists grow', () => {
    const parts = packed('0a03 0a0161 0a06 1a016e 720166 0a06 0a0162 720167');
    expect(decodeTypedMessage(pod, unhex(parts))['metadata']).toEqual({
      name: 'b',
      namespace: 'n',
      finalizers: ['f', 'g'],
    });
  });

  it('packed and unpacked numbers of a list are both read', () => {
    const type = 'api/core/v1.ContainerRestartRuleOnExitCodes';
    expect(decodeTypedMessage(type, unhex('1003 12020405'))['values']).toEqual([3, 4, 5]);
  });

  it.each([
    ['a length beyond the message', '0a05 0a0161', 'unexpected EOF'],
    ['a cut varint', '0a', 'unexpected EOF'],
    ['a varint of more than ten bytes', `a006${'ff'.repeat(11)}01`, 'integer overflow'],
    ['tag zero', '00', 'illegal tag 0'],
    ['a wrong wire type', '0801', 'wrong wireType = 0 for field metadata'],
    ['an end of no group', 'a406', 'wiretype end group for non-group'],
    ['wire type 7', 'a706', 'illegal wireType 7'],
  ])('%s is an error', (_name, bytes, message) => {
    expect(() => decodeTypedMessage(pod, unhex(bytes))).toThrow(new ProtobufError(message));
  });

  it('nesting is bounded, when reading and when writing', () => {
    let bytes: Uint8Array = new Uint8Array(0);
    let schema: Json = {};
    const type = JSON_SCHEMA_PROPS;
    for (let i = 0; i < 150; i++) {
      schema = { not: schema };
      const length = bytes.length;
      const head = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
      bytes = Buffer.concat([Uint8Array.from([0xe2, 0x01, ...head]), bytes]);
    }
    expect(fieldsOf(type).find((field) => field.name === 'not')?.number).toBe(28);
    expect(() => decodeTypedMessage(type, bytes)).toThrow('messages nest too deep');
    expect(() => encodeTypedMessage(type, schema)).toThrow('the object nests too deep');
    // The writer is empty again after an error.
    expect(hex(encodeTypedMessage(`${META_V1}.DeleteOptions`, {}))).toBe('');
  });

  it.each([
    ['nothing', '', 'empty data'],
    ['only the magic', '6b387300', 'empty body'],
    ['JSON', '7b7d', 'provided data does not appear to be a protobuf message'],
    ['no kind', '6b387300 1200', "Object 'Kind' is missing"],
    ['an unknown kind', '6b387300 0a07 0a027631 120158', 'no kind "X" is registered for version "v1"'],
  ])('API-520 %s is no object', (_name, bytes, message) => {
    expect(() => decodeProtobuf(unhex(bytes))).toThrow(message);
  });

  it('the caller may know the kind better than the envelope', () => {
    expect(decodeProtobuf(unhex('6b387300 1200'), { apiVersion: 'v1', kind: 'DeleteOptions' })).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
    });
  });

  it.each([
    ['int', { spec: { priority: '1' } }, 'v1.PodSpec.priority: expected an integer, found string'],
    ['int range', { spec: { priority: 2 ** 31 } }, 'v1.PodSpec.priority: expected an int32, found number'],
    ['string', { metadata: { name: 1 } }, 'v1.ObjectMeta.name: expected a string, found number'],
    ['list', { spec: { containers: {} } }, 'v1.PodSpec.containers: expected a list, found object'],
    ['object', { spec: [] }, 'v1.Pod.spec: expected an object, found a list'],
    ['time', { metadata: { creationTimestamp: 'now' } }, '"now" is no RFC 3339 time'],
  ])('an object with a wrong %s is an error', (_name, object, message) => {
    expect(() => encodeTypedMessage(pod, object)).toThrow(message);
  });

  it('a table has no protobuf form', () => {
    expect(() => encodeProtobuf({ apiVersion: 'meta.k8s.io/v1', kind: 'Table' })).toThrow('can not be encoded');
    expect(typeNameOf('meta.k8s.io/v1', 'Table')).toBeDefined();
  });
});
