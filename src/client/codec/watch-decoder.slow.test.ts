import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from './decode-error.ts';
import { watchDecoder } from './watch-decoder.ts';
import { envelope, frame, message, partialMetadataEnvelope } from './wire-format.fixture.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch';
const JSON_TYPE = 'application/json';

/** Pushes the stream cut at the given places and returns copies of the events. */
function decode(contentType: string | undefined, stream: Uint8Array, cuts: readonly number[] = []): [string, Buffer][] {
  const out: [string, Buffer][] = [];
  const decoder = watchDecoder(contentType, (type, { bytes, start, end }) =>
    out.push([type, Buffer.from(bytes.slice(start, end))]),
  );
  let from = 0;
  for (const to of [...cuts.toSorted((a, b) => a - b), stream.length]) {
    // Each chunk is wiped after its push: the decoder must have copied the bytes that it still needs.
    const chunk = Uint8Array.from(stream.subarray(from, to));
    decoder.push(chunk);
    chunk.fill(0xff);
    from = to;
  }
  return out;
}

const objects = ['a', 'Größe 😀', 'x'.repeat(3000), 'line\nend'].map((name) => ({
  metadata: { name, resourceVersion: '5' },
}));
const types = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

const jsonEvents = objects.map((object, i): [string, Buffer] => [types[i]!, Buffer.from(JSON.stringify(object))]);
const jsonLine = (type: string, object: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, Buffer.from('}\n')]);
const jsonStream = Buffer.concat(jsonEvents.map(([type, object]) => jsonLine(type, object)));
const protobufEvents = objects.map((object, i): [string, Buffer] => [
  types[i]!,
  Buffer.from(partialMetadataEnvelope(object.metadata)),
]);
const protobufStream = Buffer.concat(protobufEvents.map(([type, object]) => frame(type, object)));

