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

/** Everything on which the next request of a reflector depends. Plain data; only {@link afterAttempt} changes it. */
export interface ReflectorState {
  /** `enumerate` means that the set of objects must be listed; `resume` that it is known as of `resourceVersion`. */
  readonly mode: 'enumerate' | 'resume';
  /** The newest delivered version; empty before the first. */
  readonly resourceVersion: string;
  /** `latest` means that the server lacks that version, so its most recent state is requested. */
  readonly freshness: 'not-older' | 'latest';
  /** `refused` means that this server answers a watch list with an error, or never completes its initial events. */
  readonly watchList: 'try' | 'refused';
  /** `off` means that a continue token expired, so the whole list is requested at once. */
  readonly paging: 'on' | 'off';
  readonly encoding: 'protobuf' | 'json';
  /** Number of consecutive 429 answers with a wait time; absent for none. */
  readonly refusals?: number;
}

/**
 * Maximum number of consecutive 429 answers after which only the given time is waited, as in client-go; afterwards the reflector backs off.
 */
const MOST_REFUSALS = 10;

/** The next request. `resourceVersion` '' requests the most recent state, '0' any. */
export type ReflectorStep =
  | { readonly verb: 'watchList'; readonly resourceVersion: string }
  | { readonly verb: 'list'; readonly resourceVersion: string; readonly paging: 'on' | 'off' }
  | { readonly verb: 'watch'; readonly resourceVersion: string };

export function nextStep(state: ReflectorState): ReflectorStep {
  if (state.mode === 'resume') return { verb: 'watch', resourceVersion: state.resourceVersion };
  const known = state.freshness === 'latest' ? '' : state.resourceVersion;
  if (state.watchList === 'try') return { verb: 'watchList', resourceVersion: known };
  // The very first list may come from the server's cache, as in client-go; later ones never go back in time.
  const first = state.freshness === 'not-older' && state.resourceVersion === '';
  return { verb: 'list', resourceVersion: first ? '0' : known, paging: state.paging };
}

/** The outcome of a request. */
export type AttemptOutcome =
  /** A complete list was delivered. */
  | { readonly end: 'listed'; readonly resourceVersion: string }
  /**
   * A stream ended: by the server, by its timeout, or by a broken connection (`error`). `resourceVersion` is the newest delivered version,
   * `initial` says whether its initial events were complete, and `useful` whether it lasted long or delivered events.
   */
  | {
      readonly end: 'closed';
      readonly resourceVersion: string;
      readonly initial: 'complete' | 'incomplete';
      readonly useful: boolean;
      readonly error?: TransportError;
    }
  /** The caller had the watch opened anew. */
  | { readonly end: 'reopened'; readonly resourceVersion: string; readonly initial: 'complete' | 'incomplete' }
  /** A watch list was silent for so long that it will not complete. */
  | { readonly end: 'no-initial-events-end' }
  /** Any other failure; `resourceVersion` as above. */
  | {
      readonly end: 'failed';
      readonly error: Error;
      readonly resourceVersion: string;
      readonly initial: 'complete' | 'incomplete';
    };

export interface AfterAttempt {
  readonly state: ReflectorState;
  /** The wait before the next request. `atLeastMs` is the server's requested time, at most a minute. */
  readonly wait:
    | { readonly kind: 'none' }
    | { readonly kind: 'backoff'; readonly atLeastMs: number }
    /** Exactly this long, as the server requested. */
    | { readonly kind: 'asked'; readonly ms: number };
  /** `report` is a failure for the log; `expected` is normal. */
  readonly noise: 'report' | 'expected';
}

const NONE = { kind: 'none' } as const;

function backoff(error?: Error): AfterAttempt['wait'] {
  return { kind: 'backoff', atLeastMs: error instanceof StatusError ? retryAfterMs(error.retryAfterSeconds) : 0 };
}

/** Decides the next request from the outcome of the last one (API-560, COL-047, COL-048). */
export function afterAttempt(before: ReflectorState, step: ReflectorStep, outcome: AttemptOutcome): AfterAttempt {
  const { refusals = 0, ...state } = before;
  const asked = outcome.end === 'failed' ? timeAsked(outcome.error) : 0;
  const after = afterOutcome(state, step, outcome);
  if (asked === 0 || refusals >= MOST_REFUSALS) return after;
  return { ...after, state: { ...after.state, refusals: refusals + 1 }, wait: { kind: 'asked', ms: asked } };
}

/** The wait that the server's refusal requests. The resources of a new definition are refused for a short time, with such a wait. */
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
    case 'reopened':
      return { state: progressed(state, step, outcome), wait: NONE, noise: 'expected' };
    case 'closed':
      return afterClosed(state, step, outcome);
    case 'failed':
      return afterFailure(progressed(state, step, outcome), step, outcome.error);
  }
}

/** The state after the events of a stream. An enumerating stream counts only once its initial events are complete. */
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
    // The stream ended normally but without the bookmark: the server does not know the parameter, and its objects change all the time. The
    // next watch list would end the same way.
    return { state: { ...state, watchList: 'refused' }, wait: NONE, noise: 'expected' };
  }
  const next = progressed(state, step, outcome);
  if (outcome.useful) return { state: next, wait: NONE, noise: 'expected' };
  // client-go's "very short watch": without a pause, a server that ends every stream at once would be flooded.
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
    // This error makes no sense for the most recent state, and is normal for a watch that was disconnected for long.
    const odd = state.mode === 'enumerate' && step.resourceVersion === '';
    return { state: again, wait: backoff(error), noise: odd ? 'report' : 'expected' };
  }
  if (hasStatusCause(error, 'ResourceVersionTooLarge')) {
    return { state: enumerate(state, 'latest'), wait: backoff(error), noise: 'report' };
  }
  // A watch that is refused for another reason is retried from the same version, because nothing was missed.
  return { state, wait: backoff(error), noise: 'report' };
}

function enumerate(state: ReflectorState, freshness: ReflectorState['freshness']): ReflectorState {
  return { ...state, mode: 'enumerate', freshness };
}
