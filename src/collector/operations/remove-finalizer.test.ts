import { describe, expect, it } from 'vitest';
import type { RemoveFinalizerAction } from '../decide/actions.ts';
import { removeFinalizer } from './remove-finalizer.ts';
import { objectWith, setUp, statusWith, target } from './operation.fixture.ts';

const conflict = statusWith(409, 'Conflict');
const deletionTimestamp = '2026-11-21T12:00:00Z';
const finalizers = ['x.io/keep', 'foregroundDeletion'];
const live = objectWith({ resourceVersion: '8', deletionTimestamp, finalizers });
const action = (known?: RemoveFinalizerAction['known']): RemoveFinalizerAction => ({
  action: 'removeFinalizer',
  target,
  finalizer: 'foregroundDeletion',
  known,
});

describe('removeFinalizer', () => {
  it('COL-164 COL-165 P5: the others, at the version just read, with the uid', async () => {
    const { context, sent } = setUp([live, objectWith({})]);
    expect((await removeFinalizer(context, action())).answer).toBe('accepted');
    expect(sent).toEqual([
      'GET',
      'PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"8","finalizers":["x.io/keep"]}}',
    ]);
  });

  it('COL-164 null for none, without a GET when the graph knows the object', async () => {
    const { context, sent } = setUp([objectWith({})]);
    await removeFinalizer(context, action({ resourceVersion: '7', otherFinalizers: [] }));
    expect(sent).toEqual([
      'PATCH merge-patch+json {"metadata":{"uid":"uid-a","resourceVersion":"7","finalizers":null}}',
    ]);
  });

  it.each([conflict, statusWith(422, 'Invalid')])(
    'reads the object at once when the graph was out of date',
    async (refusal) => {
      const { context, sent, times } = setUp([refusal, live, objectWith({})]);
      expect((await removeFinalizer(context, action({ resourceVersion: '7', otherFinalizers: [] }))).answer).toBe(
        'accepted',
      );
      expect([sent.map((line) => line.split(' ')[0]), times]).toEqual([
        ['PATCH', 'GET', 'PATCH'],
        [0, 0, 0],
      ]);
    },
  );

  it.each([
    { what: 'refused', known: { resourceVersion: '7', otherFinalizers: [] }, answer: conflict, is: 'outdated' },
    { what: 'read at another version', known: undefined, answer: live, is: 'outdated' },
  ])('COL-122 COL-125 rests on one version: $what is $is at once', async ({ known, answer, is }) => {
    const { context, sent } = setUp([answer]);
    const outcome = await removeFinalizer(context, { ...action(known), only: '7' });
    expect([outcome.answer, sent.length]).toEqual([is, 1]);
  });

  it('COL-122 COL-125 rests on one version: what the server finds invalid is no conflict', async () => {
    const { context, sent } = setUp([statusWith(422, 'Invalid', { message: 'spec.size: Required value' })]);
    const known = { resourceVersion: '7', otherFinalizers: [] };
    const outcome = await removeFinalizer(context, { ...action(known), only: '7' });
    expect([outcome.answer, outcome.error?.message, sent.length]).toEqual(['invalid', 'spec.size: Required value', 1]);
  });

  it('COL-122 COL-125 rests on one version: a conflict of what was read at it is the end, too', async () => {
    const { context, sent, clock } = setUp([live, conflict]);
    const outcome = await removeFinalizer(context, { ...action(), only: '8' });
    expect([outcome.answer, sent.length, clock.pendingTimers]).toEqual(['outdated', 2, 0]);
  });

  it.each([
    { what: 'gone already', answer: objectWith({ finalizers: ['x.io/keep'] }), is: 'accepted' },
    {
      what: 'of an object that is gone',
      answer: statusWith(404, 'NotFound', { details: { name: 'a' } }),
      is: 'absent',
    },
    {
      what: 'of a successor of the name',
      answer: objectWith({ uid: 'uid-b', finalizers: ['foregroundDeletion'] }),
      is: 'absent',
    },
    { what: 'of an object that is not being deleted (COL-055)', answer: objectWith({ finalizers }), is: 'outdated' },
    { what: 'not to be read', answer: statusWith(404, 'NotFound'), is: 'failed' },
  ])('COL-153 BETTER-17 $what: $is, and nothing is written', async ({ answer, is }) => {
    const { context, sent } = setUp([answer]);
    expect((await removeFinalizer(context, action())).answer).toBe(is);
    expect(sent).toEqual(['GET']);
  });

  it('COL-153 four times against conflicts, 10, 50 and 250 ms apart, give or take a tenth', async () => {
    const { context, sent, times, clock } = setUp([live, conflict, live, conflict, live, conflict, live, conflict]);
    const done = removeFinalizer(context, action());
    await clock.advanceAsync(1000);
    const { answer, error } = await done;
    expect([answer, sent.length]).toEqual(['conflict', 8]);
    expect(error?.message).toBe(
      'updateMaxRetries(4) has reached. The garbage collector will retry later for owner [v1/ConfigMap, namespace: ns, name: a, uid: uid-a]',
    );
    for (const [index, wait] of [10, 50, 250].entries()) {
      const waited = (times[2 * index + 2] ?? 0) - (times[2 * index + 1] ?? 0);
      expect(Math.abs(waited / wait - 1)).toBeLessThanOrEqual(0.1);
    }
  });

  it('COL-215 waits for nothing once the collector stops', async () => {
    const { context, sent, stop, clock } = setUp([live, conflict]);
    const done = removeFinalizer(context, action());
    await clock.settle();
    stop.abort();
    expect([(await done).answer, sent.length, clock.pendingTimers]).toEqual(['conflict', 2, 0]);
  });
});
