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

/** Aborted with {@link TimeoutError} after `timeoutMs`, or earlier with a parent. Dispose it to stop the timer. */
export function timeoutSignal(
  clock: Clock,
  timeoutMs: number,
  ...parents: readonly (AbortSignal | undefined)[]
): LinkedSignal {
  const linked = linkSignals(...parents);
  if (linked.signal.aborted) return linked;
  const timer = clock.setTimer(timeoutMs, () => linked.abort(new TimeoutError(timeoutMs)));
  const stop = (): void => timer.cancel();
  linked.signal.addEventListener('abort', stop, { once: true });
  const dispose = (): void => {
    stop();
    linked.signal.removeEventListener('abort', stop);
    linked.dispose();
  };
  return { signal: linked.signal, abort: linked.abort, dispose, [Symbol.dispose]: dispose };
}
