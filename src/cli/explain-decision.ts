import type { LogFields } from '../base/logger.ts';
import type { Action } from '../collector/decide/actions.ts';
import { sentenceOf } from '../collector/reasons.ts';
import type { Decision } from '../collector/workers/decision.ts';

/** A decision as one line of the log: why in words, then the object, what was done about it, and the reason's name. */
export function explainDecision({ uid, identity, queuedFor, verdict, reason, actions }: Decision): {
  readonly message: string;
  readonly fields: LogFields;
} {
  return {
    message: sentenceOf(reason),
    fields: {
      ...(identity === undefined ? {} : { object: objectName(identity) }),
      uid,
      ...(queuedFor === undefined ? {} : { because: queuedFor }),
      did: actions.length === 0 ? 'nothing' : actions.map(actionWord).join(', '),
      reason,
      ...(verdict === 'requeue' ? { again: true } : {}),
    },
  };
}

/** `Pod default/web-1`, `ReplicaSet.apps default/web`, `Node n1` */
function objectName({ apiVersion, kind, namespace, name }: NonNullable<Decision['identity']>): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
  return `${kind}${group} ${namespace === '' ? '' : `${namespace}/`}${name}`;
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
      return 'look at its blocking dependents';
  }
}
