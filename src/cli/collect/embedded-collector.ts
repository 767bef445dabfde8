import { StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { OtherCollector } from './other-collector.ts';
import { DEBUG_BASES } from '../../collector/observation/debug-handler.ts';

/** Whether the API server has a collector of its own, like `kubegc up`. `unknown` if it did not answer. */
export type EmbeddedCollector = 'runs' | 'absent' | 'unknown';

const LOOK_EVERY_MS = 10_000;
const TIMEOUT_MS = 5000;

/**
 * Reports whether the API server is kubegc with its own collector, until aborted: at once, and after each change. Only reads. A server that
 * does not answer, or that refuses the debug page, is `unknown`.
 */
export async function watchEmbeddedCollector(
  { client, clock }: { readonly client: RestClient; readonly clock: Clock },
  signal: AbortSignal,
  onChange: (embedded: EmbeddedCollector) => void,
): Promise<void> {
  let before: EmbeddedCollector | undefined;
  try {
    while (!signal.aborted) {
      const now = await look(client, signal);
      // A server that does not answer for a moment has not lost its collector.
      if (now !== before && (now !== 'unknown' || before === undefined)) {
        before = now;
        onChange(now);
      }
      await sleep(clock, LOOK_EVERY_MS, signal);
    }
  } catch (error) {
    if (!isAbortError(error) && !signal.aborted) throw error;
  }
}

/** Combines the knowledge about a collector inside the API server and one elsewhere. Reports nothing before both are known. */
export class CombinedVerdict {
  readonly #onChange: (verdict: OtherCollector) => void;
  #embedded: EmbeddedCollector | undefined;
  #elsewhere: OtherCollector | undefined;

  constructor(onChange: (verdict: OtherCollector) => void) {
    this.#onChange = onChange;
  }

  embedded(embedded: EmbeddedCollector): void {
    const hidden = embedded !== 'runs' && this.#embedded !== undefined && this.#embedded !== 'runs';
    this.#embedded = embedded;
    if (!hidden) this.#report();
  }

  elsewhere(verdict: OtherCollector): void {
    this.#elsewhere = verdict;
    if (this.#embedded !== 'runs') this.#report();
  }

  #report(): void {
    if (this.#embedded === undefined || this.#elsewhere === undefined) return;
    const embedded: OtherCollector = { runs: 'yes', why: 'embedded', holder: '' };
    this.#onChange(this.#embedded === 'runs' ? embedded : this.#elsewhere);
  }
}

/** Only kubegc serves the debug page of its collector beside the API. */
async function look(client: RestClient, signal: AbortSignal): Promise<EmbeddedCollector> {
  try {
    await client.request({ method: 'GET', path: `${DEBUG_BASES[0]}/`, signal, timeoutMs: TIMEOUT_MS });
    return 'runs';
  } catch (error) {
    if (signal.aborted) throw error;
    return error instanceof StatusError && error.code === 404 ? 'absent' : 'unknown';
  }
}
