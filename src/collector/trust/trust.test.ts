import { describe, expect, it } from 'vitest';
import { newStatusError } from '../../api/status-error.ts';
import { TransportError } from '../../client/http/transport.ts';
import { workKey } from '../queues/work-key.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';
import type { OutageScope } from '../types/monitor-event.ts';
import { Trust } from './trust.ts';
import { WatchedKinds, type WatchState } from './watched-kinds.ts';

const offered = (group: string, kind: string): OfferedResource => ({
  group,
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  kind,
  namespaced: true,
  verbs: [],
});
const secrets = offered('', 'Secret');
const widgets = offered('example.com', 'Widget');
const key = workKey('k', 'observed');
const WRITE = { resourceVersion: '5', by: 'delete' } as const;

/** The graph has object `u` in version 5. */
function newTrust(watches: readonly WatchState[] = []): Trust {
  const queue = { numRequeues: () => 1, inWork: () => [] };
  return new Trust({ graph: { versionOf: () => 5 }, queue, watches: () => watches });
}

/** Everything that can happen, each as one step at a time of its own. */
const steps = {
  'watch of Secrets fails, all': (trust, now) => void trust.watchFailed(secrets, 'all', now),
  'watch of Widgets fails, all': (trust, now) => void trust.watchFailed(widgets, 'all', now),
  'watch of Widgets fails, beside': (trust, now) => void trust.watchFailed(widgets, 'beside', now),
  'a watch recovers': (trust) => void trust.watchRecovered(),
  'call without answer, all': (trust, now) => trust.callUnanswered(key, 'all', now),
  'call without answer, beside': (trust, now) => trust.callUnanswered(key, 'beside', now),
  'attempt ends': (trust) => trust.attemptEnded(key),
  'deletion accepted': (trust, now) => {
    trust.deletionAccepted('u', WRITE, now);
    trust.leftAsWritten('u', 5);
  },
  'history replaced': (trust, now) => void trust.historyReplaced(secrets, 'lowerVersion', now),
} satisfies Record<string, (trust: Trust, now: number) => void>;

type Step = keyof typeof steps;

const names = Object.keys(steps) as Step[];
const DEPTH = 4;

/** The state that must hold after these steps, computed from the steps alone. */
function expected(played: readonly Step[]) {
  const last = (...of: readonly Step[]): number => Math.max(...of.map((step) => played.lastIndexOf(step)));
  const outage = /fails|without answer/;
  const outages = played.filter((step) => outage.test(step)).length;
  const lastOfAll = played.findLastIndex((step) => outage.test(step) && step.endsWith('all'));
  const calls = last('call without answer, all', 'call without answer, beside');
  const unanswered = calls > last('attempt ends') ? calls : undefined;
  const lost = last('watch of Secrets fails, all', 'watch of Widgets fails, all', 'a watch recovers');
  const accepted = last('deletion accepted');
  const failed = last('watch of Secrets fails, all');
  return {
    epoch: outages,
    epochOfAll: played.slice(0, lastOfAll + 1).filter((step) => outage.test(step)).length,
    unansweredAt: unanswered,
    discoverySince:
      failed < 0 && unanswered === undefined ? Number.NEGATIVE_INFINITY : Math.max(failed, unanswered ?? 0),
    accepted: accepted > Math.max(lost, last('history replaced')),
    awaited: accepted > lost,
  };
}

function sequences(depth: number): readonly (readonly Step[])[] {
  if (depth === 0) return [[]];
  return sequences(depth - 1).flatMap((before) => names.map((step) => [...before, step]));
}

