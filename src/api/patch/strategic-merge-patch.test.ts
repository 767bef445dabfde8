import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { copyJson, isJsonObject } from '../codec/json/json-value.ts';
import { StatusError } from '../status-error.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const POD = 'api/core/v1.Pod';
const DEPLOYMENT = 'api/apps/v1.Deployment';

type Json = Record<string, unknown>;

function patchPod(document: unknown, patch: unknown): unknown {
  return applyStrategicMergePatch(document, patch, POD);
}

function failure(document: unknown, patch: unknown, typeName = POD): StatusError {
  try {
    applyStrategicMergePatch(document, patch, typeName);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the patch was applied');
}

const meta = (metadata: Json): Json => ({ metadata });
const spec = (fields: Json): Json => ({ spec: fields });
const containers = (...list: Json[]): Json => spec({ containers: list });
const A = { name: 'a', image: 'a:1' };
const B = { name: 'b', image: 'b:1' };
const C = { name: 'c', image: 'c:1' };
const D = { name: 'd', image: 'd:1' };

type Row = readonly [name: string, document: Json, patch: Json, expected: Json];

const MAPS: Row[] = [
  ['a key is added', meta({ labels: { a: '1' } }), meta({ labels: { b: '2' } }), meta({ labels: { a: '1', b: '2' } })],
  ['a key is replaced', meta({ labels: { a: '1' } }), meta({ labels: { a: '2' } }), meta({ labels: { a: '2' } })],
  ['null deletes', meta({ labels: { a: '1', b: '2' } }), meta({ labels: { a: null } }), meta({ labels: { b: '2' } })],
  ['null for what is not there', meta({}), meta({ labels: { a: null, b: '1' } }), meta({ labels: { b: '1' } })],
  ['null deletes a list', meta({ finalizers: ['x'] }), meta({ finalizers: null }), meta({})],
  ['a map replaces a scalar', spec({ x: 1 }), spec({ x: { a: 1, b: null } }), spec({ x: { a: 1 } })],
  [
    '$patch: delete empties',
    meta({ labels: { a: '1' } }),
    meta({ labels: { $patch: 'delete' } }),
    meta({ labels: {} }),
  ],
  [
    '$patch: replace',
    meta({ labels: { a: '1' } }),
    meta({ labels: { $patch: 'replace', b: '2' } }),
    meta({ labels: { b: '2' } }),
  ],
  [
    '$patch: merge is the default',
    meta({ labels: { a: '1' } }),
    meta({ labels: { $patch: 'merge', b: '2' } }),
    meta({ labels: { a: '1', b: '2' } }),
  ],
  ['$patch: delete of a missing map', meta({}), meta({ labels: { $patch: 'delete' } }), meta({})],
  [
    '$patch: replace on top',
    { spec: { a: 1 }, kind: 'Pod' },
    { $patch: 'replace', kind: 'Pod', spec: { b: null, c: 1 } },
    { kind: 'Pod', spec: { c: 1 } },
  ],
  ['$patch: delete on top', { spec: { a: 1 } }, { $patch: 'delete' }, {}],
  [
    'a directive inside what is added',
    {},
    spec({ affinity: { podAffinity: { $patch: 'delete' }, nodeAffinity: {} } }),
    spec({ affinity: { nodeAffinity: {} } }),
  ],
];

const LISTS: Row[] = [
  [
    'an unmarked list is replaced',
    spec({ tolerations: [{ key: 'a' }] }),
    spec({ tolerations: [{ key: 'b' }] }),
    spec({ tolerations: [{ key: 'b' }] }),
  ],
  [
    'an element merges by key',
    containers(A, B),
    containers({ name: 'b', image: 'b:2' }),
    containers(A, { name: 'b', image: 'b:2' }),
  ],
  ['a new element comes first', containers(A), containers(B), containers(B, A)],
  ['a list is added', spec({}), containers(A, B), containers(A, B)],
  ['an element loses a field', containers({ ...A, tty: true }), containers({ name: 'a', tty: null }), containers(A)],
  ['an element is deleted', containers(A, B, C), containers({ $patch: 'delete', name: 'b' }), containers(A, C)],
  ['deleted and added', containers(A, B), containers({ $patch: 'delete', name: 'a' }, C), containers(C, B)],
  ['a missing element is deleted', containers(A), containers({ $patch: 'delete', name: 'z' }), containers(A)],
  ['duplicates are all deleted', containers(A, B, A), containers({ $patch: 'delete', name: 'a' }), containers(B)],
  ['the list is replaced', containers(A, B), containers({ $patch: 'replace' }, C), containers(C)],
  ['the list is emptied', containers(A, B), containers({ $patch: 'replace' }), containers()],
  [
    'an explicit merge',
    containers(A, B),
    containers({ $patch: 'merge', name: 'b', tty: true }),
    containers(A, { ...B, tty: true }),
  ],
  ['merging nothing', containers(A), containers(), containers(A)],
  [
    'a list in an element',
    containers({ ...A, env: [{ name: 'x', value: '1' }] }),
    containers({ name: 'a', env: [{ name: 'y', value: '2' }] }),
    containers({
      ...A,
      env: [
        { name: 'y', value: '2' },
        { name: 'x', value: '1' },
      ],
    }),
  ],
  [
    'an atomic list in an element',
    containers({ ...A, args: ['1', '2'] }),
    containers({ name: 'a', args: ['3'] }),
    containers({ ...A, args: ['3'] }),
  ],
  [
    'ports merge by a number',
    containers({ ...A, ports: [{ containerPort: 80, protocol: 'TCP' }] }),
    containers({ name: 'a', ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }] }),
    containers({ ...A, ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }, { containerPort: 81 }] }),
  ],
  [
    'the order of the patch for what it names',
    containers(A, B, C, D),
    containers({ name: 'd', tty: true }, { name: 'b', tty: true }),
    containers(A, C, { ...D, tty: true }, { ...B, tty: true }),
  ],
];

