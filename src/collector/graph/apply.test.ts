import { describe, expect, it } from 'vitest';
import { MetadataColumns } from '../../api/codec/metadata/metadata-columns.ts';
import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import { encodePartialObjectMetadata } from '../../api/codec/metadata/partial-object-metadata.ts';
import { ProtobufError } from '../../api/codec/protobuf/protobuf-wire.ts';
import { apply, applied } from './apply.ts';
import { ColumnsFromObject } from './columns-from-object.ts';
import { checkInvariants } from './check-consistency.ts';
import type { Effect } from './effect.ts';
import type { GraphEvent, MonitoredResource, ObservedObject, VanishLimit } from '../types/event.ts';
import type { Identity } from '../types/identity.ts';
import { OwnershipGraph } from './ownership-graph.ts';
import { cluster, deleted, observed, pods, ref, replicaSets, nodes, standbyPods } from './testing/events.ts';

function run(graph: OwnershipGraph, ...events: GraphEvent[]): Effect[] {
  const effects: Effect[] = [];
  for (const event of events) {
    apply(graph, event, effects);
    expect(checkInvariants(graph)).toEqual([]);
  }
  return effects;
}

/** `<queue>:<as>:<uid>:<reason>` for enqueues, the kind of effect and the uid for the others. */
function said(effects: readonly Effect[]): string[] {
  return effects.map((effect) => {
    switch (effect.effect) {
      case 'enqueue':
        return `${effect.queue === 'attemptToOrphan' ? 'orphan ' : ''}${effect.as} ${effect.uid} ${effect.reason}${effect.delay === 'none' ? '' : ' later'}`;
      case 'reportInvalidNamespace':
        return `report ${effect.dependent.uid} -> ${effect.ownerReference.uid}`;
      case 'noteAbsentOwner':
        return `absent ${effect.identity.uid} ${effect.identity.kind} ${effect.identity.namespace}/${effect.identity.name}`;
      case 'dropAbsentOwner':
        return `alive ${effect.uid}`;
      case 'heldAbsences':
        return `held ${effect.resource.resource} ${effect.missing} of ${effect.known}`;
    }
  });
}

describe('names', () => {
  it('BETTER-6 are the same after their room was compacted: of nodes, and of references that name an owner otherwise', () => {
    const graph = new OwnershipGraph();
    const long = (name: string) => name.padEnd(240, '-');
    const wrong = { name: long('wrong') };
    run(graph, observed(pods, { uid: 'o', name: long('o') }));
    for (let i = 0; i < 6000; i++) applied(graph, observed(pods, { uid: `filler-${i}`, name: long(`f${i}`) }));
    run(graph, observed(pods, { uid: 'd', name: long('d'), owners: [ref('o', wrong), ref('v', wrong)] }));
    const { used } = graph.bytes.names;
    for (let i = 0; i < 6000; i++) applied(graph, deleted(pods, `filler-${i}`, { name: long(`f${i}`) }));
    expect(graph.bytes.names.free).toBeLessThan(used / 2);
    expect(graph.bytes.names.used).toBeLessThan(used / 2);
    for (let i = 0; i < 100; i++) run(graph, observed(pods, { uid: `late-${i}`, name: long(`l${i}`) }));
    expect(graph.node('o')?.identity.name).toBe(long('o'));
    expect(graph.node('d')?.identity.name).toBe(long('d'));
    expect(graph.node('d')?.ownerReferences).toEqual([ref('o', wrong), ref('v', wrong)]);
    expect(graph.node('v')?.identity.name).toBe(wrong.name);
  });
});

describe('nodes', () => {
  it('COL-045, COL-052 an unknown uid becomes an observed node with the monitor’s kind', () => {
    const graph = new OwnershipGraph();
    expect(run(graph, observed(pods, { uid: 'a', name: 'pod-a', resourceVersion: '7' }))).toEqual([]);
    expect(graph.node('a')).toEqual({
      id: 0,
      identity: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'pod-a', uid: 'a' },
      state: 'observed',
      unlisted: false,
      beingDeleted: false,
      deletingDependents: false,
      foregroundFinalizer: false,
      orphanFinalizer: false,
      otherFinalizers: false,
      resourceVersion: '7',
      ownerReferences: [],
    });
  });

  it('COL-058 deleting an unknown or a gone uid is ignored', () => {
    const graph = new OwnershipGraph();
    expect(applied(graph, deleted(pods, 'a')).outcome).toBe('ignored');
    run(graph, observed(pods, { uid: 'a' }), observed(pods, { uid: 'b', owners: [ref('a')] }), deleted(pods, 'a'));
    expect(applied(graph, deleted(pods, 'a'))).toEqual({ outcome: 'ignored', effects: [] });
  });

  it('COL-059 an object without references is a node', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a' }));
    expect(graph.counts).toEqual({ nodes: 1, virtual: 0, observed: 1, gone: 0, references: 0 });
  });

  it('BETTER-4, COL-046 an irrelevant update changes nothing but the version', () => {
    const graph = new OwnershipGraph();
    const object = { uid: 'a', owners: [ref('o', { blockOwnerDeletion: true, controller: false }), ref('p')] };
    run(graph, observed(pods, { ...object, resourceVersion: '7' }));
    const again = applied(graph, observed(pods, { ...object, resourceVersion: '8' }));
    expect(again).toEqual({ outcome: 'unchanged', effects: [] });
    expect(graph.node('a')?.resourceVersion).toBe('8');
  });

  it('COL-098 a version beyond 32 bits is kept as it is', () => {
    const graph = new OwnershipGraph();
    for (const resourceVersion of ['4294967295', '4294967296', '9007199254740991']) {
      run(graph, observed(pods, { uid: 'a', resourceVersion }));
      expect(graph.node('a')?.resourceVersion).toBe(resourceVersion);
    }
  });

  it('BETTER-4 a foreign finalizer is irrelevant, but remembered', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a' }));
    expect(applied(graph, observed(pods, { uid: 'a', finalizers: ['x/y'] })).outcome).toBe('unchanged');
    expect(graph.node('a')?.otherFinalizers).toBe(true);
  });

  it.each<[string, Partial<ObservedObject> & { owners?: ReturnType<typeof ref>[] }]>([
    ['references', { owners: [ref('p')] }],
    ['a flag of a reference', { owners: [ref('o', { blockOwnerDeletion: true })] }],
    ['a flag that becomes explicit', { owners: [ref('o', { controller: false })] }],
    ['deletionTimestamp', { owners: [ref('o')], deleting: true }],
    ['the finalizer FG', { owners: [ref('o')], finalizers: ['foregroundDeletion'] }],
    ['the finalizer ORPHAN', { owners: [ref('o')], finalizers: ['orphan'] }],
  ])('COL-046 a change of %s is relevant', (_, change) => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(applied(graph, observed(pods, { uid: 'a', ...change })).outcome).toBe('changed');
  });

  it.each([{ finalizers: [] }, { finalizers: ['foregroundDeletion'] }])(
    'COL-055 a deletion that a restored server does not know is taken back, and the object is queued: $finalizers',
    ({ finalizers }) => {
      const graph = new OwnershipGraph();
      const object = { uid: 'a', owners: [ref('o')], finalizers };
      run(graph, observed(pods, { uid: 'o' }), observed(pods, { ...object, deleting: true }));
      const { outcome, effects } = applied(graph, observed(pods, object));
      expect([outcome, ...said(effects)]).toEqual(['wentBack', 'observed a deletionTakenBack']);
      expect(graph.node('a')).toMatchObject({ beingDeleted: false, deletingDependents: false });
      expect(graph.isWaiting(graph.find('a'))).toBe(false);
      expect(graph.references.waitingCount).toBe(0);
      // The deletion can begin again.
      const again = said(run(graph, observed(pods, { ...object, deleting: true })));
      expect(again).toEqual(finalizers.length === 0 ? [] : ['observed a startsWaiting']);
    },
  );

  it('COL-05A a node takes the version under which it is seen now', () => {
    const graph = new OwnershipGraph();
    const old: MonitoredResource = { apiVersion: 'apps/v1beta1', kind: 'ReplicaSet', resource: 'replicasets' };
    run(
      graph,
      observed(old, { uid: 'o', name: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o', { apiVersion: 'apps/v1beta1', kind: 'ReplicaSet' })] }),
    );
    expect(said(run(graph, observed(replicaSets, { uid: 'o', name: 'o' })))).toEqual([]);
    expect(graph.node('o')?.identity.apiVersion).toBe('apps/v1');
    expect(graph.dependents('o')).toEqual(['a']);
    expect(graph.node('a')?.ownerReferences).toEqual([ref('o', { apiVersion: 'apps/v1beta1', kind: 'ReplicaSet' })]);
  });
});

