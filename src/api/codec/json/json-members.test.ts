import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonMembers } from './json-members.ts';

const names = ['uid', 'finalizers', 'generation'] as const;
const reader = new JsonMembers(names);

describe('members of JSON text', () => {
  it('are read as a parser reads them, wherever they stand and whatever else is there', () => {
    const member = fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue());
    let read = 0;
    fc.assert(
      fc.property(fc.array(member), fc.string(), (members, before) => {
        const object = Object.fromEntries(members);
        const text = Buffer.from(before + JSON.stringify(object) + before);
        const some = reader.read(text, Buffer.byteLength(before));
        if (some === undefined) return;
        read++;
        const parsed = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
        const wanted = names.filter((name) => Object.hasOwn(parsed, name)).map((name) => [name, parsed[name]]);
        expect(some).toEqual(Object.fromEntries(wanted));
      }),
      { numRuns: 1_000 },
    );
    expect(read).toBeGreaterThan(500);
  });

  it.each(['[1]', '{"uid":"a"', '{"uid" :"a"}', '{ "uid":"a"}', '{"\\u0075id":"a"}', '{"uid":"a";}', '{"other":}', ''])(
    'are left to a parser in %s',
    (text) => {
      expect(reader.read(Buffer.from(text), 0)).toBeUndefined();
    },
  );
});
