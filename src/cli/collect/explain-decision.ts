import type { LogFields } from '../../base/logs/logger.ts';
import type { Action } from '../../collector/decide/actions.ts';
import { objectName } from '../../collector/observation/terminating/object-name.ts';
import { sentenceOf } from '../../collector/types/reasons.ts';
import { tookEffect } from '../../collector/workers/accepted-writes.ts';
import type { ActionResult, CarriedOut } from '../../collector/workers/decision.ts';

/**
 * A decision as one line of the log: the reason in words, the object, the actions, failed attempts, the results of writes, and the reason's
 * name.
 */
export function explainDecision({ uid, identity, queuedFor, verdict, reason, decided, results, barrier }: CarriedOut): {
  readonly message: string;
  readonly fields: LogFields;
} {
  const did = wordsOf(results.filter(tookPlace));
  const would = wordsOf(results.filter(({ withheld }) => withheld === true));
  const tried = wordsOf(results.filter((result) => !tookPlace(result) && result.withheld !== true));
  const answered = results.flatMap((result) => result.answered ?? []).join(', ');
  return {
    message: sentenceOf(reason),
    fields: {
      ...(identity === undefined ? {} : { object: objectName(identity) }),
      uid,
      ...(queuedFor === undefined ? {} : { because: queuedFor }),
      ...(would === '' ? { did: did === '' ? 'nothing' : did } : { would }),
      ...(tried === '' ? {} : { tried }),
      ...(answered === '' ? {} : { answered }),
      ...(decided === reason ? {} : { decided }),
      ...(barrier === undefined ? {} : { lateDependents: 'not looked for everywhere' }),
      reason,
      ...(verdict === 'requeue' ? { again: true } : {}),
    },
  };
}

/** True if this action is a write that changed the object. */
function tookPlace({ answered, withheld }: ActionResult): boolean {
  return withheld !== true && (answered === undefined || tookEffect(answered));
}

function wordsOf(results: readonly ActionResult[]): string {
  return results.map(({ action }) => actionWord(action)).join(', ');
}

function actionWord(action: Action): string {
  switch (action.action) {
    case 'delete':
      return `delete (${action.policy})`;
    case 'removeFinalizer':
      return `remove finalizer ${action.finalizer}`;
    case 'removeReferences':
      return `remove ${action.owners.length} references`;
    case 'unblockReferences':
      return `unblock ${action.references.length} references`;
    case 'emitVirtualDelete':
      return 'forget it';
    case 'noteAbsentOwner':
      return `note that ${action.identity.kind} ${action.identity.name} is absent`;
    case 'enqueueBlockingDependents':
      return 'process its blocking dependents';
  }
}
