import type { Clock } from '../../base/time/clock.ts';
import type { Monitors } from './monitors.ts';

/** Resolves when all monitors are synced, when the time is over, or when `signal` is aborted, whichever comes first. */
export function waitForSync(
  monitors: Monitors,
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      stopListening();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(timeoutMs, end);
    const stopListening = monitors.onSynced(() => {
      if (monitors.synced) end();
    });
    signal.addEventListener('abort', end, { once: true });
    if (monitors.synced || signal.aborted) end();
  });
}
