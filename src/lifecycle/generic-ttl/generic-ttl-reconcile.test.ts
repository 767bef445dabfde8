import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { annotatedObjects } from './annotated-objects.ts';
import { decideGenericTtl, mayHaveTtl } from './generic-ttl-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const NOW = START + 10 * HOUR;
const ready = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(START + 8 * HOUR) };
const object = (
  annotations: Record<string, string>,
  conditions: unknown = [ready],
  metadata: object = {},
): KubeObject => ({
  metadata: { name: 'o', creationTimestamp: formatTime(START), annotations, ...metadata },
  status: { conditions },
});
const ttl = (text: string) => ({ 'kubegc.io/ttl': text });
const after = (text: string) => ({ 'kubegc.io/ttl-after-condition': text });
const nothing = (reason: string) => ({ verdict: 'nothing', reason });

describe('LIFE-090 the TTL of an object', () => {
  it.each([
    ['runs from its creation', object(ttl('12h')), { verdict: 'wait', reason: 'ttl', untilMs: START + 12 * HOUR }],
    ['is over at its end', object(ttl('10h')), { verdict: 'delete', reason: 'ttl' }],
    [
      'runs from the time of a condition',
      object(after('Ready=False,3h')),
      { verdict: 'wait', reason: 'ttlAfterCondition', untilMs: START + 11 * HOUR },
    ],
    ['is over for a condition', object(after('Ready=False,2h')), { verdict: 'delete', reason: 'ttlAfterCondition' }],
    ['waits for the status of the condition', object(after('Ready=True,0s')), nothing('otherStatus')],
    ['waits for the condition', object(after('Done=True,0s')), nothing('otherStatus')],
    [
      'waits for the time of the condition',
      object(after('Ready=False,0s'), [{ ...ready, lastTransitionTime: null }]),
      nothing('otherStatus'),
    ],
    [
      'is not misled by conditions of another form',
      object(after('Ready=False,0s'), { Ready: 'False' }),
      nothing('otherStatus'),
    ],
    [
      'ends at the earlier of two times',
      object({ ...ttl('12h'), ...after('Ready=False,3h') }),
      { verdict: 'wait', reason: 'ttlAfterCondition', untilMs: START + 11 * HOUR },
    ],
    [
      'runs from the creation while the condition is another',
      object({ ...ttl('10h'), ...after('Ready=True,3h') }),
      { verdict: 'delete', reason: 'ttl' },
    ],
    ['cannot be a number', object(ttl('10')), nothing('unreadable')],
    ['cannot be negative', object(ttl('-1h')), nothing('unreadable')],
    ['cannot lack a part', object(after('Ready,3h')), nothing('unreadable')],
    ['cannot be half readable', object({ ...ttl('1h'), ...after('x') }), nothing('unreadable')],
    ['is none without an annotation', object({}), nothing('noTtl')],
    ['does not count for a protected object', object({ ...ttl('1h'), 'kubegc.io/protect': '' }), nothing('protected')],
    [
      'does not count for one that is being deleted',
      object(ttl('1h'), [], { deletionTimestamp: formatTime(NOW) }),
      nothing('terminating'),
    ],
  ])('%s', (_, subject, expected) => {
    expect(decideGenericTtl(subject, NOW)).toEqual(expected);
  });
});

describe('LIFE-090 annotations that a controller copied', () => {
  const controlled = (kind: string, controller: boolean) => ({
    kind,
    ...object(ttl('1h'), [], {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Owner', name: 'd', uid: '1', controller }],
    }),
  });

  it.each(['ReplicaSet', 'ControllerRevision'])('never delete a %s of a controller', (kind) => {
    expect(decideGenericTtl(controlled(kind, true), NOW)).toEqual(nothing('owned'));
    expect(decideGenericTtl(controlled(kind, false), NOW).verdict).toBe('delete');
    expect(decideGenericTtl({ kind, ...object(ttl('1h')) }, NOW).verdict).toBe('delete');
  });

  it('delete other kinds, whose annotations a person writes into a template', () => {
    expect(decideGenericTtl(controlled('Pod', true), NOW).verdict).toBe('delete');
  });
});

describe('LIFE-090 the kinds with a TTL', () => {
  const verbs = ['get', 'list', 'watch', 'delete'];
  const may = (group: string, resource: string, listed: string[] = [], has = verbs) =>
    mayHaveTtl({ group, resource, verbs: has }, listed);

  it.each([
    ['', 'namespaces', 'namespaces'],
    ['', 'nodes', 'nodes'],
    ['', 'persistentvolumes', 'persistentvolumes'],
    ['', 'persistentvolumeclaims', 'persistentvolumeclaims'],
    ['apiextensions.k8s.io', 'customresourcedefinitions', 'apiextensions.k8s.io/customresourcedefinitions'],
  ])('%s %s only when it is listed', (group, resource, name) => {
    expect([may(group, resource), may(group, resource, ['pods']), may(group, resource, [name])]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('are all others that can be watched and deleted, except Events', () => {
    expect([may('', 'pods'), may('example.com', 'nodes'), may('example.com', 'events')]).toEqual([true, true, true]);
    expect([may('', 'events'), may('events.k8s.io', 'events'), may('', 'pods/status')]).toEqual([false, false, false]);
    for (const verb of verbs)
      expect(
        may(
          '',
          'pods',
          [],
          verbs.filter((each) => each !== verb),
        ),
      ).toBe(false);
  });
});

it('LIFE-090 only objects whose bytes name the annotation are parsed', () => {
  const found: (string | undefined)[] = [];
  const sink = annotatedObjects({
    present: ({ metadata }) => found.push(metadata?.name),
    deleted: ({ metadata }) => found.push(`deleted ${metadata?.name}`),
  });
  const bytes = Buffer.from(`{broken${JSON.stringify(object(ttl('1h')))}`);
  sink.added(bytes, 0, 7);
  sink.added(bytes, 7, bytes.length);
  sink.modified(bytes, 7, bytes.length);
  sink.deleted(bytes, 0, 7);
  sink.deleted(bytes, 7, bytes.length);
  expect(found).toEqual(['o', 'o', 'deleted o']);
});
