import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { LogFields } from '../../src/base/logger.ts';
import { explainDecision } from '../../src/cli/explain-decision.ts';
import type { Fault } from './faults.ts';
import { configMap, refTo, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** What is told of a write that did not take effect, and of what was done before it. */
let rig: Rig;
let explained: LogFields[];

beforeEach(async () => {
  explained = [];
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector({ onDecision: (decision) => void explained.push(explainDecision(decision).fields) });
});
afterEach(() => rig.stop());

const linesAbout = (object: string) => explained.filter((fields) => fields['object'] === object);
const decided = (reason: string) =>
  rig.metrics.value('kubegc_collector_decisions_total', { verdict: 'requeue', reason });

/** Somebody else changes the metadata right before a request arrives. */
function changedBefore(kind: TestKind, name: string, metadata: Record<string, unknown>): Fault {
  return async (request, next) => {
    await rig.client.patch(rig.at(kind, name), { type: 'application/merge-patch+json', body: { metadata } });
    return next(request);
  };
}

/** Two that own and block each other. */
async function circle(kind: TestKind): Promise<void> {
  const one = await rig.create(kind, 'one');
  const two = await rig.create(kind, 'two', { owners: [refTo(one, { block: true })] });
  await rig.patch(kind, 'one', { ownerReferences: [refTo(two, { block: true })] });
  await rig.rest();
}

async function orphanedOwner(): Promise<KubeObject> {
  const owner = await rig.create(configMap, 'owner');
  await rig.delete(configMap, 'owner', 'Orphan');
  await rig.rest();
  return owner;
}

describe('a patch of references that was not sent, as the object changed since it was decided', () => {
  it('COL-161 is not told of as refused by the server (P2)', async () => {
    const owner = await orphanedOwner();
    const busy = changedBefore(widget, 'late', { labels: { turn: 'next' } });
    rig.faults.on({ method: 'PATCH', target: /widgets\/late/ }, busy, 1);
    await rig.create(widget, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(linesAbout('Widget.example.com default/late')).toContainEqual(
      expect.objectContaining({
        tried: 'remove 1 references',
        answered: 'referencesObjectChanged',
        decided: 'orphanedReferencesReleased',
        again: true,
      }),
    );
    expect([decided('referencesObjectChanged'), decided('writeRejected')]).toEqual([1, undefined]);
    expect(await rig.owners(widget, 'late')).toEqual([]);
  });

  it('COL-163 is not told of as refused by the server (P4)', async () => {
    await circle(widget);
    const busy = changedBefore(widget, 'two', { labels: { turn: 'next' } });
    rig.faults.on({ method: 'PATCH', target: /widgets\/two/ }, busy, 1);
    await rig.delete(widget, 'one', 'Foreground');
    await rig.rest();
    expect(linesAbout('Widget.example.com default/two')).toContainEqual(
      expect.objectContaining({
        did: 'nothing',
        tried: 'unblock 1 references',
        answered: 'referencesObjectChanged',
        decided: 'ownerWaitsCycle',
      }),
    );
    expect([decided('referencesObjectChanged'), decided('writeRejected')]).toEqual([1, undefined]);
    expect(await rig.names(widget)).toEqual([]);
  });
});
