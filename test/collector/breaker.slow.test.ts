import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { RESUME_DELETIONS } from '../../src/collector/breaker/held-deletions.ts';
import { configMap, event, namespace, pod, refTo, secret, type TestKind } from './kinds.ts';
import { Rig } from './rig.ts';

/** A collector with limits, on the embedded server (CAS-074). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start({ serve: [configMap, secret, pod, namespace, event] });
});
afterEach(() => rig.stop());

async function family(name: string, size: number, kind: TestKind = secret): Promise<KubeObject> {
  const owner = await rig.create(configMap, name);
  for (let i = 0; i < size; i++) await rig.create(kind, `${name}-${i}`, { owners: [refTo(owner)] });
  return owner;
}

interface Event extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

async function held(): Promise<Event[]> {
  const { items } = await rig.wait(rig.client.list<Event>({ gvr: event.gvr, namespace: 'default' }));
  return items.filter(({ reason }) => reason === 'DeletionsHeld');
}

/** As the command in the Event does. */
async function agree(message: string): Promise<void> {
  const [, annotation = '', id = ''] =
    /kubectl annotate namespace kube-system (\S+)=(\w+) --overwrite$/.exec(message) ?? [];
  expect(annotation).toBe(RESUME_DELETIONS);
  const body = { metadata: { annotations: { [annotation]: id } } };
  const target = { gvr: namespace.gvr, name: 'kube-system' };
  await rig.wait(rig.client.patch(target, { type: 'application/merge-patch+json', body }));
}

const deletes = (): number => rig.recorder.counts['DELETE'] ?? 0;

describe('a collector with a limit per cause', () => {
  it('CAS-074 stops at the limit, says so, waits without a call, and goes on when somebody agrees', async () => {
    await rig.startCollector({ deletionLimits: { perCause: 10 } });
    await family('owner', 25);
    rig.recorder.clear();
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect([deletes(), (await rig.names(secret)).length]).toEqual([10, 15]);
    expect(rig.metrics.value('kubegc_collector_held_deletions')).toBe(15);
    expect(rig.metrics.value('kubegc_collector_breaker_trips_total', { limit: 'perCause' })).toBe(1);
    const [warned, ...more] = await held();
    expect(more).toEqual([]);
    expect(warned).toMatchObject({ involvedObject: { kind: 'Namespace', name: 'kube-system' } });
    expect(warned?.message).toContain('10 objects were deleted within a minute because of ConfigMap "owner"');
    const lines = rig.logger.lines.filter(({ fields }) => fields['reason'] === 'DeletionsHeld');
    expect(lines.map(({ message }) => message)).toEqual([warned?.message]);
    // Ten minutes of reads of the annotation, and nothing else.
    rig.recorder.clear();
    const decisions = rig.metrics.value('kubegc_collector_decisions_total', {
      verdict: 'requeue',
      reason: 'deletionHeld',
    });
    await rig.advance(600_000);
    expect(rig.recorder.calls.filter(({ path }) => path !== '/api/v1/namespaces/kube-system')).toEqual([]);
    expect(rig.metrics.value('kubegc_collector_decisions_total', { verdict: 'requeue', reason: 'deletionHeld' })).toBe(
      decisions,
    );
    await agree(warned!.message);
    await rig.advance(6000);
    await rig.rest();
    expect([await rig.names(secret), rig.metrics.value('kubegc_collector_held_deletions')]).toEqual([[], 0]);
  });

  it('CAS-074 deletes meanwhile what has another cause, and sees what happens', async () => {
    await rig.startCollector({ deletionLimits: { perCause: 5 } });
    await family('large', 9);
    await family('small', 3, pod);
    await rig.delete(configMap, 'large');
    await rig.rest();
    await rig.delete(configMap, 'small');
    await rig.rest();
    expect([(await rig.names(secret)).length, await rig.names(pod)]).toEqual([4, []]);
    // Somebody takes one of the held objects for another owner: it is no garbage any more when the rest goes on.
    const heir = await rig.create(configMap, 'heir');
    const [kept = ''] = await rig.names(secret);
    await rig.patch(secret, kept, { ownerReferences: [refTo(heir)] });
    const [warned] = await held();
    await agree(warned!.message);
    await rig.advance(6000);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([kept]);
  });

  it('CAS-074 counts a deep cascade for its root', async () => {
    await rig.startCollector({ deletionLimits: { perCause: 10 } });
    const root = await rig.create(configMap, 'root');
    for (let i = 0; i < 4; i++) {
      const middle = await rig.create(configMap, `middle-${i}`, { owners: [refTo(root)] });
      for (let j = 0; j < 4; j++) await rig.create(secret, `leaf-${i}-${j}`, { owners: [refTo(middle)] });
    }
    rig.recorder.clear();
    await rig.delete(configMap, 'root');
    await rig.rest();
    expect([deletes(), (await held()).length]).toEqual([10, 1]);
    expect((await held())[0]?.message).toContain('ConfigMap "root"');
  });

  it('CAS-074 asks again after a read of the annotation that failed', async () => {
    await rig.startCollector({ deletionLimits: { perCause: 1 } });
    await family('owner', 3);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    rig.faults.on({ target: /namespaces\/kube-system/ }, () => Promise.reject(new Error('away')), 2);
    const [warned] = await held();
    await agree(warned!.message);
    await rig.advance(20_000);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('a collector with a limit over all', () => {
  it('CAS-074 stops all deletions, of whatever cause', async () => {
    await rig.startCollector({ deletionLimits: { overall: 6 } });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await family(name, 2);
    rig.recorder.clear();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await rig.delete(configMap, name);
    await rig.rest();
    expect([deletes(), (await rig.names(secret)).length]).toEqual([6, 4]);
    const [warned] = await held();
    expect(warned?.message).toMatch(/^6 objects were deleted within a minute: nothing more is deleted until/);
    await agree(warned!.message);
    await rig.advance(6000);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });
});

it('CAS-074 another term counts from zero, and what was held is not lost', async () => {
  const { collector, stop } = await rig.startCollector({ workers: 'whenLeading', deletionLimits: { perCause: 4 } });
  const lead = (): { end: () => Promise<void> } => {
    const term = new AbortController();
    const done = collector.lead(term.signal);
    return {
      end: () => {
        term.abort();
        return rig.wait(done);
      },
    };
  };
  await rig.advance(1000);
  const first = lead();
  await family('owner', 7);
  await rig.delete(configMap, 'owner');
  await rig.advance(10_000);
  expect((await rig.names(secret)).length).toBe(3);
  await first.end();
  const second = lead();
  await rig.advance(10_000);
  expect(await rig.names(secret)).toEqual([]);
  await second.end();
  await stop();
});