describe('columns', () => {
  it('BETTER-6 what was read of a buffer does not change with it, not even of a Buffer', () => {
    const graph = new OwnershipGraph();
    const owner = ref('text-uid', { kind: 'Widget', apiVersion: 'example.com/v1', name: 'n'.repeat(300) });
    const { object } = observed(pods, { uid: 'another-text', namespace: 'some-namespace', owners: [owner] });
    const read = new ColumnsFromObject().observed(object);
    const bytes = Buffer.from(read.bytes);
    const columns = Object.assign(new MetadataColumns(), read, { bytes });
    apply(graph, { type: 'observedColumns', resource: pods, columns }, []);
    bytes.fill(0x78);
    expect(graph.node('another-text')?.identity.namespace).toBe('some-namespace');
    expect(graph.node('another-text')?.ownerReferences).toEqual([owner]);
    expect(checkInvariants(graph)).toEqual([]);
  });
});

describe('references that were left unread', () => {
  const reader = new MetadataReader();
  const meta = { uid: 'd', name: 'd', namespace: 'ns', ownerReferences: [{ ...ref('o'), controller: true }] };
  const event = (bytes: Uint8Array): GraphEvent => {
    reader.scan(bytes, 0, bytes.length);
    return { type: 'observedColumns', resource: pods, columns: reader };
  };

  it('COL-046 the same in another encoding is no change', () => {
    const graph = new OwnershipGraph();
    expect(applied(graph, event(encodePartialObjectMetadata(meta))).outcome).toBe('changed');
    const json = event(Buffer.from(JSON.stringify({ metadata: { ...meta, resourceVersion: '2' } })));
    expect(applied(graph, json)).toEqual({ outcome: 'unchanged', effects: [] });
    expect(graph.node('d')).toMatchObject({ resourceVersion: '2', ownerReferences: meta.ownerReferences });
    expect(applied(graph, event(encodePartialObjectMetadata(meta)))).toEqual({ outcome: 'unchanged', effects: [] });
  });

  it('COL-055 a deletion of an object with the same references is noticed, and leaves them as they are', () => {
    const graph = new OwnershipGraph();
    run(graph, event(encodePartialObjectMetadata(meta)));
    const deleting = { ...meta, deletionTimestamp: '2026-11-21T12:00:00Z', finalizers: ['foregroundDeletion'] };
    const { outcome, effects } = applied(graph, event(encodePartialObjectMetadata(deleting)));
    expect([outcome, ...said(effects)]).toEqual(['changed', 'observed d startsWaiting']);
    expect(graph.node('d')).toMatchObject({ beingDeleted: true, ownerReferences: meta.ownerReferences });
    expect(applied(graph, event(encodePartialObjectMetadata(deleting))).outcome).toBe('unchanged');
    expect(checkInvariants(graph)).toEqual([]);
  });

  it('COL-051 siblings have the same reference, each with its flags', () => {
    const graph = new OwnershipGraph();
    for (const uid of ['d', 'e']) run(graph, event(encodePartialObjectMetadata({ ...meta, uid, name: uid })));
    expect(graph.node('e')?.ownerReferences).toEqual(meta.ownerReferences);
    expect(graph.dependents('o')).toEqual(['e', 'd']);
  });

  it('COL-048 one that is damaged changes nothing', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'x' }));
    const bytes = encodePartialObjectMetadata({ ...meta, ownerReferences: [{ ...ref('o'), uid: 'p' }] });
    const damaged = bytes.slice();
    damaged[damaged.lastIndexOf(0x70) - 1] = 9;
    expect(() => applied(graph, event(damaged))).toThrow(ProtobufError);
    expect(graph.counts).toMatchObject({ nodes: 1, references: 0 });
    run(graph, event(bytes));
    expect(() => applied(graph, event(damaged))).toThrow(ProtobufError);
    expect(graph.node('d')?.ownerReferences).toEqual([{ ...ref('o'), uid: 'p' }]);
    expect(checkInvariants(graph)).toEqual([]);
  });
});

