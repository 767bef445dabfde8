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
const remove = (...owners: string[]) =>
  ({ action: 'removeReferences', target, identity: target, owners, known: undefined }) as const;
const methodsOf = (sent: readonly string[]): (string | undefined)[] => sent.map((line) => line.split(' ')[0]);
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
      `PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"7","ownerReferences":[${JSON.stringify(kept)}]}}`,
      'GET',
      'PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"8","ownerReferences":null}}',
    ]);
  });

  it('COL-161 COL-175 P2 of what is known, at its version, without a read; after a conflict of what is read', async () => {
    const kept = reference('z', { controller: true, blockOwnerDeletion: false });
    const known = { resourceVersion: '7', references: [reference('x'), kept] };
    const { context, sent } = setUp([
      unsupported,
      objectWith({}),
      statusWith(409, 'Conflict'),
      objectWith({ resourceVersion: '9', ownerReferences: [reference('x')] }),
      objectWith({}),
    ]);
    expect((await removeReferences(context, { ...remove('x'), known })).answer).toBe('accepted');
    expect((await removeReferences(context, { ...remove('x'), known })).answer).toBe('accepted');
    const ofKnown = `PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"7","ownerReferences":[${JSON.stringify(kept)}]}}`;
    expect(sent.slice(1)).toEqual([
      ofKnown,
      ofKnown,
      'GET',
      'PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"9","ownerReferences":null}}',
    ]);
  });

  it('BETTER-16 P2 reads before it believes that nothing is left to remove', async () => {
    const known = { resourceVersion: '7', references: [reference('z')] };
    const { context, sent } = setUp([unsupported, objectWith({ ownerReferences: [reference('x')] }), objectWith({})]);
    await removeReferences(context, { ...remove('x'), known });
    expect(methodsOf(sent)).toEqual(['PATCH', 'GET', 'PATCH']);
  });

  it.each([
    ['P1', ['PATCH'], [statusWith(409, 'Conflict')]],
    ['P2', ['PATCH', 'PATCH'], [unsupported, statusWith(409, 'Conflict')]],
  ])(
    'COL-002 COL-154 a conflict of %s at the version decided upon is answered as one, not tried again',
    async (_, methods, answers) => {
      const known = { resourceVersion: '12', references: [reference('x')] };
      const { context, sent } = setUp([...answers]);
      expect((await removeReferences(context, { ...remove('x'), known, only: '12' })).answer).toBe('outdated');
      expect(methodsOf(sent)).toEqual(methods);
    },
  );

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
      const action = { ...remove('x'), only: '12' };
      expect((await removeReferences(context, action)).answer).toBe(answer);
      expect(sent[0]).toContain('{"metadata":{"uid":"uid-a","resourceVersion":"12","ownerReferences":');
      expect(methodsOf(sent.slice(1))).toEqual(methods);
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

  it('COL-163 P4 after 415: the whole list, at the version decided upon', async () => {
    const { context, sent } = setUp([unsupported, objectWith({})]);
    expect((await unblockReferences(context, action)).answer).toBe('accepted');
    const body = JSON.parse((sent[1] ?? '').replace('PATCH merge-patch+json ', '')) as unknown;
    expect(body).toEqual({ metadata: { uid: 'uid-a', resourceVersion: '7', ownerReferences: all } });
    expect(sent).toHaveLength(2);
  });

  it.each([
    ['COL-162 P3', [statusWith(409, 'Conflict')]],
    ['COL-163 P4', [unsupported, statusWith(409, 'Conflict')]],
  ])('%s at another version than was decided upon: decided anew', async (_, answers) => {
    const { context, sent } = setUp([...answers]);
    expect((await unblockReferences(context, action)).answer).toBe('outdated');
    expect(sent).toHaveLength(answers.length);
  });

  it('COL-24G COL-235 P4 at once when two references name one uid: P3 would always find the first', async () => {
    const live = [reference('x', { blockOwnerDeletion: false }), reference('x', blocking)];
    const unblocked = live.map((each) => ({ ...each, blockOwnerDeletion: false }));
    const { context, sent } = setUp([objectWith({})]);
    await unblockReferences(context, { ...action, references: unblocked.slice(1), all: unblocked });
    expect(sent.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['PATCH merge-patch+json']);
    expect(context.support.takesStrategic(target)).toBe(true);
  });
});
