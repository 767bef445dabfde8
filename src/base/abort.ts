import type { Clock } from './clock.ts';

/** A signal with parents. Must be disposed, else a long-lived parent keeps it reachable. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parents; the signal keeps its state. */
  dispose(): void;
}

/**
 * A signal that is aborted as soon as one of `parents` is, with the parent's reason, or by its own `abort`.
 * `AbortSignal.any` is not used: on the Node releases we support it kept dependent signals of long-lived parents alive.
 */
export function linkSignals(...parents: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const dispose = (): void => {
    for (const f of undo.splice(0)) f();
  };
  for (const parent of parents) {
    if (parent === undefined) continue;
    if (parent.aborted) {
      controller.abort(parent.reason);
      break;
    }
    const forward = (): void => {
      dispose();
      controller.abort(parent.reason);
    };
    parent.addEventListener('abort', forward, { once: true });
    undo.push(() => parent.removeEventListener('abort', forward));
  }
  if (controller.signal.aborted) dispose();
  return {
    signal: controller.signal,
    abort(reason?: unknown): void {
      dispose();
      controller.abort(reason);
    },
    dispose,
    [Symbol.dispose]: dispose,
  };
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

export interface TimeoutSignal extends LinkedSignal {
  /** No timeout any more; parents and `abort` still work. */
  stopTimer(): void;
}

/** Aborted with {@link TimeoutError} after `timeoutMs`, or earlier with a parent. Dispose it to stop the timer. */
export function timeoutSignal(
  clock: Clock,
  timeoutMs: number,
  ...parents: readonly (AbortSignal | undefined)[]
): TimeoutSignal {
  const linked = linkSignals(...parents);
  const { signal } = linked;
  const timer = signal.aborted ? undefined : clock.setTimer(timeoutMs, () => linked.abort(new TimeoutError(timeoutMs)));
  const stopTimer = (): void => timer?.cancel();
  signal.addEventListener('abort', stopTimer, { once: true });
  const dispose = (): void => {
    stopTimer();
    signal.removeEventListener('abort', stopTimer);
    linked.dispose();
  };
  return { signal, abort: linked.abort, stopTimer, dispose, [Symbol.dispose]: dispose };
}