const SETS: Row[] = [
  [
    'finalizers are united',
    meta({ finalizers: ['a', 'b'] }),
    meta({ finalizers: ['b', 'c'] }),
    meta({ finalizers: ['a', 'b', 'c'] }),
  ],
  [
    'a new finalizer comes first',
    meta({ finalizers: ['a'] }),
    meta({ finalizers: ['b'] }),
    meta({ finalizers: ['b', 'a'] }),
  ],
  [
    'LIFE-503 a list of scalars is deleted from',
    meta({ finalizers: ['a', 'b', 'c'] }),
    meta({ '$deleteFromPrimitiveList/finalizers': ['b', 'z'] }),
    meta({ finalizers: ['a', 'c'] }),
  ],
  [
    'deleted from and added to',
    meta({ finalizers: ['a', 'b'] }),
    meta({ '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] }),
    meta({ finalizers: ['c', 'b'] }),
  ],
  ['deleted from a missing list', meta({}), meta({ '$deleteFromPrimitiveList/finalizers': ['a'] }), meta({})],
  [
    'deleted from a list that does not merge',
    containers({ ...A, args: ['1', '2', '1'] }),
    containers({ name: 'a', '$deleteFromPrimitiveList/args': ['1'] }),
    containers({ ...A, args: ['2'] }),
  ],
  [
    'ordered',
    meta({ finalizers: ['a', 'b', 'c'] }),
    meta({ '$setElementOrder/finalizers': ['c', 'a'] }),
    meta({ finalizers: ['b', 'c', 'a'] }),
  ],
  [
    'added, ordered and deleted',
    meta({ finalizers: ['a', 'b'] }),
    meta({
      '$deleteFromPrimitiveList/finalizers': ['b'],
      '$setElementOrder/finalizers': ['c', 'a'],
      finalizers: ['c'],
    }),
    meta({ finalizers: ['c', 'a'] }),
  ],
];

const ORDERED: Row[] = [
  [
    'only reordered',
    containers(A, B),
    spec({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }),
    containers(B, A),
  ],
  [
    'added in front',
    containers(A),
    spec({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }], containers: [B] }),
    containers(B, A),
  ],
  [
    'deleted while ordering',
    containers(A, B, C),
    spec({
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
      containers: [{ $patch: 'delete', name: 'b' }],
    }),
    containers(C, A),
  ],
  [
    'items of the server keep their place',
    containers(A, B, C, D),
    spec({ '$setElementOrder/containers': [{ name: 'd' }, { name: 'a' }] }),
    containers(B, C, D, A),
  ],
  [
    'an item of the server that stood before',
    containers(A, B, C),
    spec({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }] }),
    containers(A, B, C),
  ],
  ['an order for a missing list', spec({}), spec({ '$setElementOrder/containers': [{ name: 'a' }] }), spec({})],
  [
    'a list added with an order',
    spec({}),
    spec({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }], containers: [B, A] }),
    containers(B, A),
  ],
  [
    'an order names what is not there',
    containers(A),
    spec({ '$setElementOrder/containers': [{ name: 'z' }, { name: 'a' }] }),
    containers(A),
  ],
];

