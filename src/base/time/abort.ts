import { abortErrorOf } from './abort-error.ts';
import type { AbortNotice } from './abort-notice.ts';
import type { Clock, Timer } from './clock.ts';

/** A signal with parents. It must be disposed, otherwise a long-lived parent keeps it reachable. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Stops listening to the parents; the signal keeps its state. */
  dispose(): void;
}

/**
 * A signal that is aborted with the reason of the first aborted parent, or by its own `abort`. `AbortSignal.any` is not used, because in
 * the supported Node releases it kept dependent signals of long-lived parents alive.
 */
export function linkSignals(...parents: readonly (AbortSignal | undefined)[]): LinkedSignal {
  return link(parents, () => {});
}

/** `settled` is called once, before the signal is aborted or when it is disposed. */
function link(parents: readonly (AbortSignal | undefined)[], settled: () => void): LinkedSignal {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  let open = true;
  const dispose = (): void => {
    if (!open) return;
    open = false;
    for (const f of undo) f();
    settled();
  };
  const abort = (reason?: unknown): void => {
    dispose();
    controller.abort(reason);
  };
  for (const parent of parents) {
    if (parent === undefined) continue;
    if (parent.aborted) {
      abort(parent.reason);
      break;
    }
    const forward = (): void => abort(parent.reason);
    parent.addEventListener('abort', forward, { once: true });
    undo.push(() => parent.removeEventListener('abort', forward));
  }
  return { signal: controller.signal, abort, dispose, [Symbol.dispose]: dispose };
}

/** The reason of a signal made by {@link timeoutSignal} whose time is over. */
export class TimeoutError extends Error {
  readonly timeoutMs: number;
  constructor(timeoutMs: number) {
    super(`timed out after ${timeoutMs} ms`);
    this.name = 'TimeoutError';
    this.timeoutMs = timeoutMs;
  }
}

/** Aborted with {@link TimeoutError} after `timeoutMs`, or earlier with a parent. Dispose it to stop the timer. */
export function timeoutSignal(
  clock: Clock,
  timeoutMs: number,
  ...parents: readonly (AbortSignal | undefined)[]
): LinkedSignal {
  let timer: Timer | undefined;
  const linked = link(parents, () => timer?.cancel());
  if (!linked.signal.aborted) timer = clock.setTimer(timeoutMs, () => linked.abort(new TimeoutError(timeoutMs)));
  return linked;
}

/** Resolves when the signal is aborted, or at once if it already is. Until then the signal keeps the promise alive. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * The outcome of `work`, which several callers may wait for. A caller whose signal is aborted gets a rejection at once, with the error of
 * `errorOf` (an AbortError unless given). The work goes on.
 */
export function orAborted<T>(
  work: Promise<T>,
  signal: AbortNotice | undefined,
  errorOf: (signal: AbortNotice) => Error = abortErrorOf,
): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(errorOf(signal));
    const letGo = (): void => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.finally(letGo).then(resolve, reject);
  });
}
