import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import '../../../test/property-seed.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { ApplyScenario } from './apply-scenario.fixture.ts';
import { EMPTY_SET, fieldSetOf, union } from './fieldset.ts';
import {
  encodeManagers,
  entryTime,
  isSameManager,
  type ManagedEntry,
  managerIdentifier,
  type Managers,
} from './managed-fields.ts';
import { takeOver } from './update-managers.ts';

const configMap = (): ApplyScenario => new ApplyScenario('v1', 'ConfigMap');
const data = (values: object) => (object: KubeObject) => ({
  ...object,
  data: { ...(object['data'] as object), ...values },
});
const withEntries = (managedFields: unknown) => (object: KubeObject) => ({
  ...object,
  metadata: { ...object.metadata, managedFields },
});
const without = (key: string) => (object: KubeObject) => {
  const { [key]: _, ...rest } = object['data'] as Record<string, unknown>;
  return { ...object, data: rest };
};

describe('tracking of updates', () => {
  it('API-216 API-215 a create is an update: its manager owns everything that is there', () => {
    const scenario = new ApplyScenario('apps/v1', 'Deployment').update(
      () => ({
        metadata: { name: 'x', labels: { app: 'x' } },
        spec: {
          selector: { matchLabels: { app: 'x' } },
          template: {
            metadata: { labels: { app: 'x' } },
            spec: { containers: [{ name: 'nginx', image: 'nginx:1', resources: {} }] },
          },
        },
      }),
      { manager: 'kubectl-create' },
    );
    // The managed fields that a cluster shows after `kubectl create deployment`, order included.
    expect(JSON.stringify(scenario.entries)).toBe(
      JSON.stringify([
        {
          manager: 'kubectl-create',
          operation: 'Update',
          apiVersion: 'apps/v1',
          time: '2026-11-21T12:00:01Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
            'f:spec': {
              'f:progressDeadlineSeconds': {},
              'f:replicas': {},
              'f:revisionHistoryLimit': {},
              'f:selector': {},
              'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
              'f:template': {
                'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
                'f:spec': {
                  'f:containers': {
                    'k:{"name":"nginx"}': {
                      '.': {},
                      'f:image': {},
                      'f:imagePullPolicy': {},
                      'f:name': {},
                      'f:resources': {},
                      'f:terminationMessagePath': {},
                      'f:terminationMessagePolicy': {},
                    },
                  },
                  'f:dnsPolicy': {},
                  'f:restartPolicy': {},
                  'f:schedulerName': {},
                  'f:securityContext': {},
                  'f:terminationGracePeriodSeconds': {},
                },
              },
            },
          },
        },
      ]),
    );
  });

  it("API-216 an update takes what it changes from everybody, what it removes is nobody's", () => {
    const scenario = configMap()
      .update(() => ({ data: { a: '1', b: '1', c: '1' } }), { manager: 'one' })
      .update(data({ a: '2' }), { manager: 'two' });
    expect(scenario.owners).toEqual({
      'one (Update)': { 'f:data': { '.': {}, 'f:b': {}, 'f:c': {} } },
      'two (Update)': { 'f:data': { 'f:a': {} } },
    });
    scenario.update(without('b'), { manager: 'three' });
    expect(scenario.owners).toEqual({
      'one (Update)': { 'f:data': { '.': {}, 'f:c': {} } },
      'two (Update)': { 'f:data': { 'f:a': {} } },
    });
  });

  it('API-215 one entry per manager, operation and subresource; a name that is missing is unknown', () => {
    const scenario = configMap()
      .update(() => ({ data: { a: '1' } }), { manager: 'm' })
      .update(data({ b: '1' }), { manager: 'm' })
      .update(data({ c: '1' }), { manager: 'm', subresource: 'scale' })
      .apply({ data: { d: '1' } }, { manager: 'm' })
      .update(data({ e: '1' }), { manager: '' });
    expect(
      scenario.entries.map(({ manager, operation, subresource, time }) => [manager, operation, subresource, time]),
    ).toEqual([
      ['m', 'Apply', undefined, '2026-11-21T12:00:04Z'],
      ['m', 'Update', undefined, '2026-11-21T12:00:02Z'],
      ['m', 'Update', 'scale', '2026-11-21T12:00:03Z'],
      ['unknown', 'Update', undefined, '2026-11-21T12:00:05Z'],
    ]);
  });

  it('API-077 API-220 what changes nothing renews no time', () => {
    const scenario = configMap().update(() => ({ data: { a: '1' } }), { manager: 'one' });
    const before = scenario.entries;
    scenario.update((object) => object, { manager: 'one' });
    expect(scenario.entries).toBe(before);
    scenario.update(without('a'), { manager: 'two' });
    expect(scenario.entries).toEqual([]);
  });

  it('API-217 more than ten updates: the oldest become ancient-changes, appliers do not count', () => {
    const scenario = configMap().apply({ data: { applied: '1' } }, { manager: 'applier' });
    for (let i = 1; i <= 13; i++) scenario.update(data({ [`key${i}`]: '1' }), { manager: `manager${i}` });
    const updates = scenario.entries.filter(({ operation }) => operation === 'Update');
    expect(updates.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, i) => `manager${i + 5}`),
    ]);
    expect(scenario.owners['ancient-changes (Update)']).toEqual({
      'f:data': { 'f:key1': {}, 'f:key2': {}, 'f:key3': {}, 'f:key4': {} },
    });
    expect(updates[0]?.time).toBe('2026-11-21T12:00:05Z');
    expect(scenario.owners['applier']).toEqual({ 'f:data': { 'f:applied': {} } });
  });

  it('API-217 what was never tracked is not tracked from its middle on', () => {
    const scenario = configMap().update(() => ({ data: { a: '1' } }), { manager: 'one' });
    scenario.update(withEntries([]), { manager: 'one' }).update(data({ b: '2' }), { manager: 'two' });
    expect(scenario.object?.metadata?.managedFields).toBeUndefined();
  });

  it.each([
    ['an empty list', [], 'none'],
    ['one empty entry', [{}], 'none'],
    ['one entry of empty texts', [{ manager: '', operation: '', apiVersion: '', fieldsV1: null }], 'none'],
    ['left out', undefined, 'kept'],
    ['null', null, 'kept'],
    ['an entry without operation', [{ manager: 'x', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }], 'kept'],
    [
      'an entry of another type',
      [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV2' }],
      'kept',
    ],
    [
      'an entry with nonsense in it',
      [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'k:{': {} } }],
      'kept',
    ],
  ])('API-219 managedFields: %s', (_, managedFields, expected) => {
    const scenario = configMap().update(() => ({ data: { a: '1' } }), { manager: 'one' });
    const before = scenario.entries;
    scenario.update(withEntries(managedFields), { manager: 'two' });
    expect(scenario.entries).toEqual(expected === 'kept' ? before : []);
  });

  it('API-219 API-221 entries that the client hands over count, in the spelling of the server', () => {
    const scenario = configMap().update(() => ({ data: { a: '1' } }), { manager: 'kubectl-client-side-apply' });
    const taken = {
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'v1',
      time: '2026-11-21T14:00:00+02:00',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v: "x"': {} } }, 'f:data': { 'f:a': { '.': {} }, '.': {} } },
    };
    scenario.update(withEntries([taken]), { manager: 'kubectl' });
    expect(scenario.entries).toEqual([
      {
        ...taken,
        time: '2026-11-21T12:00:00Z',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } },
      },
    ]);
  });

  it("API-219 through a subresource managedFields are not the client's", () => {
    const scenario = configMap().update(() => ({ data: { a: '1' } }), { manager: 'one' });
    const before = scenario.entries;
    scenario.update(withEntries([]), { manager: 'two', subresource: 'status' });
    expect(scenario.entries).toEqual(before);
  });

  it('API-222 elements of lists, with doubles as one thing', () => {
    const pod = (...ports: object[]) => ({
      spec: { containers: [{ name: 'c', image: 'i', ports }] },
    });
    const port = (containerPort: number, name: string): object => ({ containerPort, name });
    const owned = (scenario: ApplyScenario, manager: string): unknown =>
      (
        scenario.owners[manager] as Record<string, Record<string, Record<string, Record<string, unknown>>>> | undefined
      )?.['f:spec']?.['f:containers']?.['k:{"name":"c"}']?.['f:ports'];
    const scenario = new ApplyScenario('v1', 'Pod')
      .update(() => pod(port(1, 'a')), { manager: 'one' })
      .update(() => pod(port(1, 'a'), port(2, 'b')), { manager: 'two' });
    const key = (number: number): string => `k:{"containerPort":${number},"protocol":"TCP"}`;
    const whole = { '.': {}, 'f:containerPort': {}, 'f:name': {}, 'f:protocol': {} };
    expect(owned(scenario, 'one (Update)')).toEqual({ '.': {}, [key(1)]: whole });
    expect(owned(scenario, 'two (Update)')).toEqual({ [key(2)]: whole });
    scenario.update(() => pod(port(1, 'a'), port(2, 'b'), port(2, 'c')), { manager: 'three' });
    expect(owned(scenario, 'two (Update)')).toBeUndefined();
    expect(owned(scenario, 'three (Update)')).toEqual({ [key(2)]: {} });
    scenario.update(() => pod(port(1, 'a'), port(2, 'c')), { manager: 'four' });
    expect(owned(scenario, 'three (Update)')).toBeUndefined();
    expect(owned(scenario, 'four (Update)')).toEqual({ [key(2)]: whole });
  });
});