describe('references', () => {
  it('COL-051 a dependent is linked exactly to the owners it names', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'p' }),
      observed(pods, { uid: 'a', owners: [ref('o'), ref('p')] }),
      observed(pods, { uid: 'b', owners: [ref('o')] }),
    );
    expect(graph.dependents('o').sort()).toEqual(['a', 'b']);
    expect(graph.dependents('p')).toEqual(['a']);
    run(graph, observed(pods, { uid: 'a', owners: [ref('p')] }));
    expect(graph.dependents('o')).toEqual(['b']);
    expect(graph.dependents('p')).toEqual(['a']);
  });

  it('COL-078 the second of two objects with one reference is checked like the first', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, observed(pods, { uid: 'b', owners: [ref('o')] })))).toEqual([]);
    expect(said(run(graph, observed(pods, { uid: 'c', namespace: 'ns2', owners: [ref('o')] })))).toEqual([
      'report c -> o',
      'observed c potentiallyInvalid',
    ]);
    expect(graph.dependents('o').sort()).toEqual(['a', 'b', 'c']);
    run(graph, deleted(pods, 'o'));
    expect(said(run(graph, observed(pods, { uid: 'd', owners: [ref('o')] })))).toEqual(['observed d ownerKnownAbsent']);
  });

  it('COL-070 an owner that went with its only dependent is virtual anew for the next', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }), deleted(pods, 'a'));
    expect(said(run(graph, observed(pods, { uid: 'b', owners: [ref('o')] })))).toEqual(['virtual o virtualOwner']);
    expect(graph.dependents('o')).toEqual(['b']);
  });

  it('COL-073, COL-078 what an owner turned out to be counts for the next dependent with the same reference', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }), observed(pods, { uid: 'o', name: 'x' }));
    expect(said(run(graph, observed(pods, { uid: 'b', owners: [ref('o')] })))).toEqual([
      'observed b potentiallyInvalid',
    ]);
    expect(graph.node('b')?.ownerReferences).toEqual([ref('o')]);
  });

  it('COL-24G two references to one uid are both kept, and the dependent is counted once', () => {
    const graph = new OwnershipGraph();
    const owners = [ref('o', { blockOwnerDeletion: false }), ref('o', { blockOwnerDeletion: true, name: 'other' })];
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners }));
    expect(graph.node('a')?.ownerReferences).toEqual(owners);
    expect(graph.dependents('o')).toEqual(['a']);
    expect(graph.counts.references).toBe(2);
  });

  it('COL-161 every field of a reference comes back, absent flags as absent', () => {
    const graph = new OwnershipGraph();
    const owners = [
      ref('o1'),
      ref('o2', { controller: true }),
      ref('o3', { controller: false, blockOwnerDeletion: false }),
      ref('o4', { blockOwnerDeletion: true, kind: 'Ünusual', name: 'n'.repeat(1000) }),
    ];
    run(graph, observed(pods, { uid: 'a', owners }));
    expect(graph.node('a')?.ownerReferences).toEqual(owners);
    expect(graph.node('o4')?.identity.name).toBe('n'.repeat(1000));
    for (const owner of owners) run(graph, observed(pods, { uid: 'b', owners: [owner] }));
    expect(graph.node('b')?.ownerReferences).toEqual([owners[3]]);
  });

  it('COL-070 a reference to an unknown uid makes a virtual node in the dependent’s namespace and queues it', () => {
    const graph = new OwnershipGraph();
    const owner = ref('o', { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'rs' });
    expect(said(run(graph, observed(pods, { uid: 'a', owners: [owner] })))).toEqual(['virtual o virtualOwner']);
    expect(graph.node('o')).toMatchObject({
      state: 'virtual',
      identity: { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'ns', name: 'rs', uid: 'o' },
    });
  });

  it('COL-070 a virtual node nobody refers to any more is dropped', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }), observed(pods, { uid: 'a' }));
    expect(graph.find('o')).toBe(-1);
    expect(graph.counts.gone).toBe(0);
  });

  it.each([
    ['removed', true, [], ['observed o dependentReleased']],
    ['removed without blocking', undefined, [], []],
    ['turned off', true, [ref('o', { blockOwnerDeletion: false })], ['observed o dependentReleased']],
    ['turned off by leaving it out', true, [ref('o')], ['observed o dependentReleased']],
    ['turned on', false, [ref('o', { blockOwnerDeletion: true })], []],
    ['kept beside another', true, [ref('o', { blockOwnerDeletion: true }), ref('q')], ['virtual q virtualOwner']],
    [
      'doubled, one of them blocking',
      true,
      [ref('o', { blockOwnerDeletion: false }), ref('o', { blockOwnerDeletion: true })],
      [],
    ],
  ] as const)(
    'COL-054 a blocking reference that is %s queues its owner when it blocks no more',
    (_, block, next, queued) => {
      const graph = new OwnershipGraph();
      const first = block === undefined ? ref('o') : ref('o', { blockOwnerDeletion: block });
      run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [first] }));
      expect(said(run(graph, observed(pods, { uid: 'a', owners: [...next] })))).toEqual(queued);
    },
  );

  it('COL-056, BETTER-5 a reference edited to a wrong name is questioned at once', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, observed(pods, { uid: 'a', owners: [ref('o', { name: 'x' })] })))).toEqual([
      'observed a potentiallyInvalid',
    ]);
    expect(said(run(graph, observed(pods, { uid: 'a', owners: [ref('o', { name: 'x', controller: true })] })))).toEqual(
      [],
    );
  });
});