describe.each([
  ['JSON', JSON_TYPE, jsonStream, jsonEvents, jsonLine],
  ['protobuf', PROTOBUF, protobufStream, protobufEvents, frame],
])('watchDecoder of %s', (_, contentType, stream, events, encode) => {
  it('yields the same events wherever the stream is cut, inside a UTF-8 character too', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: stream.length }), { maxLength: 20 }), (cuts) => {
        expect(decode(contentType, stream, cuts)).toEqual(events);
      }),
      { numRuns: 60 },
    );
  });

  it('yields the same events byte by byte', () => {
    expect(decode(contentType, stream, Array.from(stream.keys()))).toEqual(events);
  });

  it('leaves an event as it was delivered until the next push, wherever the stream is cut', () => {
    // Similar objects, so that the start of one fits over the previous one.
    const alike = fc.array(
      fc.record({
        type: fc.constantFrom(...types),
        length: fc.oneof(fc.constant(500), fc.integer({ min: 2, max: 900 })),
      }),
      { maxLength: 40 },
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(alike, sizes, (sent, chunkSizes) => {
        const expected = sent.map(({ type, length }, i) => [type, `{${String(i % 10).repeat(length - 2)}}`] as const);
        const whole = Buffer.concat(expected.map(([type, text]) => encode(type, Buffer.from(text))));
        const out: [string, string][] = [];
        let told: [string, Buffer][] = [];
        const decoder = watchDecoder(contentType, (type, { bytes, start, end }) =>
          told.push([type, Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)]),
        );
        for (let at = 0, i = 0; at < whole.length; i++) {
          const chunk = Uint8Array.from(whole.subarray(at, at + chunkSizes[i % chunkSizes.length]!));
          decoder.push(chunk);
          for (const [type, text] of told) out.push([type, text.toString('latin1')]);
          told = [];
          chunk.fill(0xff);
          at += chunk.length;
        }
        expect(out).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('says nothing of an event that is cut off', () => {
    expect(decode(contentType, stream.subarray(0, stream.length - 1))).toEqual(events.slice(0, -1));
  });
});

describe('JSON events', () => {
  it('may be spelled in other ways', () => {
    const text =
      ' { "object" : {"metadata":{"name":"b"}}, "type" : "ADDED" } \r\n\n{"type":"DELETED","object":{"a":1}} \r\n';
    expect(decode(undefined, Buffer.from(text)).map(([type, object]) => [type, object.toString()])).toEqual([
      ['ADDED', '{"metadata":{"name":"b"}}'],
      ['DELETED', '{"a":1}'],
    ]);
  });

  it.each([
    ['no JSON', '{"type":"ADDED","object":\n'],
    ['no event', '{"kind":"Pod"}\n'],
    ['a list', '[]\n'],
    ['an unknown type', '{"type":"CHANGED","object":{}}\n'],
    ['no object', '{"type":"ADDED","object":null}\n'],
    ['a string as object', '{"type":"ADDED","object":"}"}\n'],
    ['text', 'upstream connect error\n'],
  ])('that are %s are errors, not silence', (_, line) => {
    expect(() => decode(JSON_TYPE, Buffer.from(line))).toThrow(DecodeError);
  });
});

describe('protobuf events', () => {
  const object = envelope('v1', 'Pod', message([1, 'x']));
  const framed = (event: Uint8Array): Uint8Array => Buffer.concat([Buffer.from([0, 0, 0, event.length]), event]);

  it('may have their fields in any order, with unknown ones between', () => {
    const event = message([9, 1], [2, message([3, 'other'], [1, object])], [8, 'x'], [1, 'ADDED']);
    expect(decode(PROTOBUF, framed(event))).toEqual([['ADDED', Buffer.from(object)]]);
  });

  it.each([
    ['of an unknown type', message([1, 'CHANGED'], [2, message([1, object])])],
    ['without a type', message([2, message([1, object])])],
    ['without an object', message([1, 'ADDED'])],
    ['whose object ends beyond them', Buffer.concat([message([1, 'ADDED']), Uint8Array.of(0x12, 0x50, 0x0a, 0x4e)])],
    ['of a wrong wire type', Uint8Array.of(0x0b, 0x00)],
  ])('%s are errors', (_, event) => {
    expect(() => decode(PROTOBUF, framed(event))).toThrow(DecodeError);
  });

  it('are announced before they are delivered, those of one chunk together, and no other', () => {
    const told: string[] = [];
    const name = (i: number): Uint8Array => partialMetadataEnvelope({ name: `n${i}` });
    const stream = Buffer.concat(Array.from({ length: 80 }, (_, i) => frame('ADDED', name(i))));
    const textOf = (bytes: Uint8Array, start: number, end: number): string =>
      /n\d+/.exec(Buffer.from(bytes.subarray(start, end)).toString('latin1'))![0];
    const decoder = watchDecoder(
      PROTOBUF,
      (_type, { bytes, start, end }) => told.push(textOf(bytes, start, end)),
      (bytes, ranges, count) =>
        told.push(Array.from({ length: count }, (_, i) => textOf(bytes, ranges[i * 2]!, ranges[i * 2 + 1]!)).join(' ')),
    );
    const cut = Math.ceil((stream.length / 80) * 40.5);
    decoder.push(stream.subarray(0, cut));
    decoder.push(stream.subarray(cut));
    const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `n${from + i}`);
    const announced = (from: number, to: number): string[] => [names(from, to).join(' '), ...names(from, to)];
    expect(told).toEqual([
      ...announced(0, 32),
      ...announced(32, 40),
      // This event began in the previous chunk.
      'n40',
      ...announced(41, 73),
      ...announced(73, 80),
    ]);
  });

  it('in front of damage are delivered before the damage is reported', () => {
    const told: string[] = [];
    const decoder = watchDecoder(PROTOBUF, (type) => told.push(type));
    const damaged = framed(message([1, 'CHANGED'], [2, message([1, object])]));
    const stream = Buffer.concat([frame('ADDED', object), frame('DELETED', object), damaged, frame('ADDED', object)]);
    expect(() => decoder.push(stream)).toThrow(DecodeError);
    expect(told).toEqual(['ADDED', 'DELETED']);
  });

  it('that were announced and are not delivered after all are withdrawn', () => {
    const announced: number[] = [];
    const decoder = watchDecoder(
      PROTOBUF,
      (type) => {
        if (type === 'DELETED') throw new DecodeError('enough');
      },
      (_bytes, _ranges, count) => announced.push(count),
    );
    const stream = Buffer.concat([frame('ADDED', object), frame('DELETED', object), frame('ADDED', object)]);
    expect(() => decoder.push(stream)).toThrow('enough');
    expect(announced).toEqual([3, 0]);
  });

  it('with an absurd length are errors at once', () => {
    expect(() => decode(PROTOBUF, Buffer.from('<html>'))).toThrow(DecodeError);
  });
});
