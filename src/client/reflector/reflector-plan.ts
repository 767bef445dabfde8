import {
  hasStatusCause,
  isBadRequest,
  isExpired,
  isGone,
  isInvalid,
  isNotAcceptable,
  isUnsupportedMediaType,
  StatusError,
} from '../../api/status-error.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { retryAfterMs } from '../rest/retry-after.ts';
import type { TransportError } from '../http/transport.ts';

/** Everything the next request of a reflector depends on. Pure data; {@link afterAttempt} is its only rule. */
export interface ReflectorState {
  /** `enumerate`: the set of objects must be fetched; `resume`: it is known as of `resourceVersion`. */
  readonly mode: 'enumerate' | 'resume';
  /** The newest one delivered; empty before the first. */
  readonly resourceVersion: string;
  /** `latest`: the server no longer has (or not yet) that version; only its most recent state will do. */
  readonly freshness: 'not-older' | 'latest';
  /** `refused`: this server answers a watch list with an error, or never ends its initial events. */
  readonly watchList: 'try' | 'refused';
  /** `off`: a continue token expired in the middle; the whole list is taken at once. */
  readonly paging: 'on' | 'off';
  readonly encoding: 'protobuf' | 'json';
  /** Answers 429 in a row that named a time; absent for none. */
  readonly refusals?: number;
}

/** client-go's client waits so often in a row for just the time that a 429 names, before its reflector backs off. */
const MOST_REFUSALS = 10;

/** The request to make. `resourceVersion` '' asks for the most recent state, '0' for any. */
export type ReflectorStep =
  | { readonly verb: 'watchList'; readonly resourceVersion: string }
  | { readonly verb: 'list'; readonly resourceVersion: string; readonly paging: 'on' | 'off' }
  | { readonly verb: 'watch'; readonly resourceVersion: string };

export function nextStep(state: ReflectorState): ReflectorStep {
  if (state.mode === 'resume') return { verb: 'watch', resourceVersion: state.resourceVersion };
  const known = state.freshness === 'latest' ? '' : state.resourceVersion;
  if (state.watchList === 'try') return { verb: 'watchList', resourceVersion: known };
  // The very first list may come from the server's cache, as client-go's does; later ones never go back in time.
  const first = state.freshness === 'not-older' && state.resourceVersion === '';
  return { verb: 'list', resourceVersion: first ? '0' : known, paging: state.paging };
}

/** How a request ended. */
export type AttemptOutcome =
  /** A list was delivered completely. */
  | { readonly end: 'listed'; readonly resourceVersion: string }
  /**
   * A stream ended: by the server, by its time, or by a broken connection (`error`). `resourceVersion` is the newest
   * delivered, `initial` whether its initial events were complete, `useful` whether it lived for long or delivered.
   */
  | {
      readonly end: 'closed';
      readonly resourceVersion: string;
      readonly initial: 'complete' | 'incomplete';
      readonly useful: boolean;
      readonly error?: TransportError;
    }
  /** A watch list was silent for so long that it will not complete. */
  | { readonly end: 'no-initial-events-end' }
  /** Anything else; `resourceVersion` as above. */
  | {
      readonly end: 'failed';
      readonly error: Error;
      readonly resourceVersion: string;
      readonly initial: 'complete' | 'incomplete';
    };

export interface AfterAttempt {
  readonly state: ReflectorState;
  /** Before the next request; `atLeastMs` is what the server asked for, at most a minute. */
  readonly wait:
    | { readonly kind: 'none' }
    | { readonly kind: 'backoff'; readonly atLeastMs: number }
    /** Just so long, because the server said so. */
    | { readonly kind: 'asked'; readonly ms: number };
  /** `report`: somebody should know; `expected`: part of normal life. */
  readonly noise: 'report' | 'expected';
}

const NONE = { kind: 'none' } as const;

function backoff(error?: Error): AfterAttempt['wait'] {
  return { kind: 'backoff', atLeastMs: error instanceof StatusError ? retryAfterMs(error.retryAfterSeconds) : 0 };
}