describe('deletion', () => {
  it('COL-057 an observed deletion notes the absence, queues the dependents and the waiting owners', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'w', deleting: true, finalizers: ['foregroundDeletion'] }),
      observed(pods, { uid: 's' }),
      observed(pods, { uid: 'o', owners: [ref('w'), ref('s')] }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
    );
    expect(said(run(graph, deleted(pods, 'o')))).toEqual([
      'observed w dependentReleased',
      'absent o Pod ns/o',
      'observed a ownerGone',
    ]);
    expect(graph.find('o')).toBe(-1);
    expect(graph.dependents('w')).toEqual([]);
  });

  it('COL-057 without dependents nothing is noted', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }));
    expect(run(graph, deleted(pods, 'o'))).toEqual([]);
    expect(graph.counts.gone).toBe(0);
  });

  it('COL-057 an object that refers to itself goes without a trace', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o', owners: [ref('o', { blockOwnerDeletion: true })] }));
    expect(run(graph, deleted(pods, 'o'))).toEqual([]);
    expect(graph.counts).toEqual({ nodes: 0, virtual: 0, observed: 0, gone: 0, references: 0 });
  });

  it('BETTER-15 a deleted uid stays known while somebody refers to it, under its coordinates only', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }), deleted(pods, 'o'));
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(true);
    expect(graph.isKnownGone(ref('o'), 'ns2')).toBe(false);
    expect(graph.isKnownGone(ref('o', { name: 'x' }), 'ns')).toBe(false);
    expect(graph.isKnownGone(ref('o', { kind: 'ConfigMap' }), 'ns')).toBe(false);
    expect(graph.missingOwners(graph.find('a'))).toEqual([ref('o')]);
    expect(said(run(graph, observed(pods, { uid: 'b', owners: [ref('o')] })))).toEqual(['observed b ownerKnownAbsent']);
    run(graph, deleted(pods, 'a'), deleted(pods, 'b'));
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(false);
    expect(graph.counts.gone).toBe(0);
  });

  it('COL-131 a deleted cluster-scoped owner is known to be gone from every namespace', () => {
    const graph = new OwnershipGraph();
    const owner = ref('n', { kind: 'Node' });
    run(
      graph,
      observed(nodes, { uid: 'n', namespace: '' }),
      observed(pods, { uid: 'a', owners: [owner] }),
      deleted(nodes, 'n', { namespace: '' }),
    );
    expect(graph.isKnownGone(owner, 'ns')).toBe(true);
    expect(graph.isKnownGone(owner, '')).toBe(true);
  });

  it('BETTER-14 a gone uid that is seen again is alive', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }), deleted(pods, 'o'));
    expect(said(run(graph, observed(pods, { uid: 'o' })))).toEqual(['alive o']);
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(false);
    expect(graph.dependents('o')).toEqual(['a']);
  });
});

describe('transitions', () => {
  const FG = ['foregroundDeletion'];
  const ORPHAN = ['orphan'];

  it('COL-061 starting with ORPHAN queues for orphaning, nothing else', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: ORPHAN })))).toEqual([
      'orphan observed o startsOrphaning',
    ]);
    expect(graph.node('o')?.deletingDependents).toBe(false);
  });

  it('COL-062 starting with FG queues all dependents, then the node', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o', { blockOwnerDeletion: true })] }),
    );
    expect(said(run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG })))).toEqual([
      'observed b ownerStartsWaiting',
      'observed a ownerStartsWaiting',
      'observed o startsWaiting',
    ]);
    expect(graph.node('o')).toMatchObject({ beingDeleted: true, deletingDependents: true });
    expect(graph.isWaiting(graph.find('o'))).toBe(true);
  });

  it.each([
    ['nothing known', undefined, 'starts'],
    ['alive', { deleting: false, finalizers: [] as string[] }, 'starts'],
    ['alive with the finalizer', { deleting: false, finalizers: FG }, 'starts'],
    ['deleted without the finalizer (COL-063)', { deleting: true, finalizers: [] as string[] }, 'starts'],
    ['deleted with it', { deleting: true, finalizers: FG }, 'goes on'],
  ])('COL-060, COL-064, BETTER-7 with %s before, an object deleted with FG %s', (_, before, expected) => {
    const graph = new OwnershipGraph();
    if (before !== undefined) run(graph, observed(pods, { uid: 'o', ...before }));
    const effects = run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG }));
    expect(said(effects)).toEqual(expected === 'starts' ? ['observed o startsWaiting'] : []);
  });

  it('BETTER-7 a state that no event showed cannot hide a start', () => {
    const graph = new OwnershipGraph();
    // Deleted in foreground, the finalizer removed by hand, deleted again in foreground; the middle was never seen.
    run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG }));
    run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: [] }));
    expect(said(run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG })))).toEqual([
      'observed o startsWaiting',
    ]);
  });

  it('COL-063 re-adding ORPHAN is a start again', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG }));
    expect(said(run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: ORPHAN })))).toEqual([
      'orphan observed o startsOrphaning',
    ]);
  });

  it('COL-065 deletingDependents stays, but the node waits no more', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o', deleting: true, finalizers: [...FG, 'x/y'] }),
      observed(pods, { uid: 'o', deleting: true, finalizers: ['x/y'] }),
    );
    expect(graph.node('o')?.deletingDependents).toBe(true);
    expect(graph.isWaiting(graph.find('o'))).toBe(false);
  });

  it('COL-211 a virtual owner that turns out to be deleted in foreground starts', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: FG })))).toEqual([
      'alive o',
      'observed a ownerStartsWaiting',
      'observed o startsWaiting',
    ]);
  });
});

describe('blocking dependents', () => {
  const block = (uid: string) => ref(uid, { blockOwnerDeletion: true });
  const waiting = (uid: string) => observed(pods, { uid, deleting: true, finalizers: ['foregroundDeletion'] });

  it('COL-100 are those with a reference that blocks; absent means it does not', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [block('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o')] }),
      observed(pods, { uid: 'c', owners: [ref('o', { blockOwnerDeletion: false })] }),
    );
    const count = () => graph.blockingDependents(graph.find('o')).count;
    expect(count()).toBe(1);
    run(graph, waiting('o'));
    expect(count()).toBe(1);
    run(graph, observed(pods, { uid: 'b', owners: [block('o')] }));
    expect(count()).toBe(2);
    run(graph, deleted(pods, 'a'), observed(pods, { uid: 'b' }));
    expect(count()).toBe(0);
  });

  it('COL-109 COL-102 whoever knew when one was last added sees that another came, and that the wait is another one', () => {
    const graph = new OwnershipGraph();
    const lastAddition = () => graph.blockingDependents(graph.find('o')).lastAddition;
    const a = observed(pods, { uid: 'a', owners: [block('o')] });
    run(graph, observed(pods, { uid: 'o' }), a, waiting('o'));
    const first = lastAddition();
    run(graph, observed(pods, { uid: 'o' }), waiting('o'));
    const second = lastAddition();
    expect(second).toBeGreaterThan(first);
    run(graph, observed(pods, { uid: 'b', owners: [block('o')] }));
    const third = lastAddition();
    expect(third).toBeGreaterThan(second);
    run(graph, deleted(pods, 'a'));
    expect(lastAddition()).toBe(third);
    run(graph, deleted(pods, 'b'), deleted(pods, 'o'), a, waiting('o'));
    expect(lastAddition()).toBeGreaterThan(third);
  });

  it('BETTER-10 an owner that refers to itself is queued after its dependents, too', () => {
    const graph = new OwnershipGraph();
    const itself = { uid: 'o', owners: [ref('o')] };
    run(graph, observed(pods, itself), observed(pods, { uid: 'a', owners: [ref('o')] }));
    const waits = observed(pods, { ...itself, deleting: true, finalizers: ['foregroundDeletion'] });
    expect(said(run(graph, waits))).toEqual(['observed a ownerStartsWaiting', 'observed o startsWaiting']);
  });

  it('BETTER-10, COL-10D a reference to itself never blocks', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o', owners: [block('o')] }), waiting('o'));
    run(graph, observed(pods, { uid: 'o', owners: [block('o')], deleting: true, finalizers: ['foregroundDeletion'] }));
    expect(graph.blockingDependents(graph.find('o')).count).toBe(0);
    graph.forEachBlockingDependent(graph.find('o'), () => expect.unreachable());
  });
});

