import { describe, expect, it } from 'vitest';

import { copyJson } from '../codec/json/json-value.ts';
import { StatusError } from '../status-error.ts';
import { applyJsonPatch, isFailedTest, MAX_JSON_PATCH_OPERATIONS, unknownJsonPatchFields } from './json-patch.ts';

function failure(document: unknown, patch: unknown): StatusError {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the patch was applied');
}

describe('JSON patch', () => {
  const document = {
    metadata: { labels: { 'a/b': '1', constructor: 'c' }, finalizers: ['x', 'y'] },
    spec: { replicas: 1, empty: null },
  };

  it.each([
    ['add a key', [{ op: 'add', path: '/spec/n', value: 2 }], 'spec.n', 2],
    ['add replaces a key', [{ op: 'add', path: '/spec/replicas', value: 5 }], 'spec.replicas', 5],
    [
      'add inserts',
      [{ op: 'add', path: '/metadata/finalizers/1', value: 'z' }],
      'metadata.finalizers',
      ['x', 'z', 'y'],
    ],
    [
      'add appends',
      [{ op: 'add', path: '/metadata/finalizers/-', value: 'z' }],
      'metadata.finalizers',
      ['x', 'y', 'z'],
    ],
    [
      'add at the length appends',
      [{ op: 'add', path: '/metadata/finalizers/2', value: 'z' }],
      'metadata.finalizers',
      ['x', 'y', 'z'],
    ],
    [
      'an escaped key',
      [{ op: 'replace', path: '/metadata/labels/a~1b', value: '2' }],
      'metadata.labels',
      { 'a/b': '2', constructor: 'c' },
    ],
    [
      'keys with escapes, which are read once',
      [
        { op: 'add', path: '/spec/m', value: { '~1': { '~': { '': 1 } } } },
        { op: 'add', path: '/spec/m/~01/~0/', value: 2 },
        { op: 'add', path: '/spec/m/~01/~1~0', value: 3 },
      ],
      'spec.m',
      { '~1': { '~': { '': 2 }, '/~': 3 } },
    ],
    ['remove from a list', [{ op: 'remove', path: '/metadata/finalizers/0' }], 'metadata.finalizers', ['y']],
    [
      'an own key named constructor',
      [
        { op: 'test', path: '/metadata/labels/constructor', value: 'c' },
        { op: 'remove', path: '/metadata/labels/constructor' },
      ],
      'metadata.labels',
      { 'a/b': '1' },
    ],
    ['remove null', [{ op: 'remove', path: '/spec/empty' }], 'spec', { replicas: 1 }],
    ['move', [{ op: 'move', from: '/spec/replicas', path: '/metadata/labels/r' }], 'metadata.labels.r', 1],
    ['move onto itself', [{ op: 'move', from: '/spec/replicas', path: '/spec/replicas' }], 'spec.replicas', 1],
    [
      'copy',
      [
        { op: 'copy', from: '/metadata/finalizers', path: '/spec/f' },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ],
      'spec.f',
      ['x', 'y'],
    ],
    ['test', [{ op: 'test', path: '/metadata/finalizers', value: ['x', 'y'] }], 'spec.replicas', 1],
    ['test of null where nothing is', [{ op: 'test', path: '/spec/none', value: null }], 'spec.replicas', 1],
    ['replace of a missing key adds it', [{ op: 'replace', path: '/spec/n', value: 3 }], 'spec.n', 3],
    ['copy of a missing key is null', [{ op: 'copy', from: '/spec/none', path: '/spec/n' }], 'spec.n', null],
    [
      'indexes count from the end, too',
      [
        { op: 'replace', path: '/metadata/finalizers/-2', value: 'z' },
        { op: 'add', path: '/metadata/finalizers/-1', value: 'last' },
        { op: 'remove', path: '/metadata/finalizers/+01' },
      ],
      'metadata.finalizers',
      ['z', 'last'],
    ],
    ['replace the document', [{ op: 'replace', path: '', value: { spec: 1 } }], 'spec', 1],
  ])('API-194 %s', (_, patch, path, expected) => {
    const before = copyJson(document);
    const result = applyJsonPatch(document, patch);
    let value: unknown = result;
    for (const key of path.split('.')) value = (value as Record<string, unknown>)[key];
    expect(value).toEqual(expected);
    expect(document).toEqual(before);
  });

  it.each([
    ['a failing test', [{ op: 'test', path: '/spec/replicas', value: 2 }]],
    ['a test of a missing path', [{ op: 'test', path: '/spec/none', value: 2 }]],
    ['a missing parent', [{ op: 'add', path: '/nope/a', value: 1 }]],
    ['a missing key', [{ op: 'remove', path: '/spec/none' }]],
    ['an inherited name', [{ op: 'remove', path: '/spec/toString' }]],
    ['an index past the end', [{ op: 'add', path: '/metadata/finalizers/3', value: 'z' }]],
    ['replace past the end', [{ op: 'replace', path: '/metadata/finalizers/2', value: 'z' }]],
    ['no path', [{ op: 'add', value: 1 }]],
    ['an exponent as index', [{ op: 'remove', path: '/metadata/finalizers/1e0' }]],
    ['a key of a list', [{ op: 'add', path: '/metadata/finalizers/length', value: 0 }]],
    ['a copy past the end', [{ op: 'copy', from: '/spec/replicas', path: '/metadata/finalizers/9' }]],
    ['a key below a scalar', [{ op: 'add', path: '/spec/replicas/a', value: 0 }]],
    ['an unknown operation', [{ op: 'merge', path: '/spec/replicas', value: 0 }]],
    ['a pointer without slash', [{ op: 'add', path: 'spec', value: 0 }]],
    ['a move into itself', [{ op: 'move', from: '/spec', path: '/spec/replicas' }]],
    ['a move without from', [{ op: 'move', path: '/spec/replicas' }]],
    ['below the prototype', [{ op: 'add', path: '/spec/__proto__/a', value: 1 }]],
    ['the root cannot go', [{ op: 'remove', path: '' }]],
  ])('API-194 %s is 422 without details, and nothing is applied', (_, patch) => {
    const error = failure(document, [{ op: 'add', path: '/spec/first', value: 1 }, ...patch]);
    expect(error.code).toBe(422);
    expect(error.reason).toBe('Invalid');
    expect(error.message).toBe('the server rejected our request due to an error in our request');
    expect(error.status.details).toEqual({});
    expect(document.spec).toEqual({ replicas: 1, empty: null });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it.each([
    [
      { op: 'add', path: '/no/a', value: 1 },
      'add operation does not apply: doc is missing path: "/no/a": missing value',
    ],
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
    [
      { op: 'add', path: '/metadata/finalizers/x', value: 1 },
      `error in add for path: '/metadata/finalizers/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'add', path: '/metadata/finalizers/3', value: 1 },
      "error in add for path: '/metadata/finalizers/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [{ op: 'remove', path: '/no/a' }, 'remove operation does not apply: doc is missing path: "/no/a": missing value'],
    [
      { op: 'remove', path: '/spec/none' },
      "error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value",
    ],
    [
      { op: 'remove', path: '/metadata/finalizers/-' },
      `error in remove for path: '/metadata/finalizers/-': strconv.Atoi: parsing "-": invalid syntax`,
    ],
    [
      { op: 'replace', path: '/spec/no/where', value: 1 },
      'replace operation does not apply: doc is missing path: /spec/no/where: missing value',
    ],
    [
      { op: 'replace', path: '/metadata/finalizers/2', value: 1 },
      'replace operation does not apply: doc is missing key: /metadata/finalizers/2: missing value',
    ],
    [{ op: 'replace', path: '', value: 1 }, 'replace operation value must be object or array: %!w(<nil>)'],
    [{ op: 'replace' }, 'replace operation failed to decode path: operation missing path field: missing value'],
    [
      { op: 'move', path: '/spec/n' },
      'move operation failed to decode from: operation, missing from field: missing value',
    ],
    [
      { op: 'move', from: '/spec/none', path: '/spec/n' },
      "error in move for path: 'none': Unable to remove nonexistent key: none: missing value",
    ],
    [
      { op: 'move', from: '/spec/replicas', path: '/no/a' },
      'move operation does not apply: doc is missing destination path: /no/a: missing value',
    ],
    [
      { op: 'copy', from: '/no/a', path: '/spec/n' },
      'copy operation does not apply: doc is missing from path: /no/a: missing value',
    ],
    [
      { op: 'copy', from: '/spec/replicas', path: '/metadata/finalizers/9' },
      'error while adding value during copy: Unable to access invalid index: 9: invalid index referenced',
    ],
    [{ op: 'test', path: '/no/a', value: 1 }, 'test operation does not apply: is missing path: /no/a: missing value'],
    [{ op: 'test', path: '/spec/replicas', value: 2 }, 'testing value /spec/replicas failed: test failed'],
    [{ op: 'merge', path: '/spec' }, 'Unexpected kind: merge'],
    [{ path: '/spec' }, 'Unexpected kind: unknown'],
  ])('API-194 why %j does not apply is kept as the cause, in the words of the library upstream', (operation, why) => {
    const error = failure(document, [operation]);
    expect(error.cause).toBe(why);
    expect(isFailedTest(error)).toBe(why.endsWith(': test failed'));
  });

  it.each([
    ['an object', {}],
    ['a list of scalars', [1]],
    ['a path that is a number', [{ op: 'add', path: 1, value: 1 }]],
    ['an op that is a list', [{ op: [], path: '/a' }]],
  ])('API-194 %s is malformed: 400', (_, patch) => {
    expect(failure(document, patch).code).toBe(400);
  });

  it('API-194 more than 10,000 operations are 413, 10,000 are applied', () => {
    const operation = { op: 'add', path: '/spec/n', value: 1 };
    const operations = Array.from({ length: MAX_JSON_PATCH_OPERATIONS }, () => operation);
    expect(applyJsonPatch({ spec: {} }, operations)).toEqual({ spec: { n: 1 } });
    const error = failure({ spec: {} }, [...operations, operation]);
    expect(error.code).toBe(413);
    expect(error.message).toBe(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });

  it('API-194 the key __proto__ is one like any other', () => {
    const patched = applyJsonPatch({ data: {} }, [
      { op: 'add', path: '/data/__proto__', value: {} },
      { op: 'add', path: '/data/__proto__/a', value: 'x' },
    ]);
    expect(JSON.stringify(patched)).toBe('{"data":{"__proto__":{"a":"x"}}}');
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('API-194 ten thousand moves of a large value copy nothing', () => {
    const large = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v']));
    const places = ['/a', '/b'];
    const patch = Array.from({ length: MAX_JSON_PATCH_OPERATIONS }, (_, i) => ({
      op: 'move',
      from: places[i % 2],
      path: places[(i + 1) % 2],
    }));
    expect(applyJsonPatch({ a: large }, patch)).toEqual({ a: large });
  });

  it('API-194 no patch nests deeper than a request may', () => {
    const nested = JSON.parse(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`) as unknown;
    const deepest = '/a'.repeat(599);
    const growing = [
      [{ op: 'copy', from: '/x', path: `/x${deepest}/b` }],
      [
        { op: 'add', path: '/y', value: nested },
        { op: 'move', from: '/y', path: `/x${deepest}/b` },
      ],
      // Every operation doubles the depth. The check of the depth must not recurse itself.
      Array.from({ length: 8 }, (_, i) => ({
        op: 'copy',
        from: '/x',
        path: `/x${'/a'.repeat(599 * 2 ** i + 2 ** i - 1)}/a`,
      })),
    ];
    for (const patch of growing) {
      const error = failure({}, [{ op: 'add', path: '/x', value: nested }, ...patch]);
      expect([error.code, error.message]).toEqual([400, 'json parse error: exceeded max depth']);
    }
  });

  it('API-194 copying a document into itself over and over stops at a bound', () => {
    const patch = Array.from({ length: 40 }, (_, n) => ({ op: 'copy', from: '/a', path: `/a/k${n}` }));
    expect(failure({ a: { text: 'x'.repeat(100) } }, patch).code).toBe(422);
  });

  it('API-221 kubectl hands managedFields over with a test of the resourceVersion', () => {
    const object = { metadata: { resourceVersion: '5', managedFields: [{ manager: 'a' }] } };
    const patch = [
      { op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'b' }] },
      { op: 'replace', path: '/metadata/resourceVersion', value: '5' },
    ];
    expect(applyJsonPatch(object, patch)).toEqual({
      metadata: { resourceVersion: '5', managedFields: [{ manager: 'b' }] },
    });
  });

  it('API-199 members no operation has are reported with their index', () => {
    expect(
      unknownJsonPatchFields([
        { op: 'add', path: '/a', value: 1 },
        { op: 'remove', path: '/a', vlaue: 1 },
      ]),
    ).toEqual(['[1].vlaue']);
  });
});