const strategy = (fields: Json): Json => spec({ strategy: fields });
const RETAINED: Row[] = [
  [
    'a field left out goes',
    strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }),
    strategy({ $retainKeys: ['type'], type: 'Recreate' }),
    strategy({ type: 'Recreate' }),
  ],
  [
    'without the directive it stays',
    strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }),
    strategy({ type: 'Recreate' }),
    strategy({ type: 'Recreate', rollingUpdate: { maxSurge: 1 } }),
  ],
  [
    'a retained field stays',
    strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }),
    strategy({ $retainKeys: ['type', 'rollingUpdate'], rollingUpdate: { maxSurge: 2 } }),
    strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } }),
  ],
  [
    'a null needs no mention',
    strategy({ type: 'A', rollingUpdate: {} }),
    strategy({ $retainKeys: ['type'], rollingUpdate: null }),
    strategy({ type: 'A' }),
  ],
  [
    'on a field that is not there',
    spec({}),
    strategy({ $retainKeys: ['type'], type: 'Recreate' }),
    strategy({ type: 'Recreate' }),
  ],
];

describe('strategic merge patch', () => {
  it.each(MAPS)('API-195 maps: %s', (_, document, patch, expected) => {
    expect(patchPod(document, patch)).toEqual(expected);
  });
  it.each(LISTS)('API-195 lists with a merge key: %s', (_, document, patch, expected) => {
    expect(patchPod(document, patch)).toEqual(expected);
  });
  it.each(SETS)('API-195 lists of scalars: %s', (_, document, patch, expected) => {
    expect(patchPod(document, patch)).toEqual(expected);
  });
  it.each(ORDERED)('API-195 $setElementOrder: %s', (_, document, patch, expected) => {
    expect(patchPod(document, patch)).toEqual(expected);
  });
  it.each(RETAINED)('API-195 $retainKeys: %s', (_, document, patch, expected) => {
    expect(applyStrategicMergePatch(document, patch, DEPLOYMENT)).toEqual(expected);
  });

  it('API-195 volumes merge by name and retain the keys the patch lists', () => {
    const volume = (source: Json): Json => spec({ volumes: [{ name: 'v', ...source }] });
    expect(
      patchPod(volume({ emptyDir: {} }), volume({ $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } })),
    ).toEqual(volume({ hostPath: { path: '/x' } }));
  });

  it('API-195 the selector of a disruption budget is replaced as a whole', () => {
    const selector = (matchLabels: Json): Json => spec({ selector: { matchLabels } });
    expect(
      applyStrategicMergePatch(selector({ a: '1' }), selector({ b: '2' }), 'api/policy/v1.PodDisruptionBudget'),
    ).toEqual(selector({ b: '2' }));
  });

  it('API-195 CSR conditions and quota claims have no merge key: the list is replaced', () => {
    const status = (...conditions: Json[]): Json => ({ status: { conditions } });
    expect(
      applyStrategicMergePatch(
        status({ type: 'Approved' }),
        status({ type: 'Denied' }),
        'api/certificates/v1.CertificateSigningRequest',
      ),
    ).toEqual(status({ type: 'Denied' }));
  });

  it('API-195 a history that holds patches is left alone', () => {
    const revision = { data: { spec: { template: { $patch: 'replace', spec: {} } } }, metadata: { finalizers: ['x'] } };
    expect(applyStrategicMergePatch(revision, meta({ finalizers: ['y'] }), 'api/apps/v1.ControllerRevision')).toEqual({
      ...revision,
      metadata: { finalizers: ['y', 'x'] },
    });
  });

  it('API-195 an element keeps a key named __proto__', () => {
    const document = JSON.parse('{"data":{"__proto__":"1"}}') as Json;
    const patch = JSON.parse('{"data":{"__proto__":"2","constructor":"3"}}') as Json;
    expect(JSON.stringify(applyStrategicMergePatch(document, patch, 'api/core/v1.ConfigMap'))).toBe(
      '{"data":{"__proto__":"2","constructor":"3"}}',
    );
  });
});