describe('updates that become one entry', () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0);
  const written = fieldSetOf(['f:data', 'f:new']);
  const writer = { name: 'writer', operation: 'Update', apiVersion: 'v1', subresource: '' } as const;
  const afterWrite = (managers: Managers): Managers =>
    takeOver(
      managers,
      { added: written, modified: EMPTY_SET, removed: EMPTY_SET },
      { manager: writer, tracked: { part: 'allBut', members: ['status'] }, now },
    );

  const entries: fc.Arbitrary<ManagedEntry[]> = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('ancient-changes', 'a', 'b', 'c', 'd', 'e'),
      operation: fc.constantFrom('Update' as const, 'Update' as const, 'Update' as const, 'Apply' as const),
      apiVersion: fc.constantFrom('v1', 'v2', 'v3'),
      subresource: fc.constantFrom('', 'status'),
      time: fc.constantFrom('', entryTime(now - 2000), entryTime(now - 1000), entryTime(now)),
      fields: fc
        .uniqueArray(fc.constantFrom('f:a', 'f:b', 'f:c', 'f:d'), { minLength: 1 })
        .map((keys) => fieldSetOf(...keys.map((key) => ['f:data', key]))),
    }),
    { maxLength: 32, size: 'max', selector: managerIdentifier },
  );

  it('API-217 are the oldest ones of each version, merged one by one', () => {
    fc.assert(
      fc.property(entries, (managers) => {
        const own = { ...writer, fields: written, time: entryTime(now), stored: undefined };
        const expected = mergedOneByOne([...managers, own]);
        const merged = afterWrite(managers);
        expect(merged).toEqual(expected);
        expect(JSON.stringify(encodeManagers(merged))).toBe(JSON.stringify(encodeManagers(expected)));
      }),
      { numRuns: 500 },
    );
  });

  it('API-216 each loses what is written, however many there are and however much it is', () => {
    const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`f:k${n}`, EMPTY_SET]));
    const managers = Array.from({ length: 10_000 }, (_, n): ManagedEntry => {
      const fields = fieldSetOf(['f:data', `f:k${n}`], ['f:data', `f:other${n}`]);
      return { name: `manager-${n}`, operation: 'Apply', apiVersion: 'v1', subresource: '', time: '', fields };
    });
    const left = takeOver(
      managers,
      { added: { 'f:data': data }, modified: EMPTY_SET, removed: EMPTY_SET },
      { manager: writer, tracked: { part: 'allBut', members: ['status'] }, now },
    );
    expect(left.slice(0, -1).map(({ fields }) => Object.keys(fields['f:data'] ?? {}))).toEqual(
      managers.map((_, n) => [`f:other${n}`]),
    );
  });

  it('API-217 can be as many as a request has place for', () => {
    const time = entryTime(now);
    const managers = Array.from({ length: 60_000 }, (_, n): ManagedEntry => {
      const fields = fieldSetOf(['f:data', `f:key${n}`]);
      return { name: `manager-${n}`, operation: 'Update', apiVersion: `v${n % 3}`, subresource: '', time, fields };
    });
    const merged = afterWrite(managers);
    expect(merged).toHaveLength(10);
    const fields = merged.flatMap(({ fields: { 'f:data': data } }) => Object.keys(data ?? {}));
    expect(fields).toHaveLength(60_001);
  });

  /** A simple version of upstream's `buildManagerInfo` and `capUpdateManagers`, for few entries. */
  function mergedOneByOne(managers: Managers): Managers {
    const age = (entry: ManagedEntry): string => `${entry.time} ${managerIdentifier(entry)}`;
    const updates = managers.filter(({ operation }) => operation === 'Update');
    const oldestFirst = updates.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
    let surplus = oldestFirst.length - 10;
    const kept = new Set(managers);
    const buckets = new Map<string, ManagedEntry>();
    for (const entry of oldestFirst) {
      if (surplus <= 0) break;
      if (!kept.has(entry)) continue;
      const first = buckets.get(entry.apiVersion);
      let bucket = entry;
      if (first !== undefined) {
        bucket = { ...entry, name: 'ancient-changes', subresource: '', fields: union(first.fields, entry.fields) };
        const earlier = [...kept].filter((other) => other === first || other === entry || isSameManager(other, bucket));
        for (const other of earlier) {
          kept.delete(other);
          bucket = { ...bucket, fields: union(bucket.fields, other.fields) };
        }
        kept.add(bucket);
        surplus -= earlier.length - 1;
      }
      buckets.set(entry.apiVersion, bucket);
    }
    return [...kept];
  }
});
