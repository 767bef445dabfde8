import { describe, expect, it } from 'vitest';
import { rewriteMessages } from './message-literals.ts';

describe('literals of messages', () => {
  it.each([
    ['Object{}', 'Object.__new__({})', ['Object']],
    ['Object{a: 1}', 'Object.__new__({"a": dyn( 1)})', ['Object']],
    [
      'Object{spec: Object.spec{a: x ? y : z, b: {"k": 1, "l": [2]}}}',
      'Object.__new__({"spec": dyn( Object.spec.__new__({"a": dyn( x ? y : z), "b": dyn( {"k": 1, "l": [2]})}))})',
      ['Object', 'Object.spec'],
    ],
    [
      '[JSONPatch{op: "add", path: "/x/" + jsonpatch.escapeKey(k), value: Object.spec{a: {}}}]',
      '[JSONPatch.__new__({"op": dyn( "add"), "path": dyn( "/x/" + jsonpatch.escapeKey(k)), "value": dyn( Object.spec.__new__({"a": dyn( {})}))})]',
      ['JSONPatch', 'Object.spec'],
    ],
    ['"Object{a: 1}" + \'JSONPatch{\' // Object{a: 1}', '"Object{a: 1}" + \'JSONPatch{\' // Object{a: 1}', []],
    ['k in {"a": 1} && Objects.x == {b: 1}', 'k in {"a": 1} && Objects.x == {b: 1}', []],
    ['Object {\n  a: 1,\n  b: 2\n}', 'Object.__new__( {\n  "a": dyn( 1),\n  "b": dyn( 2\n)})', ['Object']],
  ])('%s', (source, text, types) => {
    const rewritten = rewriteMessages(source);
    expect([rewritten.text, [...rewritten.types]]).toEqual([text, types]);
  });
});
