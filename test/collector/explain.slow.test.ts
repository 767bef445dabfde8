import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { LogFields } from '../../src/base/logs/logger.ts';
import { explainDecision } from '../../src/cli/collect/explain-decision.ts';
import { sentenceOf } from '../../src/collector/types/reasons.ts';
import { type Fault, refuse } from './faults.ts';
import { configMap, refTo, secret, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** The report of a write that did not take effect, and of the steps before it. */
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

describe('COL-098 a DELETE that met a conflict', () => {
  it('is reported with the steps before it, also where no step follows', async () => {
    const solid = await rig.create(configMap, 'solid');
    await circle(configMap);
    const owned = changedBefore(configMap, 'two', { ownerReferences: [refTo(solid)] });
    rig.faults.on({ method: 'DELETE', target: /configmaps\/two/ }, owned, 1);
    await rig.delete(configMap, 'one', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['solid', 'two']);
    expect(linesAbout('ConfigMap default/two')).toContainEqual(
      expect.objectContaining({
        did: 'unblock 1 references',
        tried: 'delete (Foreground)',
        answered: 'patchAccepted, deleteConflict',
        reason: 'solidOwner',
      }),
    );
  });

  it('is reported before the one that was accepted', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const busy = changedBefore(secret, 'd', { labels: { turn: 'next' } });
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, busy, 1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(linesAbout('Secret default/d')).toEqual([
      expect.objectContaining({
        did: expect.stringMatching(/delete \(Background\)$/),
        tried: 'delete (Background)',
        answered: 'deleteConflict, deleteAccepted',
        reason: 'ownersAbsent',
      }),
    ]);
  });

  it('COL-151 is reported once where it was not about the version, and nothing more was sent', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(409, 'in use'), 1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(linesAbout('Secret default/d')[0]).toMatchObject({
      tried: 'delete (Background)',
      answered: 'writeRejected',
      reason: 'writeRejected',
    });
  });
});

describe('LIFE-560 a late reference that this collector did not remove', () => {
  const objectGoes: Fault = async (request, next) => {
    await rig.client.delete(rig.at(secret, 'late'));
    return next(request);
  };
  /** As a server that finds the references gone (COL-155). */
  const referencesGo: Fault = (request, next) => {
    const refused = refuse(422, 'Invalid');
    return changedBefore(secret, 'late', { ownerReferences: null })(request, () => refused(request, next));
  };

  it.each([
    ['its object goes before', objectGoes],
    ['somebody else does', referencesGo],
  ])('is not told of, nor counted, where %s', async (_where, fault) => {
    const owner = await orphanedOwner();
    rig.faults.on({ method: 'PATCH', target: /secrets\/late/ }, fault, 1);
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    await rig.advance(1000);
    expect(linesAbout('Secret default/late')).toContainEqual(
      expect.objectContaining({ tried: 'remove 1 references', reason: 'orphanedReferencesReleased' }),
    );
    expect(rig.metrics.value('kubegc_orphan_late_references_total') ?? 0).toBe(0);
    const message = sentenceOf('OrphanedOwnerReferenceReleased');
    expect(rig.logger.lines.filter((line) => line.message === message)).toEqual([]);
    expect(rig.recorder.all.filter(({ method, path }) => method !== 'GET' && path.includes('/events'))).toEqual([]);
  });
});

describe('a patch of references that was not sent, as the object changed since it was decided', () => {
  it('COL-161 is not reported as refused by the server (P2)', async () => {
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

  it('COL-163 is not reported as refused by the server (P4)', async () => {
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
