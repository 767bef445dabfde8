import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { formatTime } from '../../src/api/meta/time.ts';
import { writeGuard } from '../../src/cli/flags/write-guard.ts';
import { goBackInTime } from './back-in-time.ts';
import { backup } from './backup.ts';
import { resetAfter, refuse } from './faults.ts';
import { clusterRole, clusterWidget, configMap, event, refTo, refToNothing, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** An owner that was deleted with policy Orphan stays known for a while: a dependent that appears late is orphaned as well (lifecycle 14.4). */
let rig: Rig;
const HOUR_MS = 3_600_000;

beforeEach(async () => {
  rig = await Rig.start({ serve: [configMap, secret, clusterRole, event] });
  rig.serve(widget);
  rig.serve(clusterWidget);
});
afterEach(() => rig.stop());

async function orphaned(): Promise<KubeObject> {
  const owner = await rig.create(configMap, 'owner');
  await rig.delete(configMap, 'owner', 'Orphan');
  await rig.rest();
  expect(await rig.get(configMap, 'owner')).toBeUndefined();
  return owner;
}

const late = (): number => rig.metrics.value('kubegc_orphan_late_references_total') ?? 0;
const COMPONENT = 'garbage-collector-controller';
interface Forgery {
  readonly name?: string;
  readonly namespace?: string;
  readonly about?: Record<string, unknown>;
  readonly more?: Record<string, unknown>;
}
/** Writes the record that a collector would have written about an owner in the namespace default, or nearly the same. */
const forge = async (owner: KubeObject, { name, namespace = 'default', about, more }: Forgery = {}): Promise<void> => {
  const { apiVersion, kind, metadata } = owner;
  const time = formatTime(rig.clock.now());
  const object = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: name ?? `orphaned-${metadata?.uid}`, namespace },
    involvedObject: { apiVersion, kind, name: metadata?.name, namespace: 'default', uid: metadata?.uid, ...about },
    reason: 'DependentsOrphaned',
    type: 'Normal',
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    firstTimestamp: time,
    lastTimestamp: time,
    ...more,
  };
  await rig.wait(rig.client.create({ gvr: event.gvr, namespace }, object));
};
const memoryOnly = () => rig.logger.lines.filter(({ message }) => message.includes('remembered in memory only'));
const events = async (reason: string): Promise<(KubeObject & Record<string, unknown>)[]> => {
  await rig.advance(1000);
  const { items } = await rig.wait(rig.client.list<KubeObject & Record<string, unknown>>({ gvr: event.gvr }));
  return items.filter((each) => each['reason'] === reason);
};

