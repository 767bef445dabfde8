import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { removeReferences, unblockReferences } from './patch-references.ts';
import { objectWith, setUp, statusWith, target } from './operation.fixture.ts';

const reference = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name: uid,
  uid,
  ...more,
});
const blocking = { blockOwnerDeletion: true };
const remove = (...owners: string[]) => ({ action: 'removeReferences', target, identity: target, owners }) as const;
const unsupported = statusWith(415, 'UnsupportedMediaType');

describe('removing references', () => {
  it('COL-160 P1: one strategic merge patch with the uid of the object and those of the owners', async () => {
    const { context, sent } = setUp([objectWith({})]);
    expect((await removeReferences(context, remove('x', 'y'))).answer).toBe('accepted');
    expect(sent).toEqual([
      'PATCH strategic-merge-patch+json {"metadata":{"uid":"uid-a","ownerReferences":[{"$patch":"delete","uid":"x"},{"$patch":"delete","uid":"y"}]}}',
    ]);
  });

  it('COL-161 P2 after 415: what is left of the list just read, at its version; null for nothing', async () => {
    const kept = reference('z', { controller: true });
    const { context, sent } = setUp([
      unsupported,
      objectWith({ resourceVersion: '7', ownerReferences: [reference('x'), kept] }),
      objectWith({}),
      objectWith({ resourceVersion: '8', ownerReferences: [kept] }),
      objectWith({}),
    ]);
    await removeReferences(context, remove('x'));
    await removeReferences(context, remove('z'));
    expect(sent.slice(1)).toEqual([
      'GET',
      `PATCH merge-patch+json {"metadata":{"resourceVersion":"7","ownerReferences":[${JSON.stringify(kept)}]}}`,
      'GET',
      'PATCH merge-patch+json {"metadata":{"resourceVersion":"8","ownerReferences":null}}',
    ]);
  });

  it.each([
    ['12', 'accepted', ['GET', 'PATCH']],
    ['13', 'outdated', ['GET']],
  ])(
    'COL-002 at a version: P1 names it, and P2 is made of no other (read at %s: %s)',
    async (read, answer, methods) => {
      const { context, sent } = setUp([
        unsupported,
        objectWith({ resourceVersion: read, ownerReferences: [reference('x')] }),
        objectWith({}),
      ]);
      const action = { ...remove('x'), resourceVersion: '12' };
      expect((await removeReferences(context, action)).answer).toBe(answer);
      expect(sent[0]).toContain('{"metadata":{"uid":"uid-a","resourceVersion":"12","ownerReferences":');
      expect(sent.slice(1).map((line) => line.split(' ')[0])).toEqual(methods);
    },
  );

  it('BETTER-16 P2 writes nothing when nothing is left to remove', async () => {
    const { context, sent } = setUp([unsupported, objectWith({ ownerReferences: [reference('z')] })]);
    expect((await removeReferences(context, remove('x'))).answer).toBe('accepted');
    expect(sent).toHaveLength(2);
  });

  it.each([
    { what: 'another object of the name', answer: objectWith({ uid: 'uid-b' }), is: 'absent' },
    { what: 'a proof of absence', answer: statusWith(404, 'NotFound', { details: { name: 'a' } }), is: 'absent' },
    { what: 'no answer', answer: statusWith(500, 'InternalError'), is: 'failed' },
  ])('COL-161 P2 reads $what: $is, and nothing is written', async ({ answer, is }) => {
    const { context, sent } = setUp([unsupported, answer]);
    expect((await removeReferences(context, remove('x'))).answer).toBe(is);
    expect(sent).toHaveLength(2);
  });

  it('BETTER-18 asks again for strategic merge patches when discovery has changed', async () => {
    const { context, sent } = setUp([unsupported, objectWith({}), objectWith({})]);
    await removeReferences(context, remove('x'));
    context.support.forget();
    await removeReferences(context, remove('x'));
    expect(sent.at(-1)).toContain('strategic');
  });
});

describe('unblocking', () => {
  const all = [reference('x', { blockOwnerDeletion: false, controller: true }), reference('y')];
  const action = {
    action: 'unblockReferences',
    target,
    references: all.slice(0, 1),
    resourceVersion: '7',
    all,
  } as const;

  it('COL-162 P3: what blocked, with all its fields, and nothing else', async () => {
    const { context, sent } = setUp([objectWith({})]);
    await unblockReferences(context, action);
    expect(sent).toEqual([
      `PATCH strategic-merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"7","ownerReferences":[${JSON.stringify(all[0])}]}}`,
    ]);
  });

  it('COL-163 P4 after 415: the whole list', async () => {
    const live = [reference('x', { ...blocking, controller: true }), reference('y')];
    const { context, sent } = setUp([
      unsupported,
      objectWith({ resourceVersion: '7', ownerReferences: live }),
      objectWith({}),
    ]);
    await unblockReferences(context, action);
    const body = JSON.parse((sent[2] ?? '').replace('PATCH merge-patch+json ', '')) as unknown;
    expect(body).toEqual({ metadata: { resourceVersion: '7', ownerReferences: all } });
  });

  it('COL-163 P4 of another version than was decided upon: nothing is written', async () => {
    const live = [reference('z', blocking)];
    const { context, sent } = setUp([unsupported, objectWith({ resourceVersion: '8', ownerReferences: live })]);
    expect((await unblockReferences(context, action)).answer).toBe('outdated');
    expect(sent).toHaveLength(2);
  });

  it('COL-24G COL-235 P4 at once when two references name one uid: P3 would always find the first', async () => {
    const live = [reference('x', { blockOwnerDeletion: false }), reference('x', blocking)];
    const unblocked = live.map((each) => ({ ...each, blockOwnerDeletion: false }));
    const { context, sent } = setUp([objectWith({ resourceVersion: '7', ownerReferences: live }), objectWith({})]);
    await unblockReferences(context, { ...action, references: unblocked.slice(1), all: unblocked });
    expect(sent.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['GET', 'PATCH merge-patch+json']);
    expect(context.support.takesStrategic(target)).toBe(true);
  });
});