describe('the patches of the collector', () => {
  const owner = (uid: string, more: Json = {}): Json => ({ apiVersion: 'v1', kind: 'Node', name: uid, uid, ...more });
  const removal = (...uids: string[]): Json =>
    meta({ uid: 'own', ownerReferences: uids.map((uid) => ({ $patch: 'delete', uid })) });

  it('API-197 COL-160 LIFE-503 references are removed by uid', () => {
    const object = meta({ name: 'x', uid: 'own', ownerReferences: [owner('a'), owner('b'), owner('c')] });
    expect(patchPod(object, removal('a', 'c'))).toEqual(meta({ name: 'x', uid: 'own', ownerReferences: [owner('b')] }));
  });

  it('COL-160 two references to one uid both go', () => {
    const object = meta({ uid: 'own', ownerReferences: [owner('a'), owner('b'), owner('a', { name: 'wrong' })] });
    expect(patchPod(object, removal('a'))).toEqual(meta({ uid: 'own', ownerReferences: [owner('b')] }));
  });

  it('API-197 COL-160 an object without references is unchanged', () => {
    const object = meta({ name: 'x', uid: 'own' });
    expect(patchPod(object, removal('a'))).toEqual(object);
    const other = meta({ name: 'x', uid: 'own', ownerReferences: [owner('b')] });
    expect(patchPod(other, removal('a'))).toEqual(other);
  });

  it('COL-160 the uid of the patch is set, so a different one is seen as a change', () => {
    expect(patchPod(meta({ uid: 'other' }), removal('a'))).toEqual(meta({ uid: 'own' }));
  });

  it('API-197 COL-162 blocking is taken back by uid, all else stays', () => {
    const object = meta({
      uid: 'own',
      ownerReferences: [owner('a', { blockOwnerDeletion: true, controller: true }), owner('b')],
    });
    const patch = meta({
      uid: 'own',
      ownerReferences: [owner('a', { blockOwnerDeletion: false, controller: true })],
    });
    expect(patchPod(object, patch)).toEqual(
      meta({ uid: 'own', ownerReferences: [owner('a', { blockOwnerDeletion: false, controller: true }), owner('b')] }),
    );
  });
});