describe('LIFE-560 a dependent that comes when its owner was orphaned', () => {
  beforeEach(() => rig.startCollector());

  it.each([secret, widget])('lives without the reference, is reported and counted ($kind)', async (kind) => {
    const owner = await orphaned();
    await rig.create(kind, 'late', { owners: [refTo(owner, { controller: true, block: true })] });
    await rig.rest();
    expect(await rig.owners(kind, 'late')).toEqual([]);
    expect(late()).toBe(1);
    const [told] = await events('OrphanedOwnerReferenceReleased');
    expect(told).toMatchObject({ type: 'Normal', involvedObject: { kind: kind.kind, name: 'late' } });
  });

  it('lives also when the reference is added to something that is there', async () => {
    const owner = await orphaned();
    await rig.create(secret, 'late');
    await rig.patch(secret, 'late', { ownerReferences: [refTo(owner)] });
    await rig.rest();
    expect(await rig.owners(secret, 'late')).toEqual([]);
  });

  it('lives when all of its owners were orphaned', async () => {
    const first = await orphaned();
    const second = await orphaned();
    await rig.create(secret, 'late', { owners: [refTo(first), refTo(second)] });
    await rig.rest();
    expect(await rig.owners(secret, 'late')).toEqual([]);
    expect(late()).toBe(2);
  });

  it('is decided by its other owners: gone with those that are gone, kept by those that live', async () => {
    const owner = await orphaned();
    const living = await rig.create(configMap, 'living');
    await rig.create(secret, 'garbage', { owners: [refTo(owner), refToNothing(configMap, 'never')] });
    await rig.create(secret, 'kept', { owners: [refTo(owner), refTo(living)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['kept']);
    expect(await rig.owners(secret, 'kept')).toEqual(['living']);
    expect(late()).toBe(0);
  });

  it('is patched with its uid and the version read', async () => {
    const owner = await orphaned();
    const { metadata } = await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    const [write] = rig.recorder.writes.filter(({ path }) => path.endsWith('/late'));
    const { uid, resourceVersion } = metadata ?? {};
    expect(write).toMatchObject({ method: 'PATCH', body: { metadata: { uid, resourceVersion } } });
  });

  it('is processed again when it changes at that moment, and keeps an owner that exists', async () => {
    const owner = await orphaned();
    const living = await rig.create(configMap, 'living');
    let changed = false;
    rig.faults.on({ method: 'PATCH', target: /late/ }, async (request, next) => {
      if (!changed) {
        changed = true;
        const ownerReferences = [refTo(owner), refTo(living)];
        await rig.client.patch(rig.at(secret, 'late'), {
          type: 'application/merge-patch+json',
          body: { metadata: { ownerReferences } },
        });
      }
      return next(request);
    });
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.owners(secret, 'late')).toEqual(['living']);
  });

  it('COL-140 COL-241 is garbage when it refers to another name, another kind, or from another namespace', async () => {
    const owner = await orphaned();
    await rig.create(secret, 'name', { owners: [refTo(owner, { name: 'x' })] });
    await rig.create(secret, 'kind', { owners: [refTo(owner, { kind: 'Secret' })] });
    await rig.create(secret, 'elsewhere', { owners: [refTo(owner)], namespace: 'kube-system' });
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['late']);
    expect(await rig.get(secret, 'elsewhere', 'kube-system')).toBeUndefined();
  });

  it('COL-142 lives in whatever namespace, and in none, when its owner is cluster-scoped', async () => {
    const owner = await rig.create(clusterRole, 'owner');
    await rig.delete(clusterRole, 'owner', 'Orphan');
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(owner)], namespace: 'kube-system' });
    await rig.create(clusterWidget, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.owners(secret, 'late', 'kube-system')).toEqual([]);
    expect(await rig.owners(clusterWidget, 'late')).toEqual([]);
  });

  it('LIFE-561 is garbage an hour later', async () => {
    const owner = await orphaned();
    await rig.advance(HOUR_MS + 1000);
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('LIFE-567 is garbage when the owner was deleted in another way', async () => {
    for (const policy of ['Background', 'Foreground'] as const) {
      const owner = await rig.create(configMap, 'owner');
      await rig.delete(configMap, 'owner', policy);
      await rig.rest();
      await rig.create(secret, 'late', { owners: [refTo(owner)] });
      await rig.rest();
      expect(await rig.names(secret)).toEqual([]);
    }
    expect(late()).toBe(0);
  });

  it('COL-10F is garbage when the deletion was changed to Background before it was seen', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.withoutCollector(async () => {
      await rig.delete(configMap, 'owner', 'Orphan');
      await rig.delete(configMap, 'owner', 'Background');
    });
    await rig.patch(configMap, 'owner', { finalizers: [] });
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('LIFE-553 lives when that happened after the others had been orphaned', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    rig.faults.on({ target: /configmaps\/owner/ }, refuse(503, 'ServiceUnavailable'));
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    await rig.delete(configMap, 'owner', 'Background');
    rig.faults.clear();
    await rig.patch(configMap, 'owner', { finalizers: [] });
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['late']);
  });
});

it('LIFE-561 is remembered for the time that is set', async () => {
  await rig.startCollector({ orphanRecordLifetimeMs: 3 * HOUR_MS });
  const owner = await orphaned();
  await rig.advance(2 * HOUR_MS);
  await rig.create(secret, 'late', { owners: [refTo(owner)] });
  await rig.rest();
  expect(await rig.names(secret)).toEqual(['late']);
  await rig.advance(HOUR_MS + 1000);
  await rig.create(secret, 'later', { owners: [refTo(owner)] });
  await rig.rest();
  expect(await rig.names(secret)).toEqual(['late']);
});

