import { sleep } from '../../base/time/clock.ts';
import type { CascadePlan, PlanRoot } from '../documents/cascade-plan.ts';
import { rootsByWave } from '../preview/order-plan.ts';
import { type AwaitOptions, isToGo, type Remaining, stillThere } from './await-cascade.ts';
import { sendDeletes, type SendOptions, type SentDelete } from './send-deletes.ts';

const PAUSE_MS = 500;

/**
 * How the requests of a plan ended. `sent`: all were sent; the last outcome is `changed` if the object differs from that of the plan.
 * `timedOut` and `interrupted`: objects of an earlier wave are still there, so that the later waves were not begun.
 */
export type WavesEnd =
  | { readonly end: 'sent'; readonly sent: readonly SentDelete[] }
  | { readonly end: 'timedOut' | 'interrupted'; readonly remaining: readonly Remaining[] };

/**
 * Sends the requests of a plan wave by wave (CAS-054). A wave begins when the roots of earlier waves are gone; a terminating one delays it.
 * Only the uids are preconditions of later waves, because their objects change while others are deleted. `from: 'later'` leaves out the
 * first wave and all terminating objects, because an interrupted deletion has sent their requests.
 */
export async function deleteInWaves(
  plan: CascadePlan,
  options: AwaitOptions,
  { from = 'first', ...send }: SendOptions & { readonly from?: 'first' | 'later' } = {},
): Promise<WavesEnd> {
  const { client, clock, signal, deadline = Number.POSITIVE_INFINITY, onProgress } = options;
  const total = plan.objects.filter(isToGo).length;
  let sent: readonly SentDelete[] = [];
  let before: readonly PlanRoot[] = [];
  let remaining: readonly Remaining[] = [];
  try {
    for (const [i, roots] of rootsByWave(plan).entries()) {
      for (;;) {
        remaining = await stillThere(client, refsOf(before), signal);
        if (remaining.length === 0) break;
        onProgress?.({ done: 0, total, waitsFor: remaining[0] });
        if (clock.monotonic() >= deadline) return { end: 'timedOut', remaining };
        await sleep(clock, PAUSE_MS, signal);
      }
      before = roots;
      if (i === 0 && from === 'later') continue;
      const due = from === 'later' ? await alive(roots, options) : roots;
      sent = [...sent, ...(await sendDeletes(client, due, { ...send, ...(i === 0 ? {} : { preconditions: 'uid' }) }))];
      if (sent.at(-1)?.answer === 'changed') break;
    }
    return { end: 'sent', sent };
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    return { end: 'interrupted', remaining };
  }
}

async function alive(
  roots: readonly PlanRoot[],
  { client, signal }: Pick<AwaitOptions, 'client' | 'signal'>,
): Promise<readonly PlanRoot[]> {
  const present = await stillThere(client, refsOf(roots), signal);
  const uids = new Set(present.filter(({ terminating }) => !terminating).map(({ ref }) => ref.uid));
  return roots.filter(({ ref }) => uids.has(ref.uid));
}

function refsOf(roots: readonly PlanRoot[]): PlanRoot['ref'][] {
  return roots.map(({ ref }) => ref);
}
