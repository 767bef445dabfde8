import { parseGoDuration } from '../../api/meta/duration.ts';
import type { Pod } from '../pods/pod-object.ts';

/** Time after which containers succeed. */
export const SUCCEED_AFTER = 'kubegc.io/sim-succeed-after';
/** Time after which containers fail. */
export const FAIL_AFTER = 'kubegc.io/sim-fail-after';
/** The exit code of a failing container; default 1. */
export const EXIT_CODE = 'kubegc.io/sim-exit-code';
/** Time until the pod is ready, or `never`. */
export const READY_AFTER = 'kubegc.io/sim-ready-after';
/** Time that containers take to stop after the pod's deletion, at most the grace period. */
export const STOP_AFTER = 'kubegc.io/sim-stop-after';

/** The behaviour of a pod's containers; times in ms since their start. */
export interface PodPlan {
  /** Undefined if it never becomes ready. */
  readonly readyAfterMs: number | undefined;
  /** Undefined if they never finish. */
  readonly end: { readonly afterMs: number; readonly exitCode: number } | undefined;
  readonly stopAfterMs: number;
}

/** The default running time of a Job's pods. */
const JOB_MS = 1000;

/** Parses the annotations of a pod. A value that is neither a duration (`5s`) nor a number of seconds is ignored. */
export function podPlanOf({ metadata }: Pod): PodPlan {
  const { annotations = {} } = metadata ?? {};
  const failAfter = durationOf(annotations[FAIL_AFTER]);
  const succeedAfter = durationOf(annotations[SUCCEED_AFTER]);
  const exitCode = Number(annotations[EXIT_CODE] ?? '1');
  const isJobs = metadata?.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller) ?? false;
  const end =
    failAfter !== undefined
      ? { afterMs: failAfter, exitCode: Number.isInteger(exitCode) && exitCode > 0 && exitCode < 256 ? exitCode : 1 }
      : succeedAfter !== undefined
        ? { afterMs: succeedAfter, exitCode: 0 }
        : isJobs && annotations[SUCCEED_AFTER] !== 'never'
          ? { afterMs: JOB_MS, exitCode: 0 }
          : undefined;
  return {
    readyAfterMs: annotations[READY_AFTER] === 'never' ? undefined : (durationOf(annotations[READY_AFTER]) ?? 0),
    end,
    stopAfterMs: durationOf(annotations[STOP_AFTER]) ?? 0,
  };
}

function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseGoDuration(text);
  return ms === undefined || ms < 0 ? undefined : ms;
}