describe('errors of strategic merge', () => {
  it.each([
    ['a patch that is a list', {}, []],
    ['an unknown directive', meta({ labels: { a: '1' } }), meta({ labels: { $patch: 'drop' } })],
    ['an unknown directive in a list', containers(A), containers({ $patch: 'drop', name: 'a' })],
    ['$retainKeys that is no list', spec({ x: { a: 1 } }), spec({ x: { $retainKeys: 'a' } })],
    ['$setElementOrder that is no list', containers(A), spec({ '$setElementOrder/containers': 'a' })],
    [
      '$setElementOrder of a field that is no list',
      spec({ containers: {} }),
      spec({ '$setElementOrder/containers': [{ name: 'a' }] }),
    ],
    [
      'a patch list in another order',
      containers(A, B),
      spec({ '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }], containers: [B, A] }),
    ],
    [
      'a patch list with an item the order does not name',
      containers(A),
      spec({ '$setElementOrder/containers': [{ name: 'a' }], containers: [B] }),
    ],
    [
      '$deleteFromPrimitiveList that is no list',
      meta({ finalizers: ['a'] }),
      meta({ '$deleteFromPrimitiveList/finalizers': 'a' }),
    ],
    [
      '$deleteFromPrimitiveList of objects',
      containers(A),
      spec({ '$deleteFromPrimitiveList/containers': [{ name: 'a' }] }),
    ],
    ['elements of different types', meta({ finalizers: ['a'] }), meta({ finalizers: [1] })],
    ['null as an element', containers(A), spec({ containers: [null] })],
  ])('API-196 %s: 400', (_, document, patch) => {
    const error = failure(document, patch);
    expect([error.code, error.reason]).toEqual([400, 'BadRequest']);
  });

  it.each([
    ['added', containers(A), containers({ image: 'x' }), 'map: map[image:x] does not contain declared merge key: name'],
    [
      'deleted',
      meta({ ownerReferences: [{ uid: 'a' }] }),
      meta({ ownerReferences: [{ $patch: 'delete', name: 'n' }] }),
      'map: map[$patch:delete name:n] does not contain declared merge key: uid',
    ],
    [
      'ordered',
      containers(A),
      spec({ '$setElementOrder/containers': [{ image: 'x' }] }),
      'map: map[image:x] does not contain declared merge key: name',
    ],
    ['live', containers({ image: 'x' }), containers(A), 'map: map[image:x] does not contain declared merge key: name'],
  ])('API-196 an element without its merge key, %s: 500 with the bare text', (_, document, patch, message) => {
    const error = failure(document, patch);
    expect([error.code, error.reason, error.message]).toEqual([500, '', message]);
  });

  it.each([
    ['lists of lists', meta({ finalizers: ['a'] }), meta({ finalizers: [['a']] }), POD],
    [
      'keys that $retainKeys leaves out',
      strategy({ type: 'A' }),
      strategy({ $retainKeys: ['type'], rollingUpdate: {} }),
      DEPLOYMENT,
    ],
  ])('API-196 %s: 422', (_, document, patch, typeName) => {
    const error = failure(document, patch, typeName);
    expect([error.code, error.reason, error.status.details]).toEqual([422, 'Invalid', {}]);
  });
});

describe('strategic merge properties', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const elements = (extra: fc.Arbitrary<Json>): fc.Arbitrary<Json[]> =>
    fc.uniqueArray(
      fc.tuple(name, extra).map(([key, more]): Json => ({ name: key, ...more })),
      {
        selector: (element) => element['name'],
        maxLength: 5,
      },
    );
  const fields = fc.record({ image: fc.constantFrom('x', 'y'), tty: fc.boolean() }, { requiredKeys: [] });
  const finalizers = fc.uniqueArray(name, { maxLength: 4 });
  const pod = fc.record(
    {
      metadata: fc.record(
        {
          labels: fc.dictionary(name, name, { maxKeys: 3 }),
          finalizers: fc.shuffledSubarray(['a', 'b', 'c', 'f', 'g']),
        },
        { requiredKeys: [] },
      ),
      spec: fc.record({ containers: elements(fields), hostNetwork: fc.boolean() }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Json>;
  const directive = fc.constantFrom<Json>({}, {}, { $patch: 'delete' }, { $patch: 'merge' }, { tty: null });
  const patch = fc.record(
    {
      metadata: fc.record(
        {
          labels: fc.dictionary(name, fc.option(name), { maxKeys: 3 }),
          finalizers,
          // The patch adds none of these values: a value both added and deleted would alternate with every application.
          '$deleteFromPrimitiveList/finalizers': fc.subarray(['f', 'g']),
        },
        { requiredKeys: [] },
      ),
      spec: fc.record(
        {
          containers: elements(fc.tuple(fields, directive).map(([more, what]) => ({ ...more, ...what }))),
          hostNetwork: fc.option(fc.boolean()),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Json>;

  const hasDirective = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.some(hasDirective)
      : isJsonObject(value) && Object.entries(value).some(([key, inner]) => key.startsWith('$') || hasDirective(inner));

  it('API-195 applying twice is applying once; no directive survives; inputs are not changed', () => {
    fc.assert(
      fc.property(pod, patch, (document, change) => {
        const before = copyJson([document, change]);
        const once = patchPod(document, change);
        expect(hasDirective(once)).toBe(false);
        expect(patchPod(once, change)).toEqual(once);
        expect([document, change]).toEqual(before);
      }),
    );
  });

  it('API-195 a merged list holds each key once, the patch first served, in the order of $setElementOrder', () => {
    fc.assert(
      fc.property(elements(fields), elements(fields), (live, wanted) => {
        const order = wanted.map((element) => ({ name: element['name'] }));
        const result = patchPod(
          containers(...live),
          spec({ containers: wanted, '$setElementOrder/containers': order }),
        ) as { spec: { containers: Json[] } };
        const names = result.spec.containers.map((element) => element['name']);
        expect(new Set(names).size).toBe(names.length);
        expect(new Set(names)).toEqual(new Set([...live, ...wanted].map((element) => element['name'])));
        const wantedNames = order.map((element) => element.name);
        expect(names.filter((n) => wantedNames.includes(n))).toEqual(wantedNames);
        const liveOnly = live.map((element) => element['name']).filter((n) => !wantedNames.includes(n));
        expect(names.filter((n) => !wantedNames.includes(n))).toEqual(liveOnly);
      }),
    );
  });
});