describe('Trust, after every sequence of four events', () => {
  it(`COL-111 COL-002 BETTER-9 answers as the events say: ${names.length ** DEPTH} sequences`, () => {
    const wrong: string[] = [];
    for (const played of sequences(DEPTH)) {
      const trust = newTrust();
      for (const [now, step] of played.entries()) steps[step](trust, now);
      const { epoch, epochOfAll, unansweredAt, discoverySince, accepted, awaited } = expected(played);
      const discovery = [9_999, 10_000].map((later) =>
        trust.mayBelieveDiscovery(discoverySince + later, trust.unansweredAt(key)),
      );
      const told = [
        trust.epoch === epoch,
        trust.provenSince('example.com/v1') === epoch,
        trust.provenSince('v1') === epochOfAll,
        trust.unansweredAt(key) === unansweredAt,
        discovery[0] === (discoverySince === Number.NEGATIVE_INFINITY),
        discovery[1],
        (trust.acceptedDeletion('u', DEPTH) !== undefined) === accepted,
        (trust.watchRecovered().length === 1) === awaited,
      ];
      if (told.includes(false)) wrong.push(`${played.join(', ')}: ${told.indexOf(false)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('COL-111 an epoch never goes back, and an absence of before an outage of all counts for no owner', () => {
    const wrong: string[] = [];
    for (const played of sequences(3)) {
      const trust = newTrust();
      for (const [now, step] of played.entries()) {
        const before = trust.epoch;
        steps[step](trust, now);
        const ofServer = trust.provenSince('v1');
        const right = [
          trust.epoch >= before,
          ofServer <= trust.provenSince('example.com/v1'),
          !step.endsWith(', all') || ofServer > before,
        ];
        if (right.includes(false)) wrong.push(`${played.join(', ')}: ${right.indexOf(false)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('Trust', () => {
  it('COL-111 answers once with the objects whose watch events may never come', () => {
    const trust = newTrust();
    trust.leftAsRead('read', 7);
    trust.leftAsRead('shown', 5);
    trust.leftAsWritten('written', 5);
    expect(trust.watchFailed(widgets, 'beside', 1)).toEqual([]);
    expect(trust.watchFailed(widgets, 'all', 1)).toEqual(['read', 'written']);
    expect(trust.watchRecovered()).toEqual([]);
  });

  it('BETTER-9 forgets an accepted deletion after ten seconds, and keeps nothing of it when it is asked to', () => {
    const trust = newTrust();
    trust.deletionAccepted('u', WRITE, 0);
    expect(trust.acceptedDeletion('u', 9_999)).toMatchObject(WRITE);
    expect(trust.acceptedDeletion('u', 10_000)).toBeUndefined();
    trust.forgetOld(9_999);
    expect(trust.acceptedDeletion('u', 0)).toMatchObject(WRITE);
    trust.forgetOld(10_000);
    expect(trust.acceptedDeletion('u', 0)).toBeUndefined();
  });

  it('law 5: outages without a pause hold discovery back for ten seconds after the last, and for no longer', () => {
    const trust = newTrust();
    for (let now = 0; now <= 60_000; now += 100) trust.watchFailed(secrets, 'all', now);
    expect([69_999, 70_000].map((readAt) => trust.mayBelieveDiscovery(readAt))).toEqual([false, true]);
  });
});

describe('WatchedKinds', () => {
  type Trouble = 'none' | 'of its kind' | 'no answer' | 'unsynced';
  const troubles: readonly Trouble[] = ['none', 'of its kind', 'no answer', 'unsynced'];
  const watch = (apiVersion: string, kind: string, trouble: Trouble): WatchState => {
    const errors = { none: undefined, unsynced: undefined, 'no answer': new TransportError('reset', 'reset') };
    const error = trouble === 'of its kind' ? newStatusError(500, 'conversion webhook failed') : errors[trouble];
    return { resource: { apiVersion, kind }, synced: trouble !== 'unsynced', trouble: error };
  };
  const pairs = troubles.flatMap((secret) => troubles.map((widget) => ({ secret, widget })));

  it.each(pairs)(
    'BETTER-9 during trouble of a watch only its own kind is not trusted, during trouble of the server no kind: Secrets $secret, Widgets $widget',
    ({ secret, widget }) => {
      const kinds = new WatchedKinds(() => [
        watch('v1', 'Secret', secret),
        watch('example.com/v1', 'Widget', widget),
        watch('v1', 'Pod', 'none'),
      ]);
      // The server itself may be away, unless the error is of a kind that may be a custom one.
      const answers = secret === 'none' && (widget === 'none' || widget === 'of its kind');
      expect([kinds.answers, kinds.answersFor('v1', 'Pod'), kinds.answersFor('v1', 'Node')]).toEqual(
        Array<boolean>(3).fill(answers),
      );
      expect(kinds.answersFor('example.com/v1', 'Widget')).toBe(answers && widget === 'none');
      expect([kinds.shows('v1', 'Secret'), kinds.shows('example.com/v1', 'Widget')]).toEqual([
        secret === 'none',
        widget === 'none',
      ]);
      expect([kinds.shows('v1', 'Pod'), kinds.shows('v1', 'Node')]).toEqual([true, false]);
    },
  );

  it('BETTER-9 one of two watches of a kind that fails is enough, and no watch at all answers for nothing', () => {
    const states = [watch('v1', 'Secret', 'none'), watch('v1', 'Secret', 'of its kind')];
    const kinds = new WatchedKinds(() => states);
    expect(kinds.shows('v1', 'Secret')).toBe(false);
    states.length = 0;
    expect(kinds.shows('v1', 'Secret')).toBe(false);
    kinds.changed();
    expect([kinds.answers, kinds.answersFor('v1', 'Secret')]).toEqual([false, false]);
  });

  it('COL-002 a scope is all or beside, and both begin an epoch', () => {
    const scopes: readonly OutageScope[] = ['all', 'beside'];
    const trust = newTrust();
    for (const [index, scope] of scopes.entries()) {
      trust.callUnanswered(key, scope, index);
      expect(trust.epoch).toBe(index + 1);
    }
  });
});