describe('coordinates', () => {
  const inOther = { namespace: 'ns2' };

  it('COL-073 an owner found elsewhere queues those who named it wrongly, and reports a wrong namespace', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', ...inOther, owners: [ref('o')] }),
      observed(pods, { uid: 'c', ...inOther, owners: [ref('o', { name: 'x' })] }),
    );
    expect(said(run(graph, observed(pods, { uid: 'o', ...inOther })))).toEqual([
      'alive o',
      'observed c potentiallyInvalid',
      'report a -> o',
      'observed a potentiallyInvalid',
    ]);
    expect(graph.node('o')).toMatchObject({ state: 'observed', identity: { namespace: 'ns2' } });
  });

  it('COL-074 a dependent with two references to one uid can match and mismatch', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o', { name: 'x' }), ref('o')] }));
    expect(said(run(graph, virtualDelete(podIdentity('o', { name: 'x' }))))).toEqual([
      'absent o Pod ns/x',
      'observed a ownerGone',
      'virtual o alternativeIdentity later',
    ]);
    expect(graph.node('o')?.identity.name).toBe('o');
    expect(graph.node('a')?.ownerReferences).toEqual([ref('o', { name: 'x' }), ref('o')]);
  });

  it.each<
    [string, Parameters<typeof observed>[1] | undefined, { namespace?: string }, ReturnType<typeof ref>, string[]]
  >([
    ['fits', { uid: 'o' }, {}, ref('o'), []],
    [
      'is in another namespace (1)',
      { uid: 'o', ...inOther },
      {},
      ref('o'),
      ['report a -> o', 'observed a potentiallyInvalid'],
    ],
    ['has another name (2)', { uid: 'o' }, {}, ref('o', { name: 'x' }), ['observed a potentiallyInvalid']],
    ['has another kind (2)', { uid: 'o' }, {}, ref('o', { kind: 'Secret' }), ['observed a potentiallyInvalid']],
    [
      'has another version (2, COL-074)',
      { uid: 'o' },
      {},
      ref('o', { apiVersion: 'v2' }),
      ['observed a potentiallyInvalid'],
    ],
    [
      'is namespaced and the dependent is not',
      { uid: 'o' },
      cluster,
      ref('o'),
      ['report a -> o', 'observed a potentiallyInvalid'],
    ],
    ['is cluster-scoped', { uid: 'o', ...cluster }, {}, ref('o'), []],
    ['and the dependent are cluster-scoped (COL-142)', { uid: 'o', ...cluster }, cluster, ref('o'), []],
  ])('COL-078, COL-143 linking to an observed owner that %s', (_, owner, dependent, reference, expected) => {
    const graph = new OwnershipGraph();
    if (owner !== undefined) run(graph, observed(pods, owner));
    expect(said(run(graph, observed(pods, { uid: 'a', ...dependent, owners: [reference] })))).toEqual(expected);
  });

  it.each([
    ['in another namespace (1): no report', {}, inOther, ref('o'), ['observed b potentiallyInvalid']],
    ['under other coordinates (2)', {}, {}, ref('o', { name: 'x' }), ['observed b potentiallyInvalid']],
    ['without namespace, from a namespaced dependent (3)', cluster, {}, ref('o'), ['observed b potentiallyInvalid']],
    ['without namespace, from a cluster-scoped dependent', cluster, cluster, ref('o'), []],
    ['as before', {}, {}, ref('o'), []],
  ])('COL-078 linking to a virtual owner %s', (_, first, second, reference, expected) => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', ...first, owners: [ref('o')] }));
    expect(said(run(graph, observed(pods, { uid: 'b', ...second, owners: [reference] })))).toEqual(expected);
  });

  it('COL-078 after the first hit the remaining references are linked but not checked', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o', ...inOther }), observed(pods, { uid: 'p', ...inOther }));
    const owners = [ref('o'), ref('p'), ref('q')];
    expect(said(run(graph, observed(pods, { uid: 'a', owners })))).toEqual([
      'report a -> o',
      'virtual q virtualOwner',
      'observed a potentiallyInvalid',
    ]);
    expect(graph.dependents('p')).toEqual(['a']);
  });

  it('COL-144 the report carries the dependent and its first reference to that uid', () => {
    const graph = new OwnershipGraph();
    const owners = [ref('o', { name: 'first' }), ref('o', { name: 'second' })];
    const [report] = run(graph, observed(pods, { uid: 'o', ...inOther }), observed(pods, { uid: 'a', owners }));
    expect(report).toEqual({
      effect: 'reportInvalidNamespace',
      dependent: podIdentity('a'),
      ownerReference: { apiVersion: 'v1', kind: 'Pod', name: 'first', uid: 'o' },
      reason: 'OwnerRefInvalidNamespace',
    });
  });
});

