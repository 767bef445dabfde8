import { describe, expect, it } from 'vitest';
import {
  newBadRequest,
  newExpired,
  newForbidden,
  newInternalError,
  newInvalid,
  newNotAcceptable,
  newPathNotFound,
  newTooLargeResourceVersion,
  newTooManyRequests,
  newUnsupportedMediaType,
} from '../../api/status-error.ts';
import { DecodeError } from '../codec/decode-error.ts';
import {
  afterAttempt,
  type AttemptOutcome,
  nextStep,
  type ReflectorState,
  type ReflectorStep,
} from './reflector-plan.ts';
import { TransportError } from '../http/transport.ts';

const start: ReflectorState = {
  mode: 'enumerate',
  resourceVersion: '',
  freshness: 'not-older',
  watchList: 'try',
  paging: 'on',
  encoding: 'protobuf',
};
const following: ReflectorState = { ...start, mode: 'resume', resourceVersion: '7' };

describe('nextStep', () => {
  it.each<[string, Partial<ReflectorState>, ReflectorStep]>([
    ['API-560 watch list first, most recent', {}, { verb: 'watchList', resourceVersion: '' }],
    [
      'a new watch list is not older than what is known',
      { resourceVersion: '7' },
      { verb: 'watchList', resourceVersion: '7' },
    ],
    [
      '… unless that is lost',
      { resourceVersion: '7', freshness: 'latest' },
      { verb: 'watchList', resourceVersion: '' },
    ],
    [
      'API-560 the first list may be any state',
      { watchList: 'refused' },
      { verb: 'list', resourceVersion: '0', paging: 'on' },
    ],
    [
      'later lists are not older',
      { watchList: 'refused', resourceVersion: '7' },
      { verb: 'list', resourceVersion: '7', paging: 'on' },
    ],
    [
      'API-560 a list after 410 is the most recent',
      { watchList: 'refused', resourceVersion: '7', freshness: 'latest' },
      { verb: 'list', resourceVersion: '', paging: 'on' },
    ],
    [
      'also before anything was known',
      { watchList: 'refused', freshness: 'latest', paging: 'off' },
      { verb: 'list', resourceVersion: '', paging: 'off' },
    ],
    ['a known set is watched on', { mode: 'resume', resourceVersion: '7' }, { verb: 'watch', resourceVersion: '7' }],
  ])('%s', (_, changes, step) => {
    expect(nextStep({ ...start, ...changes })).toEqual(step);
  });
});

const watchList: ReflectorStep = { verb: 'watchList', resourceVersion: '' };
const watch: ReflectorStep = { verb: 'watch', resourceVersion: '7' };
const listAny: ReflectorStep = { verb: 'list', resourceVersion: '0', paging: 'on' };
const listLatest: ReflectorStep = { verb: 'list', resourceVersion: '', paging: 'on' };
const refused = { watchList: 'refused' } as const;

const failed = (
  error: Error,
  resourceVersion = '',
  initial: 'complete' | 'incomplete' = 'incomplete',
): AttemptOutcome => ({
  end: 'failed',
  error,
  resourceVersion,
  initial,
});
const closed = (
  useful: boolean,
  resourceVersion: string,
  rest: Partial<AttemptOutcome & { end: 'closed' }> = {},
): AttemptOutcome => ({
  end: 'closed',
  resourceVersion,
  initial: 'complete',
  useful,
  ...rest,
});
const reset = new TransportError('reset', 'x');
const pods = { group: '', resource: 'pods' };

