import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeWatchFrame } from './partial-object-metadata.ts';
import { ProtobufError } from '../protobuf/protobuf.ts';
import { MAX_FRAME_BYTES, readWatchFrame, WatchFrameReader } from './watch-frame.ts';

type Event = readonly [type: string, object: string];

const hex = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  Buffer.from(bytes.subarray(start, end)).toString('hex');

const events = fc.array(
  fc.tuple(
    fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'OTHER', ''),
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(40_000).map((size) => new Uint8Array(size).fill(7)),
    ),
  ),
  { maxLength: 12 },
);

function readAll(chunks: readonly Uint8Array[]): Event[] {
  const reader = new WatchFrameReader();
  const found: Event[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    while (reader.next()) found.push([reader.type, hex(reader.bytes, reader.start, reader.end)]);
  }
  reader.finish();
  return found;
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe('watch frames', () => {
  it('API-523 events come out whole however the stream is cut', () => {
    fc.assert(
      fc.property(
        events,
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 }),
        (sent, sizes) => {
          const stream = Buffer.concat(sent.map(([type, object]) => encodeWatchFrame(type, object)));
          const expected = sent.map(([type, object]) => [type, hex(object)]);
          expect(readAll([stream])).toEqual(expected);
          expect(readAll(cut(stream, sizes))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('API-523 byte by byte', () => {
    const stream = Buffer.concat([
      encodeWatchFrame('ADDED', Uint8Array.of(1, 2)),
      encodeWatchFrame('ERROR', Uint8Array.of()),
    ]);
    expect(readAll(cut(stream, [1]))).toEqual([
      ['ADDED', '0102'],
      ['ERROR', ''],
    ]);
  });

  it('an event stays as it was delivered until the next push, however the stream is cut', () => {
    // Most objects are similar, so that one fits into the space of another; some are larger than the buffer.
    const length = fc.oneof({ weight: 4, arbitrary: fc.nat(3000) }, { weight: 1, arbitrary: fc.nat(40_000) });
    fc.assert(
      fc.property(
        fc.array(length, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 6000 }), { minLength: 1, maxLength: 8 }),
        (lengths, sizes) => {
          const objects = lengths.map((size, i) => new Uint8Array(size).fill(i + 1));
          const reader = new WatchFrameReader();
          const told: string[] = [];
          for (const chunk of cut(Buffer.concat(objects.map((o) => encodeWatchFrame('MODIFIED', o))), sizes)) {
            const ranges: (() => string)[] = [];
            reader.push(chunk);
            while (reader.next()) {
              const { bytes, start, end } = reader;
              ranges.push(() => hex(bytes, start, end));
            }
            // A second call also returns false.
            expect(reader.next()).toBe(false);
            for (const range of ranges) told.push(range());
          }
          expect(told).toEqual(objects.map((o) => hex(o)));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('frames that span chunks lie in one buffer of 16 KiB, and a larger one for a frame above 1 MiB is released', () => {
    const small = Array.from({ length: 20 }, () => 6000);
    const frames = [...small, 3_000_000, ...small].map((size) => encodeWatchFrame('ADDED', new Uint8Array(size)));
    const reader = new WatchFrameReader();
    const buffers: Uint8Array[] = [];
    for (const chunk of cut(Buffer.concat(frames), [5000])) {
      reader.push(chunk);
      while (reader.next()) if (reader.bytes !== chunk && reader.bytes !== buffers.at(-1)) buffers.push(reader.bytes);
    }
    expect(buffers.map(({ length }) => (length > 3_000_000 ? 'large' : length))).toEqual([16_384, 'large', 16_384]);
  });

  it('a frame inside a chunk is not copied', () => {
    const frame = encodeWatchFrame('ADDED', Uint8Array.of(1, 2, 3));
    const reader = new WatchFrameReader();
    reader.push(frame);
    expect(reader.next()).toBe(true);
    expect(reader.bytes).toBe(frame);
    expect(reader.next()).toBe(false);
  });

  it('a big frame over many chunks, then a small one', () => {
    const big = new Uint8Array(3_000_000).fill(9);
    const stream = Buffer.concat([encodeWatchFrame('MODIFIED', big), encodeWatchFrame('ADDED', Uint8Array.of(1))]);
    const found = readAll(cut(stream, [65_536]));
    expect(found.map(([type, object]) => [type, object.length / 2])).toEqual([
      ['MODIFIED', 3_000_000],
      ['ADDED', 1],
    ]);
  });

  it('a frame beyond 16 MiB is refused before its bytes come', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(MAX_FRAME_BYTES + 1);
    const text = 'watch frame of 16777217 bytes is longer than 16777216';
    expect(() => readAll([header])).toThrow(text);
    expect(() => readAll([header.subarray(0, 3), header.subarray(3)])).toThrow(text);
    expect(() => readWatchFrame(Buffer.from('ffffffff', 'hex'), 0)).toThrow(ProtobufError);
  });

  it('a stream that ends inside a frame says so', () => {
    const frame = encodeWatchFrame('ADDED', Uint8Array.of(1, 2, 3));
    for (let length = 1; length < frame.length; length++) {
      expect(() => readAll([frame.subarray(0, length)])).toThrow('the watch ended inside a frame');
    }
  });

  it('a chunk may not be pushed before the last one is read', () => {
    const reader = new WatchFrameReader();
    reader.push(encodeWatchFrame('ADDED', Uint8Array.of(1)));
    expect(() => reader.push(Uint8Array.of(0))).toThrow('has not been read');
  });

  it('API-523 fields in another order, twice or unknown are read as protobuf says', () => {
    const body = Buffer.from('12040a0201021a01780a0541444445441200', 'hex');
    const frame = Buffer.concat([Buffer.from([0, 0, 0, body.length]), body]);
    expect(readAll([frame])).toEqual([['ADDED', '0102']]);
  });

  it('readWatchFrame reads one frame of many', () => {
    const stream = Buffer.concat([
      encodeWatchFrame('ADDED', Uint8Array.of(1)),
      encodeWatchFrame('DELETED', Uint8Array.of(2, 3)),
    ]);
    const first = readWatchFrame(stream, 0)!;
    expect([first.type, hex(stream, first.start, first.end)]).toEqual(['ADDED', '01']);
    const second = readWatchFrame(stream, first.next)!;
    expect([second.type, hex(stream, second.start, second.end), second.next]).toEqual([
      'DELETED',
      '0203',
      stream.length,
    ]);
    expect(readWatchFrame(stream, second.next)).toBeUndefined();
    expect(readWatchFrame(stream.subarray(0, stream.length - 1), first.next)).toBeUndefined();
  });

  it('garbage is an error or an event, never a hang', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (body) => {
        const frame = Buffer.concat([Buffer.from([0, 0, 0, body.length]), body]);
        try {
          readAll([frame]);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