describe('virtual deletes', () => {
  it('COL-075 with all dependents agreeing the virtual node goes and they are queued', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, virtualDelete(podIdentity('o'))))).toEqual(['absent o Pod ns/o', 'observed a ownerGone']);
    expect(graph.find('o')).toBe(-1);
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(true);
  });

  it('COL-075 nobody matches: nothing is noted, but another identity is tried', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o', { name: 'x' })] }),
      observed(pods, { uid: 'a' }),
    );
    expect(said(run(graph, virtualDelete(podIdentity('o'))))).toEqual(['virtual o alternativeIdentity later']);
    expect(graph.node('o')?.identity.name).toBe('x');
  });

  it('COL-075 about an identity that is not the recorded one: the node keeps its own', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o', { name: 'x' })] }),
    );
    expect(said(run(graph, virtualDelete(podIdentity('o', { name: 'x' }))))).toEqual([
      'absent o Pod ns/x',
      'observed b ownerGone',
    ]);
    expect(graph.node('o')?.identity.name).toBe('o');
  });

  it('COL-077 about an observed node with the same identity it is a deletion', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }));
    expect(said(run(graph, virtualDelete(podIdentity('o'))))).toEqual(['absent o Pod ns/o', 'observed a ownerGone']);
    expect(graph.find('o')).toBe(-1);
  });

  it('COL-077 about an observed node with another identity only those who meant that are queued', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'good', owners: [ref('o')] }),
      observed(pods, { uid: 'bad', owners: [ref('o', { name: 'x' })] }),
    );
    expect(said(run(graph, virtualDelete(podIdentity('o', { name: 'x' }))))).toEqual([
      'absent o Pod ns/x',
      'observed bad ownerGone',
    ]);
    expect(said(run(graph, virtualDelete(podIdentity('o', { name: 'y' }))))).toEqual([]);
    expect(graph.node('o')?.state).toBe('observed');
  });

  it('COL-058 about an unknown uid it is ignored', () => {
    expect(applied(new OwnershipGraph(), virtualDelete(podIdentity('o'))).outcome).toBe('ignored');
  });
});