describe('afterAttempt', () => {
  it.each<
    [
      string,
      ReflectorState,
      ReflectorStep,
      AttemptOutcome,
      { readonly [key in keyof ReflectorState]?: ReflectorState[key] | undefined },
      'none' | number | { readonly kind: 'asked'; readonly ms: number },
      'report' | 'expected',
    ]
  >([
    [
      'a list → watch from its version',
      { ...start, ...refused, freshness: 'latest', paging: 'off' },
      listLatest,
      { end: 'listed', resourceVersion: '9' },
      { mode: 'resume', resourceVersion: '9', freshness: 'not-older', paging: 'on' },
      'none',
      'expected',
    ],
    [
      'a watch list that ended after its initial events → watch on',
      start,
      watchList,
      closed(true, '9'),
      { mode: 'resume', resourceVersion: '9' },
      'none',
      'expected',
    ],
    [
      'a watch list that broke before → again',
      start,
      watchList,
      closed(false, '8', { initial: 'incomplete', error: reset }),
      {},
      0,
      'report',
    ],
    [
      'a watch list that ended in good order before → list',
      start,
      watchList,
      closed(false, '8', { initial: 'incomplete' }),
      refused,
      'none',
      'expected',
    ],
    [
      'a watch that did its time → watch on from the newest',
      following,
      watch,
      closed(true, '9'),
      { resourceVersion: '9' },
      'none',
      'expected',
    ],
    [
      'a broken watch that was of use → watch on',
      following,
      watch,
      closed(true, '9', { error: reset }),
      { resourceVersion: '9' },
      'none',
      'expected',
    ],
    ['a very short watch → watch on after a pause', following, watch, closed(false, '7'), {}, 0, 'expected'],
    [
      'a very short broken watch is reported too',
      following,
      watch,
      closed(false, '7', { error: reset }),
      {},
      0,
      'report',
    ],
    [
      'a watch list whose initial events never end → list',
      start,
      watchList,
      { end: 'no-initial-events-end' },
      refused,
      'none',
      'expected',
    ],
    [
      'API-131 a refused watch list (422) → list',
      start,
      watchList,
      failed(newInvalid({ group: '', kind: 'ListOptions' }, '', [])),
      refused,
      'none',
      'expected',
    ],
    ['a refused watch list (400) → list', start, watchList, failed(newBadRequest('x')), refused, 'none', 'expected'],
    ['a 400 to a list is an error', { ...start, ...refused }, listAny, failed(newBadRequest('x')), {}, 0, 'report'],
    [
      'COL-047 410 in a watch → enumerate the most recent',
      following,
      watch,
      failed(newExpired('x'), '9', 'complete'),
      { mode: 'enumerate', resourceVersion: '9', freshness: 'latest' },
      0,
      'expected',
    ],
    [
      'COL-047 410 to a list from a version → the most recent',
      { ...start, ...refused, resourceVersion: '7' },
      { verb: 'list', resourceVersion: '7', paging: 'on' },
      failed(newExpired('x')),
      { freshness: 'latest' },
      0,
      'expected',
    ],
    [
      '410 between pages → all at once',
      { ...start, ...refused, freshness: 'latest' },
      listLatest,
      failed(newExpired('x')),
      { paging: 'off' },
      'none',
      'expected',
    ],
    [
      '410 to an unpaged list of the most recent state makes no sense and is reported',
      { ...start, ...refused, freshness: 'latest', paging: 'off' },
      { ...listLatest, paging: 'off' },
      failed(newExpired('x')),
      {},
      0,
      'report',
    ],
    [
      'COL-047 410 in a watch list after its initial events is normal',
      start,
      watchList,
      failed(newExpired('x'), '9', 'complete'),
      { resourceVersion: '9', freshness: 'latest' },
      0,
      'expected',
    ],
    [
      '410 to a watch list of the most recent state makes no sense',
      start,
      watchList,
      failed(newExpired('x')),
      { freshness: 'latest' },
      0,
      'report',
    ],
    [
      'a version too large → the most recent, after what the server asks for',
      { ...start, ...refused, resourceVersion: '9' },
      { verb: 'list', resourceVersion: '9', paging: 'on' },
      failed(newTooLargeResourceVersion(9, 5)),
      { freshness: 'latest' },
      1000,
      'report',
    ],
    [
      '… in a watch too',
      following,
      watch,
      failed(newTooLargeResourceVersion(7, 5), '7', 'complete'),
      { mode: 'enumerate', freshness: 'latest' },
      1000,
      'report',
    ],
    [
      'BETTER-18 415 → JSON from now on',
      start,
      watchList,
      failed(newUnsupportedMediaType('x')),
      { encoding: 'json' },
      'none',
      'expected',
    ],
    [
      '406 → JSON from now on',
      following,
      watch,
      failed(newNotAcceptable('x'), '7', 'complete'),
      { encoding: 'json' },
      'none',
      'expected',
    ],
    [
      '406 to JSON is an error',
      { ...start, encoding: 'json' },
      watchList,
      failed(newNotAcceptable('x')),
      {},
      0,
      'report',
    ],
    [
      'an event that can not be read → enumerate the most recent',
      following,
      watch,
      failed(new DecodeError('x'), '8', 'complete'),
      { mode: 'enumerate', resourceVersion: '8', freshness: 'latest' },
      0,
      'report',
    ],
    [
      'COL-048 429 → again, not before the server allows',
      { ...start, ...refused },
      listAny,
      failed(newTooManyRequests('x', 45)),
      { refusals: 1 },
      { kind: 'asked', ms: 45_000 },
      'report',
    ],
    [
      'COL-048 an hour that the server asks for → again after a minute',
      following,
      watch,
      failed(newTooManyRequests('x', 3600), '7', 'complete'),
      { refusals: 1 },
      { kind: 'asked', ms: 60_000 },
      'report',
    ],
    [
      'COL-048 429 for the eleventh time in a row → ever later',
      { ...following, refusals: 10 },
      watch,
      failed(newTooManyRequests('x', 1), '7', 'complete'),
      { refusals: undefined },
      1000,
      'report',
    ],
    ['COL-048 403 → again', { ...start, ...refused }, listAny, failed(newForbidden(pods, '', 'x')), {}, 0, 'report'],
    ['COL-048 404 → again', start, watchList, failed(newPathNotFound()), {}, 0, 'report'],
    [
      'a 500 in a watch → watch on from the newest',
      following,
      watch,
      failed(newInternalError('x'), '9', 'complete'),
      { resourceVersion: '9' },
      0,
      'report',
    ],
    [
      'a refused connection → again',
      following,
      watch,
      failed(new TransportError('refused', 'x'), '7', 'complete'),
      {},
      0,
      'report',
    ],
    [
      'a watch list that fails after its initial events goes on as a watch',
      start,
      watchList,
      failed(newInternalError('x'), '9', 'complete'),
      { mode: 'resume', resourceVersion: '9' },
      0,
      'report',
    ],
  ])('%s', (_, state, step, outcome, changes, wait, noise) => {
    expect(afterAttempt(state, step, outcome)).toEqual({
      state: { ...state, ...changes },
      wait: typeof wait === 'number' ? { kind: 'backoff', atLeastMs: wait } : wait === 'none' ? { kind: 'none' } : wait,
      noise,
    });
  });

  it('never goes on without a pause in a circle: what repeats at once changes something for good or made progress', () => {
    const steps = [watchList, watch, listAny, listLatest, { ...listLatest, paging: 'off' } as const];
    const errors = [
      newExpired('x'),
      newBadRequest('x'),
      newInvalid({ group: '', kind: 'L' }, '', []),
      newNotAcceptable('x'),
      newInternalError('x'),
      newTooLargeResourceVersion(2, 1),
      new DecodeError('x'),
      reset,
    ];
    const states: ReflectorState[] = [];
    for (const mode of ['enumerate', 'resume'] as const)
      for (const freshness of ['not-older', 'latest'] as const)
        for (const wl of ['try', 'refused'] as const)
          for (const paging of ['on', 'off'] as const)
            for (const encoding of ['protobuf', 'json'] as const)
              states.push({ mode, freshness, watchList: wl, paging, encoding, resourceVersion: '7' });
    const spent = (s: ReflectorState): number =>
      (s.watchList === 'refused' ? 1 : 0) + (s.encoding === 'json' ? 1 : 0) + (s.paging === 'off' ? 1 : 0);
    let atOnce = 0;
    for (const state of states) {
      for (const step of steps) {
        for (const error of errors) {
          const next = afterAttempt(state, step, failed(error));
          const legal = step.verb !== 'list' || step.paging === state.paging;
          const tried = step.verb !== 'watchList' || state.watchList === 'try';
          if (next.wait.kind !== 'none' || !legal || !tried) continue;
          expect(spent(next.state)).toBeGreaterThan(spent(state));
          atOnce++;
        }
      }
    }
    expect(atOnce).toBeGreaterThan(30);
  });
});