/** Decides from how a request ended what to do next (API-560, COL-047, COL-048). */
export function afterAttempt(before: ReflectorState, step: ReflectorStep, outcome: AttemptOutcome): AfterAttempt {
  const { refusals = 0, ...state } = before;
  const asked = outcome.end === 'failed' ? timeAsked(outcome.error) : 0;
  const after = afterOutcome(state, step, outcome);
  if (asked === 0 || refusals >= MOST_REFUSALS) return after;
  return { ...after, state: { ...after.state, refusals: refusals + 1 }, wait: { kind: 'asked', ms: asked } };
}

/** A definition that was just made is refused for a moment, and says for how long. */
function timeAsked(error: Error): number {
  return error instanceof StatusError && error.code === 429 ? retryAfterMs(error.retryAfterSeconds) : 0;
}

function afterOutcome(state: ReflectorState, step: ReflectorStep, outcome: AttemptOutcome): AfterAttempt {
  switch (outcome.end) {
    case 'listed':
      return {
        state: {
          ...state,
          mode: 'resume',
          resourceVersion: outcome.resourceVersion,
          freshness: 'not-older',
          paging: 'on',
        },
        wait: NONE,
        noise: 'expected',
      };
    case 'no-initial-events-end':
      return { state: { ...state, watchList: 'refused' }, wait: NONE, noise: 'expected' };
    case 'closed':
      return afterClosed(state, step, outcome);
    case 'failed':
      return afterFailure(progressed(state, step, outcome), step, outcome.error);
  }
}

/** The state with what the stream delivered. A stream that enumerates counts only once its initial events are complete. */
function progressed(
  state: ReflectorState,
  step: ReflectorStep,
  { resourceVersion, initial }: { readonly resourceVersion: string; readonly initial: 'complete' | 'incomplete' },
): ReflectorState {
  if (step.verb === 'list' || initial === 'incomplete' || resourceVersion === '') return state;
  return { ...state, mode: 'resume', resourceVersion, freshness: 'not-older' };
}

function afterClosed(
  state: ReflectorState,
  step: ReflectorStep,
  outcome: AttemptOutcome & { readonly end: 'closed' },
): AfterAttempt {
  if (step.verb === 'watchList' && outcome.initial === 'incomplete' && outcome.error === undefined) {
    // In good order, but without the bookmark: a server that does not know the parameter, of whose objects one or the other always
    // changes. The next watch list would end like this one.
    return { state: { ...state, watchList: 'refused' }, wait: NONE, noise: 'expected' };
  }
  const next = progressed(state, step, outcome);
  if (outcome.useful) return { state: next, wait: NONE, noise: 'expected' };
  // client-go's "very short watch": without a pause a server that ends every stream at once would be hammered.
  return { state: next, wait: backoff(), noise: outcome.error === undefined ? 'expected' : 'report' };
}

function afterFailure(state: ReflectorState, step: ReflectorStep, error: Error): AfterAttempt {
  if (error instanceof DecodeError) {
    // The lost events are unknown, so the watch cannot resume from earlier knowledge.
    return { state: enumerate(state, 'latest'), wait: backoff(), noise: 'report' };
  }
  if (state.encoding === 'protobuf' && (isNotAcceptable(error) || isUnsupportedMediaType(error))) {
    return { state: { ...state, encoding: 'json' }, wait: NONE, noise: 'expected' };
  }
  if (step.verb === 'watchList' && (isInvalid(error) || isBadRequest(error))) {
    return { state: { ...state, watchList: 'refused' }, wait: NONE, noise: 'expected' };
  }
  if (isExpired(error) || isGone(error)) {
    const again = enumerate(state, 'latest');
    // A list of the most recent state can only expire between its pages.
    if (step.verb === 'list' && step.resourceVersion === '' && step.paging === 'on') {
      return { state: { ...again, paging: 'off' }, wait: NONE, noise: 'expected' };
    }
    // It makes no sense for the most recent state, and is the normal end of a watch that was away for long.
    const odd = state.mode === 'enumerate' && step.resourceVersion === '';
    return { state: again, wait: backoff(error), noise: odd ? 'report' : 'expected' };
  }
  if (hasStatusCause(error, 'ResourceVersionTooLarge')) {
    return { state: enumerate(state, 'latest'), wait: backoff(error), noise: 'report' };
  }
  // A watch that is refused for another reason is tried again from the same place: nothing was missed so far.
  return { state, wait: backoff(error), noise: 'report' };
}

function enumerate(state: ReflectorState, freshness: ReflectorState['freshness']): ReflectorState {
  return { ...state, mode: 'enumerate', freshness };
}