describe('lists and vanished resources', () => {
  it('COL-047 BETTER-9 reads objects that a list lacks while anything depends on them, and forgets the others', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(replicaSets, { uid: 'r' }),
      observed(pods, { uid: 'free' }),
      { type: 'listStarted', resource: pods },
      observed(pods, { uid: 'a', owners: [ref('o')] }),
    );
    const effects = run(graph, { type: 'listFinished', resource: pods });
    expect(said(effects)).toEqual(['observed o notListed']);
    expect([graph.node('o')?.unlisted, graph.node('a')?.unlisted, graph.find('free')]).toEqual([true, false, -1]);
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(false);
    expect(graph.find('r')).toBeGreaterThanOrEqual(0);
    expect(said(run(graph, virtualDelete(podIdentity('o'))))).toEqual(['absent o Pod ns/o', 'observed a ownerGone']);
  });

  it('COL-101 COL-122 keeps what a list lacks while its owner waits for it, or lets it go', () => {
    for (const finalizer of ['foregroundDeletion', 'orphan']) {
      const graph = new OwnershipGraph();
      const deletion = { deleting: true, finalizers: [finalizer] };
      run(
        graph,
        observed(replicaSets, { uid: 'r', ...deletion }),
        observed(pods, { uid: 'd', owners: [ref('r', rsRef)] }),
      );
      run(graph, { type: 'listStarted', resource: pods });
      expect(said(run(graph, { type: 'listFinished', resource: pods }))).toEqual(['observed d notListed']);
      expect(graph.dependents('r')).toEqual(['d']);
    }
  });

  it('COL-116 believes nothing when more than the limit is missing from a list, until another one confirms it', () => {
    const graph = new OwnershipGraph();
    for (const uid of ['o', 'a', 'b', 'c', 'd']) run(graph, observed(pods, { uid }));
    run(graph, observed(replicaSets, { uid: 'r', owners: [ref('o')] }));
    const list = (limit: VanishLimit | undefined, ...shown: string[]): readonly Effect[] =>
      run(graph, { type: 'listStarted', resource: pods }, ...shown.map((uid) => observed(pods, { uid })), {
        type: 'listFinished',
        resource: pods,
        ...(limit === undefined ? {} : { limit }),
      });
    const limit = { objects: 3, share: 0.5 };
    expect(list(limit, 'd')).toEqual([{ effect: 'heldAbsences', resource: pods, missing: 4, known: 5 }]);
    expect([graph.counts.observed, graph.node('a')?.unlisted]).toEqual([6, true]);
    expect(said(list(limit, 'o', 'b', 'c', 'd'))).toEqual([]);
    expect([graph.counts.observed, graph.find('a')]).toEqual([5, -1]);
    expect(list(limit, 'd')).toHaveLength(1);
    expect(said(list(undefined, 'd'))).toEqual(['observed o notListed']);
    expect(graph.counts.observed).toBe(3);
  });

  it('COL-053 COL-063 a list queues what changed unseen and refers to an owner that is not there, once, and nothing else', () => {
    const graph = new OwnershipGraph();
    const seen = (uid: string, resourceVersion: string, ...owners: string[]): GraphEvent =>
      observed(pods, { uid, resourceVersion, owners: owners.map((owner) => ref(owner)) });
    const list = (resourceVersion: string): GraphEvent[] => [
      seen('gone', resourceVersion, 'o', 'o2'),
      seen('virtual', resourceVersion, 'owner', 'v'),
      seen('fine', resourceVersion, 'owner'),
      seen('free', resourceVersion),
      seen('owner', resourceVersion),
    ];
    run(graph, seen('o', '1'), seen('o2', '1'), ...list('1'), deleted(pods, 'o'), deleted(pods, 'o2'));
    const queued = (...events: GraphEvent[]): string[] => said(run(graph, ...events));
    expect(queued(...list('2'))).toEqual([]);
    expect(queued({ type: 'listStarted', resource: pods }, ...list('2'))).toEqual([]);
    expect(queued({ type: 'listStarted', resource: pods }, ...list('3'), ...list('4'))).toEqual([
      'observed gone changedUnseen',
      'observed virtual changedUnseen',
    ]);
  });

  it('COL-001 COL-053 a list queues what changed unseen when a reference only blocks no more, or its owner waits, or does not fit', () => {
    const graph = new OwnershipGraph();
    const waiting = { deleting: true, finalizers: ['foregroundDeletion'] } as const;
    const list = (resourceVersion: string, blockOwnerDeletion: boolean): GraphEvent[] => [
      observed(pods, { uid: 'blocks', resourceVersion, owners: [ref('o', { blockOwnerDeletion })] }),
      observed(pods, { uid: 'held', resourceVersion, owners: [ref('w')] }),
      observed(pods, { uid: 'strange', resourceVersion, owners: [ref('f', { name: 'another' })] }),
      observed(pods, { uid: 'f', resourceVersion }),
    ];
    run(graph, observed(pods, { uid: 'o' }), observed(replicaSets, { uid: 'w', ...waiting }), ...list('1', true));
    run(graph, deleted(pods, 'o'));
    expect(said(run(graph, { type: 'listStarted', resource: pods }, ...list('2', false)))).toEqual([
      'observed blocks changedUnseen',
      'observed held changedUnseen',
      'observed strange changedUnseen',
    ]);
  });

  it('COL-062 COL-063 a list that shows a waiting owner changed queues its dependents, as when it began to wait', () => {
    const graph = new OwnershipGraph();
    const list = (resourceVersion: string): GraphEvent[] => [
      observed(pods, { uid: 'w', resourceVersion, deleting: true, finalizers: ['foregroundDeletion'] }),
      observed(pods, { uid: 'o', resourceVersion, deleting: true, finalizers: ['orphan'] }),
      observed(pods, { uid: 'lives', resourceVersion }),
    ];
    run(graph, ...list('1'));
    for (const uid of ['w', 'o', 'lives']) run(graph, observed(replicaSets, { uid: `of ${uid}`, owners: [ref(uid)] }));
    const queued = (...events: GraphEvent[]): string[] => said(run(graph, ...events));
    expect(queued(...list('2'))).toEqual([]);
    expect(queued({ type: 'listStarted', resource: pods }, ...list('2'))).toEqual([]);
    expect(queued({ type: 'listStarted', resource: pods }, ...list('3'))).toEqual(['observed of w changedUnseen']);
    const other = { uid: 'w', resourceVersion: '4', deleting: true, finalizers: ['foregroundDeletion', 'x'] } as const;
    expect(queued({ type: 'listStarted', resource: pods }, observed(pods, other))).toEqual([
      'observed of w changedUnseen',
    ]);
  });

  it('COL-002 COL-047 the list of one of two resources of a kind says nothing about the objects of the other', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(replicaSets, { uid: 'd', owners: [ref('o')] }));
    const effects = run(graph, { type: 'listStarted', resource: standbyPods }, observed(standbyPods, { uid: 's' }), {
      type: 'listFinished',
      resource: standbyPods,
    });
    expect(effects).toEqual([]);
    expect(graph.resourceAt(graph.find('o'))).toBe('pods');
    expect(graph.resourceAt(graph.find('s'))).toBe('standbypods');
    const list = (...events: GraphEvent[]): string[] =>
      said(
        run(graph, { type: 'listStarted', resource: pods }, ...events, {
          type: 'listFinished',
          resource: pods,
        }),
      );
    expect(list(observed(pods, { uid: 'o' }))).toEqual([]);
    expect(list()).toEqual(['observed o notListed']);
    expect(graph.find('s')).toBeGreaterThanOrEqual(0);
  });

  it('BETTER-2 one of two resources of a kind vanishes without the objects of the other', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(replicaSets, { uid: 'd', owners: [ref('o')] }));
    run(graph, observed(standbyPods, { uid: 's' }));
    expect(run(graph, { type: 'resourceVanished', resource: standbyPods })).toEqual([]);
    expect([graph.find('s'), graph.node('o')?.state]).toEqual([-1, 'observed']);
    // The place of the removed node is free again.
    run(graph, observed({ ...pods, resource: 'sparepods' }, { uid: 't' }));
    expect([graph.resourceAt(graph.find('t')), graph.resources.size]).toEqual(['sparepods', 3]);
    expect(said(run(graph, { type: 'resourceVanished', resource: pods }))).toEqual([
      'alive o',
      'virtual o observationLost',
    ]);
    expect(graph.resourceAt(graph.find('o'))).toBeUndefined();
    expect(graph.node('t')?.identity.kind).toBe('Pod');
  });

  it('COL-212 COL-055 what one of two resources shows late takes nothing back of what the other has shown', () => {
    const graph = new OwnershipGraph();
    const waiting = { uid: 'o', deleting: true, finalizers: ['foregroundDeletion'] };
    run(
      graph,
      observed(pods, { ...waiting, resourceVersion: '120' }),
      observed(replicaSets, { uid: 'd', owners: [ref('o')] }),
    );
    const { outcome, effects } = applied(graph, observed(standbyPods, { uid: 'o', resourceVersion: '110' }));
    expect([outcome, effects]).toEqual(['unchanged', []]);
    expect(graph.node('o')).toMatchObject({ beingDeleted: true, deletingDependents: true, resourceVersion: '120' });
    // The resource still has the object.
    expect(run(graph, { type: 'resourceVanished', resource: pods })).not.toContainEqual(
      expect.objectContaining({ uid: 'o' }),
    );
    expect(graph.node('o')?.state).toBe('observed');
    // The next version is older too, although this resource has the object by now.
    expect(applied(graph, observed(standbyPods, { uid: 'o', resourceVersion: '115' })).outcome).toBe('unchanged');
    expect(graph.node('o')).toMatchObject({ beingDeleted: true, deletingDependents: true, resourceVersion: '120' });
    expect(applied(graph, observed(standbyPods, { uid: 'o', resourceVersion: '130' })).outcome).toBe('wentBack');
    // The resource has reached the version: its events count again, like those of any other.
    expect(applied(graph, observed(standbyPods, { ...waiting, resourceVersion: '125' })).outcome).toBe('changed');
  });

  it.each<{ of?: 'serverBeside'; before: MonitoredResource[]; after: MonitoredResource[]; what: string }>([
    { before: [standbyPods], after: [pods, standbyPods], what: 'both have shown it before' },
    { before: [], after: [standbyPods, pods], what: 'one of them only now' },
    {
      of: 'serverBeside',
      before: [standbyPods],
      after: [pods, standbyPods],
      what: 'of a server beside kube-apiserver',
    },
  ])('COL-055 COL-212 of two resources both are believed again after a reset of history: $what', (reset) => {
    const { of, before, after } = reset;
    const graph = new OwnershipGraph();
    const restored = { uid: 'o', resourceVersion: '300' };
    run(graph, observed(pods, { uid: 'o', deleting: true, finalizers: ['x/y'], resourceVersion: '900' }));
    run(graph, ...before.map((resource) => observed(resource, restored)));
    expect(graph.node('o')).toMatchObject({ beingDeleted: true, resourceVersion: '900' });
    run(graph, { type: 'historyReset', ...(of === undefined ? {} : { of }) });
    expect(graph.node('o')?.resourceVersion).toBeUndefined();
    expect(after.map((resource) => applied(graph, observed(resource, restored)).outcome)).toEqual([
      'wentBack',
      'unchanged',
    ]);
    expect(graph.node('o')).toMatchObject({ beingDeleted: false, otherFinalizers: false, resourceVersion: '300' });
  });

  it('BETTER-9 a server beside kube-apiserver that went back takes no version from the objects of others', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o', resourceVersion: '900' }), { type: 'historyReset', of: 'serverBeside' });
    expect(graph.node('o')?.resourceVersion).toBe('900');
  });

  it('COL-053 COL-05A an owner that is not there is asked for when another version of the resource shows a later object', () => {
    const later = { ...pods, apiVersion: 'v2' };
    const graph = new OwnershipGraph();
    const object = { uid: 'd', owners: [ref('gone')] };
    run(graph, observed(pods, { ...object, resourceVersion: '10' }));
    expect(said(run(graph, observed(later, { ...object, resourceVersion: '10' })))).toEqual([]);
    expect(said(run(graph, observed(pods, { ...object, resourceVersion: '12' })))).toEqual([
      'observed d changedUnseen',
    ]);
  });

  it('COL-015 an object that two resources of a kind show is of the one that showed it last', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(standbyPods, { uid: 'o' }));
    expect(graph.resourceAt(graph.find('o'))).toBe('standbypods');
    run(graph, { type: 'listStarted', resource: pods }, { type: 'listFinished', resource: pods });
    expect(graph.counts.observed).toBe(1);
    run(graph, { type: 'listStarted', resource: standbyPods }, observed(pods, { uid: 'o' }));
    run(graph, { type: 'listFinished', resource: standbyPods });
    expect(graph.counts.observed).toBe(1);
  });

  it('a kind has up to 256 resources; one more is refused, and nothing of it is kept', () => {
    const graph = new OwnershipGraph();
    const nth = (i: number): MonitoredResource => ({ ...pods, resource: `pods${i}` });
    for (let i = 0; i < 256; i++) apply(graph, observed(nth(i), { uid: `u${i}`, name: 'x'.repeat(i % 250) }), []);
    expect(() => apply(graph, { type: 'listStarted', resource: nth(256) }, [])).toThrow(RangeError);
    for (const i of [0, 127, 128, 255]) {
      const id = graph.find(`u${i}`);
      expect([graph.resourceAt(id), graph.identityAt(id).name]).toEqual([`pods${i}`, 'x'.repeat(i % 250)]);
    }
    for (let i = 0; i < 256; i++) apply(graph, { type: 'resourceVanished', resource: nth(i) }, []);
    expect([graph.counts.nodes, graph.nodes.sharedTextCount, graph.resources.size]).toEqual([0, 0, 0]);
  });

  it('COL-047 a list that is begun again starts over', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      { type: 'listStarted', resource: pods },
      observed(pods, { uid: 'a' }),
      { type: 'listStarted', resource: pods },
      { type: 'listFinished', resource: pods },
    );
    expect(graph.counts.nodes).toBe(0);
  });

  it('COL-027, BETTER-2 nodes of a vanished resource become virtual while somebody refers to them', () => {
    const graph = new OwnershipGraph();
    run(
      graph,
      observed(replicaSets, { uid: 'd', deleting: true, finalizers: ['foregroundDeletion'] }),
      observed(pods, { uid: 'o', owners: [ref('d', { ...rsRef, blockOwnerDeletion: true })] }),
      observed(pods, { uid: 'p', owners: [ref('o')] }),
      observed(replicaSets, { uid: 'r', owners: [ref('o')] }),
    );
    expect(said(run(graph, { type: 'resourceVanished', resource: pods }))).toEqual([
      'observed d dependentReleased',
      'alive o',
      'virtual o observationLost',
    ]);
    expect(graph.node('o')).toMatchObject({ state: 'virtual', ownerReferences: [] });
    expect(graph.find('p')).toBe(-1);
    expect(graph.blockingDependents(graph.find('d')).count).toBe(0);
    expect(graph.dependents('o')).toEqual(['r']);
  });

  it('COL-028 removing and adding a resource any number of times leaves nothing behind', () => {
    const graph = new OwnershipGraph();
    const before = graph.nodes.sharedTextCount;
    for (let i = 0; i < 5; i++) {
      const resource = { apiVersion: 'example.com/v1', kind: `Kind${i}`, resource: 'kinds' };
      expect(applied(graph, observed(resource, { uid: `u${i}` })).outcome).toBe('changed');
      run(graph, { type: 'resourceVanished', resource: { ...resource } });
    }
    expect(graph.counts.nodes).toBe(0);
    expect(graph.nodes.sharedTextCount).toBe(before);
  });

  it('COL-045 a resource that comes back has its own kind again, whoever has taken the place of the old one', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'a' }), { type: 'resourceVanished', resource: pods });
    run(graph, observed(replicaSets, { uid: 'b' }), { type: 'resourceVanished', resource: nodes });
    run(graph, observed(pods, { uid: 'c' }));
    expect(graph.node('c')?.identity).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    // The pods are now the resource that was used last.
    run(graph, { type: 'resourceVanished', resource: pods }, observed(pods, { uid: 'd' }));
    expect(graph.node('d')?.identity).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    run(graph, observed(nodes, { uid: 'e' }));
    expect(graph.node('d')?.identity.kind).toBe('Pod');
    expect(graph.node('e')?.identity.kind).toBe('Node');
  });

  it('BETTER-14 after a reset of history nothing is known to be gone', () => {
    const graph = new OwnershipGraph();
    run(graph, observed(pods, { uid: 'o' }), observed(pods, { uid: 'a', owners: [ref('o')] }), deleted(pods, 'o'));
    expect(said(run(graph, { type: 'historyReset' }))).toEqual(['alive o', 'virtual o historyReset']);
    expect(graph.isKnownGone(ref('o'), 'ns')).toBe(false);
    expect(graph.counts).toMatchObject({ virtual: 1, gone: 0 });
  });
});

const rsRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet' };

function podIdentity(uid: string, change: Partial<Identity> = {}): Identity {
  return { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: uid, uid, ...change };
}

function virtualDelete(identity: Identity): GraphEvent {
  return { type: 'virtualDelete', identity };
}
