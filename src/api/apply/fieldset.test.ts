import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  decodeFieldsV1,
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  fieldSetOf,
  hasPath,
  inOrder,
  intersection,
  isEmptySet,
  memberCount,
  memberPaths,
  recursiveDifference,
  union,
} from './fieldset.ts';
import { PathElementError } from './path-element.ts';

const ELEMENTS = ['f:a', 'f:b', 'f:__proto__', 'k:{"name":"x"}', 'v:1', 'v:"z"'];
const path = fc.array(fc.constantFrom(...ELEMENTS), { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

const key = (elements: readonly string[]): string => elements.join('/');
const model = (of: readonly (readonly string[])[]): Set<string> => new Set(of.map(key));
/** All paths that a set could have. Two sets are equal if they contain the same paths. */
const universe = (...of: readonly (readonly string[])[][]): string[][] =>
  of.flatMap((some) => some.flatMap((elements) => elements.map((_, i) => elements.slice(0, i + 1))));

function expectMembers(set: FieldSet, expected: ReadonlySet<string>, all: readonly string[][]): void {
  for (const elements of all)
    expect([key(elements), hasPath(set, elements)]).toEqual([key(elements), expected.has(key(elements))]);
  expect([...memberPaths(set)]).toHaveLength(expected.size);
  expect(memberCount(set)).toBe(expected.size);
}

/** Checks the invariant: no branch is empty, and no marker stands alone. */
function expectCanonical(set: FieldSet): void {
  for (const [element, node] of Object.entries(set)) {
    if (element === '.') expect(Object.keys(set).length).toBeGreaterThan(1);
    else expectCanonical(node);
  }
}

describe('field sets', () => {
  it('API-215 union, intersection and difference are those of sets of paths', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [fieldSetOf(...a), fieldSetOf(...b)];
        const [inA, inB] = [model(a), model(b)];
        const all = universe(a, b);
        for (const [result, expected] of [
          [union(left, right), new Set([...inA, ...inB])],
          [intersection(left, right), new Set([...inA].filter((one) => inB.has(one)))],
          [difference(left, right), new Set([...inA].filter((one) => !inB.has(one)))],
        ] as const) {
          expectMembers(result, expected, all);
          expectCanonical(result);
        }
      }),
    );
  });

  it('API-215 recursive difference takes along what is below', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const gone = model(b);
        const left = a.filter((elements) => !elements.some((_, i) => gone.has(key(elements.slice(0, i + 1)))));
        const result = recursiveDifference(fieldSetOf(...a), fieldSetOf(...b));
        expectMembers(result, model(left), universe(a, b));
        expectCanonical(result);
      }),
    );
  });

  it('API-215 laws: commutative, idempotent, empty is neutral, nothing is changed in place', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [fieldSetOf(...a), fieldSetOf(...b)];
        const before = JSON.stringify([left, right]);
        expect(equalSets(union(left, right), union(right, left))).toBe(true);
        expect(equalSets(intersection(left, right), intersection(right, left))).toBe(true);
        expect(equalSets(union(left, left), left)).toBe(true);
        expect(equalSets(union(difference(left, right), intersection(left, right)), left)).toBe(true);
        expect(union(left, EMPTY_SET)).toEqual(left);
        expect(isEmptySet(intersection(left, EMPTY_SET))).toBe(true);
        expect(isEmptySet(difference(left, left))).toBe(true);
        expect(equalSets(left, right)).toBe([...model(a)].sort().join() === [...model(b)].sort().join());
        expect(JSON.stringify([left, right])).toBe(before);
      }),
    );
  });

  it('a set of which nothing goes is itself, so that unchanged entries are known without comparing', () => {
    const set = fieldSetOf(['f:a', 'f:b'], ['f:a']);
    expect(difference(set, fieldSetOf(['f:c'], ['f:a', 'f:c']))).toBe(set);
    expect(union(set, fieldSetOf(['f:a', 'f:b']))).toBe(set);
  });

  it('API-215 what is written is read again, in any order, with or without the marker of a leaf', () => {
    fc.assert(
      fc.property(paths, (a) => {
        const set = fieldSetOf(...a);
        const written = JSON.stringify(inOrder(set));
        const back = decodeFieldsV1(JSON.parse(written));
        expect(equalSets(back, set)).toBe(true);
        expect(JSON.stringify(inOrder(back))).toBe(written);
        const reversed = fieldSetOf(...a.toReversed());
        expect(JSON.stringify(inOrder(reversed))).toBe(written);
      }),
    );
    expect(decodeFieldsV1({ 'f:a': { '.': {} } })).toEqual({ 'f:a': {} });
    expect(decodeFieldsV1(undefined)).toEqual({});
  });

  it('API-215 the order is that of Go: fields, keys, values, numbers by size', () => {
    const set = decodeFieldsV1({
      'f:b': {},
      'v:10': {},
      'v:9': {},
      'k:{"port":8080,"protocol":"TCP"}': {},
      'k:{"protocol":"TCP","port":80}': {},
      'f:a': { 'f:x': {}, '.': {} },
      'v:"<a>"': {},
    });
    expect(JSON.stringify(inOrder(set))).toBe(
      String.raw`{"f:a":{".":{},"f:x":{}},"f:b":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{},"k:{\"port\":8080,\"protocol\":\"TCP\"}":{},"v:9":{},"v:10":{},"v:\"\\u003ca\\u003e\"":{}}`,
    );
  });

  it('API-219 elements of other spellings are the same elements; unknown kinds are dropped, nonsense is refused', () => {
    const spelled = decodeFieldsV1({ 'k:{ "protocol" : "TCP", "port": 8e1 }': {}, 'x:later': {}, 'v:"<"': {} });
    expect(Object.keys(spelled)).toEqual(['k:{"port":80,"protocol":"TCP"}', String.raw`v:"\u003c"`]);
    for (const wrong of [
      { a: {} },
      { fa: {} },
      { 'k:{': {} },
      { 'k:[]': {} },
      { 'v:': {} },
      { 'i:x': {} },
      { 'f:a': 1 },
      7,
    ]) {
      expect(() => decodeFieldsV1(wrong)).toThrow(PathElementError);
    }
  });

  it('API-213 paths read as in messages: members of a level before what is below', () => {
    const set = decodeFieldsV1({
      'f:spec': { 'f:containers': { 'k:{"name":"a","port":1}': { '.': {}, 'f:image': {} } }, 'f:replicas': {} },
      'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} }, 'f:labels': { 'f:app.kubernetes.io/name': {} } },
      'f:list': { 'i:3': {} },
    });
    expect([...memberPaths(set)]).toEqual([
      '.list[3]',
      '.metadata.finalizers[="a/b"]',
      '.metadata.labels.app.kubernetes.io/name',
      '.spec.replicas',
      '.spec.containers[name="a",port=1]',
      '.spec.containers[name="a",port=1].image',
    ]);
  });

  it.each([
    ['the members', (set: FieldSet) => [...memberPaths(set)].length],
    ['the order of Go', (set: FieldSet) => Object.keys(inOrder(set)).length],
  ])('API-215 %s of many keyed elements are found by reading each a few times only', (_, work) => {
    const elements = Array.from({ length: 1000 }, (_, i) => `k:{"name":"n${(i * 719) % 1000}"}`);
    const set = fieldSetOf(...elements.map((element) => [element, 'f:x']));
    const parse = vi.spyOn(JSON, 'parse');
    try {
      expect(work(set)).toBe(1000);
      expect(parse.mock.calls.length).toBeLessThan(5 * 1000);
    } finally {
      parse.mockRestore();
    }
  });
});