describe('LIFE-561 the record of an orphaned owner', () => {
  it('is an Event about it, written before it goes', async () => {
    await rig.startCollector({ orphanRecords: 'events' });
    const owner = await orphaned();
    const [record] = await events('DependentsOrphaned');
    const { name, uid } = owner.metadata ?? {};
    expect(record).toMatchObject({
      type: 'Normal',
      metadata: { namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name, uid },
    });
    const order = rig.recorder.all
      .filter(({ method }) => method === 'POST' || method === 'PATCH')
      .map(({ method }) => method);
    expect(order).toEqual(['POST', 'PATCH']);
  });

  it('lies in the namespace default for a cluster-scoped owner', async () => {
    await rig.startCollector({ orphanRecords: 'events' });
    await rig.create(clusterRole, 'owner');
    await rig.delete(clusterRole, 'owner', 'Orphan');
    await rig.rest();
    const [record] = await events('DependentsOrphaned');
    expect(record?.metadata?.namespace).toBe('default');
    expect(record?.['involvedObject']).not.toHaveProperty('namespace');
  });

  it('in memory is not known to the next collector, and costs no request', async () => {
    await rig.startCollector();
    const owner = await orphaned();
    expect(rig.recorder.counts).toEqual({ PATCH: 1 });
    await rig.withoutCollector(async () => {
      await rig.create(secret, 'late', { owners: [refTo(owner)] });
    });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('is read by the collector that takes over, before it takes anything for garbage', async () => {
    const first = await rig.startCollector({ orphanRecords: 'events' });
    const owner = await orphaned();
    await first.stop();
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.startCollector({ orphanRecords: 'events' });
    await rig.rest();
    expect(await rig.owners(secret, 'late')).toEqual([]);
  });

  it('is forgotten with its Event, which the server does not keep for longer than an hour', async () => {
    const first = await rig.startCollector({ orphanRecords: 'events' });
    const owner = await orphaned();
    await first.stop();
    await rig.advance(HOUR_MS + 120_000);
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.startCollector({ orphanRecords: 'events' });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('is kept in memory when the Event can not be written, reported once, and the owner goes all the same', async () => {
    rig.faults.on({ method: 'POST', target: /events/ }, refuse(500, 'InternalError'));
    await rig.startCollector({ orphanRecords: 'events' });
    const owners = [await orphaned(), await orphaned()];
    for (const [index, owner] of owners.entries())
      await rig.create(secret, `late-${index}`, { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['late-0', 'late-1']);
    expect(memoryOnly()).toHaveLength(1);
  });

  it('is one Event, however often its answer is lost', async () => {
    rig.faults.on({ method: 'POST', target: /events/ }, resetAfter, 1);
    rig.faults.on({ method: 'PATCH', target: /owner/ }, refuse(503, 'ServiceUnavailable'), 3);
    await rig.startCollector({ orphanRecords: 'events' });
    await orphaned();
    expect(await events('DependentsOrphaned')).toHaveLength(1);
  });

  it('may come from an earlier attempt', async () => {
    rig.faults.on({ method: 'PATCH', target: /owner/ }, refuse(503, 'ServiceUnavailable'), 3);
    await rig.startCollector({ orphanRecords: 'events' });
    await orphaned();
    expect(memoryOnly()).toEqual([]);
  });

  it('counts from the last attempt: an hour after the owner went, also for the next collector', async () => {
    const first = await rig.startCollector({ orphanRecords: 'events' });
    rig.faults.on({ method: 'PATCH', target: /owner/ }, refuse(503, 'ServiceUnavailable'));
    const owner = await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(50 * 60_000);
    rig.faults.clear();
    await rig.advance(61_000);
    expect(await rig.get(configMap, 'owner')).toBeUndefined();
    await first.stop();
    await rig.advance(11 * 60_000);
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.startCollector({ orphanRecords: 'events' });
    await rig.rest();
    expect(await rig.owners(secret, 'late')).toEqual([]);
  });

  it('that is not sent because the process does not lead is written later, and reported only when it is refused', async () => {
    let leading = true;
    rig.weather = writeGuard(() => leading);
    await rig.startCollector({ orphanRecords: 'events' });
    await rig.create(configMap, 'owner');
    leading = false;
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(1000);
    expect([await rig.names(configMap), memoryOnly()]).toEqual([['owner'], []]);
    leading = true;
    await rig.rest();
    expect([await rig.names(configMap), memoryOnly()]).toEqual([[], []]);
    expect(await events('DependentsOrphaned')).toHaveLength(1);
    rig.faults.on({ method: 'POST', target: /events/ }, refuse(403, 'Forbidden'));
    await orphaned();
    expect(memoryOnly()).toHaveLength(1);
  });

  it.each([
    ['events', 'is forgotten when a backup is restored that does not have it', []],
    // A known limit: the collector cannot know which records are still true.
    ['memory', 'stays in memory when a backup is restored', ['dependent']],
  ] as const)('kept in %s %s', async (orphanRecords, _what, left) => {
    await rig.startCollector({ orphanRecords });
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
    const restore = [await backup(rig, configMap, 'owner'), await backup(rig, secret, 'dependent')];
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect([await rig.names(configMap), await rig.owners(secret, 'dependent')]).toEqual([[], []]);

    for (const { metadata } of await events('DependentsOrphaned')) {
      await rig.delete(event, metadata?.name ?? '');
    }
    for (const each of restore) await each();
    await goBackInTime(rig, 'secrets');
    await rig.rest();
    expect(await rig.owners(secret, 'dependent')).toEqual(['owner']);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([...left]);
  });

  it('that can not be read holds nobody up for longer than two seconds', async () => {
    rig.faults.on(
      { target: /\/events\?/ },
      (request) =>
        new Promise((_, reject) => {
          request.signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
        }),
    );
    await rig.startCollector({ orphanRecords: 'events' });
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'owned', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.advance(1990);
    expect(await rig.names(secret)).toEqual(['owned']);
    await rig.advance(20);
    expect(await rig.names(secret)).toEqual([]);
  });

  describe('that somebody else has written', () => {
    /** The names of the dependents that are left when an owner was deleted in background under such a record. */
    async function left(forgery: Forgery, reference: Partial<OwnerReference> = {}): Promise<string[]> {
      const owner = await rig.create(configMap, 'owner');
      await forge(owner, forgery);
      await rig.startCollector({ orphanRecords: 'events' });
      await rig.create(secret, 'owned', { owners: [refTo(owner)] });
      await rig.rest();
      await rig.delete(configMap, 'owner');
      await rig.create(secret, 'late', { owners: [refTo(owner, reference)] });
      await rig.rest();
      return rig.names(secret);
    }

    it('exactly as the collector would, into the very namespace, is believed: the collector cannot see the difference', async () => {
      expect(await left({})).toEqual(['late', 'owned']);
    });

    it.each<[string, Forgery]>([
      ['into another namespace', { namespace: 'kube-system' }],
      [
        'into another namespace, which it is said to be about',
        { namespace: 'kube-system', about: { namespace: 'kube-system' } },
      ],
      ['about something cluster-scoped', { about: { namespace: undefined } }],
      ['under another name', { name: 'orphaned-x' }],
      ['as another component', { more: { source: { component: 'x' } } }],
      ['for another controller', { more: { reportingComponent: 'x' } }],
      ['about another kind', { about: { kind: 'Secret' } }],
      ['about another name', { about: { name: 'x' } }],
      ['without a time', { more: { firstTimestamp: null, lastTimestamp: null } }],
      ['more than an hour ago', { more: { lastTimestamp: '2001-01-01T00:00:00Z' } }],
    ])('%s is not believed', async (_, forgery) => {
      expect(await left(forgery)).toEqual([]);
    });

    it('COL-241 saves nobody who refers to the owner under another name', async () => {
      expect(await left({}, { name: 'x' })).toEqual(['owned']);
    });

    it('does not take the place of one that is true', async () => {
      const first = await rig.startCollector({ orphanRecords: 'events' });
      const owner = await orphaned();
      await first.stop();
      await forge(owner, { namespace: 'kube-system', about: { namespace: 'kube-system' } });
      await rig.create(secret, 'late', { owners: [refTo(owner)] });
      await rig.startCollector({ orphanRecords: 'events' });
      await rig.rest();
      expect(await rig.owners(secret, 'late')).toEqual([]);
    });

    it('with a time to come neither outlasts the hour, nor makes the others be forgotten', async () => {
      const first = await rig.startCollector({ orphanRecords: 'events' });
      const owner = await orphaned();
      await first.stop();
      const other = await rig.create(configMap, 'zzz');
      await forge(other, { more: { lastTimestamp: '2126-01-01T00:00:00Z' } });
      await rig.create(secret, 'late', { owners: [refTo(owner)] });
      await rig.startCollector({ orphanRecords: 'events' });
      await rig.rest();
      expect(await rig.owners(secret, 'late')).toEqual([]);
      await rig.advance(HOUR_MS + 1000);
      await rig.delete(configMap, 'zzz');
      await rig.create(secret, 'garbage', { owners: [refTo(other)] });
      await rig.rest();
      expect(await rig.names(secret)).toEqual(['late']);
    });

    it('is not believed of an owner that lives', async () => {
      const owner = await rig.create(configMap, 'owner');
      await forge(owner);
      await rig.startCollector({ orphanRecords: 'events' });
      await rig.create(secret, 'owned', { owners: [refTo(owner)] });
      await rig.create(secret, 'wrong', { owners: [refTo(owner, { name: 'x' })] });
      await rig.rest();
      expect(await rig.names(secret)).toEqual(['owned']);
      expect(await rig.owners(secret, 'owned')).toEqual(['owner']);
    });

    it('in the place of ours, is reported once', async () => {
      await rig.startCollector({ orphanRecords: 'events' });
      const owner = await rig.create(configMap, 'owner');
      await forge(owner, { more: { reason: 'X' } });
      await rig.delete(configMap, 'owner', 'Orphan');
      await rig.rest();
      expect(await rig.get(configMap, 'owner')).toBeUndefined();
      expect(memoryOnly()).toHaveLength(1);
    });
  });

  it('that must not be written is reported once', async () => {
    rig.faults.on({ method: 'POST', target: /events/ }, refuse(403, 'Forbidden'));
    await rig.startCollector({ orphanRecords: 'events' });
    await orphaned();
    await orphaned();
    expect(memoryOnly()).toHaveLength(1);
  });

  it('is not missed in a namespace that is being deleted with everything in it', async () => {
    const details = { causes: [{ reason: 'NamespaceTerminating' }] };
    rig.faults.on({ method: 'POST', target: /events/ }, refuse(403, 'Forbidden', { details }));
    await rig.startCollector({ orphanRecords: 'events' });
    await orphaned();
    expect(memoryOnly()).toEqual([]);
  });
});
