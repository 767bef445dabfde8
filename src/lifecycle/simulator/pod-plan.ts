import { parseGoDuration } from '../../api/meta/duration.ts';
import type { Pod } from '../pods/pod-object.ts';

/** Containers run to a successful end after this time. */
export const SUCCEED_AFTER = 'kubegc.io/sim-succeed-after';
/** Containers fail after this time. */
export const FAIL_AFTER = 'kubegc.io/sim-fail-after';
/** With what a container ends that fails; 1 unless given. */
export const EXIT_CODE = 'kubegc.io/sim-exit-code';
/** Time until the pod is ready, or `never`. */
export const READY_AFTER = 'kubegc.io/sim-ready-after';
/** Time that containers take to stop when the pod is deleted, at most the grace period. */
export const STOP_AFTER = 'kubegc.io/sim-stop-after';

/** How the containers of a pod behave; times in ms since they start. */
export interface PodPlan {
  /** Undefined: never. */
  readonly readyAfterMs: number | undefined;
  /** Undefined: they run on. */
  readonly end: { readonly afterMs: number; readonly exitCode: number } | undefined;
  readonly stopAfterMs: number;
}

/** A Job's pods do their work in this time when nothing else is said. */
const JOB_MS = 1000;

/** Reads the annotations of a pod. A value that is no duration (`5s`) and no number of seconds is as if it were not there. */
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
