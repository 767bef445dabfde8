import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../meta/object-meta.ts';
import type { DeleteOptions } from './delete-options.ts';
import { deepFreeze, EARLIER_TEXT, namespace, NAMESPACES, NOW, NOW_TEXT } from './fixtures.ts';
import { decideNamespaceDelete, hasNamespaceFinalizers } from './namespace-delete.ts';

function decide(
  specFinalizers: readonly string[],
  metadata: Partial<ObjectMeta> = {},
  options: DeleteOptions = {},
): ReturnType<typeof decideNamespaceDelete> {
  const object = deepFreeze(namespace(specFinalizers, metadata));
  return decideNamespaceDelete({ object, options, resource: NAMESPACES, now: NOW });
}

describe('first DELETE', () => {
  it('API-301 only marks it: phase and deletionTimestamp, no grace period, no generation', () => {
    const decision = decide(['kubernetes'], { generation: 4 });
    expect(decision).toEqual({
      outcome: 'update',
      reason: 'namespaceTerminating',
      object: {
        ...namespace(),
        metadata: { ...namespace().metadata, generation: 4, deletionTimestamp: NOW_TEXT },
        status: { phase: 'Terminating' },
      },
    });
  });

  it('API-301 marks one without spec.finalizers too, instead of removing it', () => {
    expect(decide([])).toMatchObject({ outcome: 'update', reason: 'namespaceTerminating' });
  });

  it.each<[DeleteOptions, readonly string[], readonly string[]]>([
    [{}, [], []],
    [{}, ['orphan', 'a.io/x'], ['orphan', 'a.io/x']],
    [{}, ['foregroundDeletion'], ['foregroundDeletion']],
    [{ propagationPolicy: 'Background' }, ['foregroundDeletion', 'a.io/x'], ['a.io/x']],
    [{ propagationPolicy: 'Foreground' }, ['a.io/x'], ['a.io/x', 'foregroundDeletion']],
    [{ propagationPolicy: 'Foreground' }, ['orphan'], ['foregroundDeletion']],
    [{ propagationPolicy: 'Orphan' }, ['foregroundDeletion'], ['orphan']],
    [{ orphanDependents: true }, [], ['orphan']],
    [{ orphanDependents: false }, [], ['foregroundDeletion']],
    [{ orphanDependents: false }, ['orphan'], ['foregroundDeletion']],
  ])('API-301 %o on %j leaves %j', (options, before, after) => {
    const decision = decide(['kubernetes'], before.length === 0 ? {} : { finalizers: [...before] }, options);
    expect(decision.outcome === 'update' && (decision.object.metadata?.finalizers ?? [])).toEqual(after);
  });
});

describe('DELETE again', () => {
  const terminating = { deletionTimestamp: EARLIER_TEXT };

  it('API-302 changes nothing while spec.finalizers holds content', () => {
    const decision = decide(['kubernetes'], terminating, { propagationPolicy: 'Foreground' });
    expect(decision).toEqual({
      outcome: 'unchanged',
      reason: 'namespaceContentRemains',
      object: namespace(['kubernetes'], terminating),
    });
  });

  it('API-302 is an ordinary DELETE afterwards', () => {
    expect(decide([], terminating)).toMatchObject({ outcome: 'remove', reason: 'noFinalizers' });
    expect(decide([], { ...terminating, finalizers: ['a.io/x'] })).toMatchObject({
      outcome: 'update',
      reason: 'gracePeriodWaived',
      object: { metadata: { deletionTimestamp: EARLIER_TEXT, deletionGracePeriodSeconds: 0 } },
    });
  });
});

describe('refusals', () => {
  it.each([
    [{ uid: 'x' }, 'uidMismatch', 'UID in precondition: x, UID in object meta: uid-n'],
    [
      { resourceVersion: '1' },
      'resourceVersionMismatch',
      'ResourceVersion in precondition: 1, ResourceVersion in object meta: 9',
    ],
  ])('API-301 precondition %o', (preconditions, reason, text) => {
    const decision = decide(['kubernetes'], {}, { preconditions });
    expect(decision).toMatchObject({ outcome: 'refuse', reason, error: { code: 409 } });
    expect(decision.outcome === 'refuse' && decision.error.message).toBe(
      `Operation cannot be fulfilled on namespaces "team": Precondition failed: ${text}`,
    );
  });

  it.each(['default', 'kube-system', 'kube-public'])('API-304 %s may not be deleted', (name) => {
    const decision = decide(['kubernetes'], { name });
    expect(decision).toMatchObject({ outcome: 'refuse', reason: 'namespaceProtected', error: { code: 403 } });
    expect(decision.outcome === 'refuse' && decision.error.message).toBe(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  });

  it('API-304 kube-node-lease may', () => {
    expect(decide(['kubernetes'], { name: 'kube-node-lease' }).outcome).toBe('update');
  });

  it('API-241 wrong options', () => {
    expect(decide([], {}, { propagationPolicy: 'x' })).toMatchObject({ outcome: 'refuse', reason: 'invalidOptions' });
  });
});

describe('hasNamespaceFinalizers', () => {
  it('API-306 reads spec only', () => {
    expect(hasNamespaceFinalizers(namespace(['kubernetes']))).toBe(true);
    expect(hasNamespaceFinalizers(namespace([], { finalizers: ['a.io/x'] }))).toBe(false);
    expect(hasNamespaceFinalizers({})).toBe(false);
  });
});
