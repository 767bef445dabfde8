import type { Condition } from '../../api/meta/conditions.ts';
import { findCondition, isConditionTrue, withCondition } from '../../api/meta/conditions.ts';
import { approvalCondition } from './api-approval.ts';
import { hasInvalidBundle } from './conversion-validation.ts';
import { type Definition, type DefinitionStatus, isEstablished } from './definition.ts';
import { type ClaimedNames, decideNames } from './naming-controller.ts';

const ESTABLISHED: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};

const INVALID_BUNDLE: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};

/**
 * The next status of a definition on its way to Established (API-453): first its names, then, in a separate write, the condition. Undefined
 * if nothing is left to do. `now` in epoch ms.
 */
export function nextStatus(definition: Definition, claimed: ClaimedNames, now: number): DefinitionStatus | undefined {
  const { status } = definition;
  const naming = decideNames(definition, claimed);
  const approval = approvalCondition(definition);
  const before = status.conditions ?? [];
  let conditions = before;
  for (const condition of [naming?.namesAccepted, naming?.established, approval]) {
    if (condition !== undefined && !isKnown(conditions, condition)) {
      conditions = withCondition(conditions, condition, now);
    }
  }
  if (naming !== undefined) return { ...status, acceptedNames: naming.acceptedNames, conditions };
  if (conditions !== before) return { ...status, conditions };
  // A definition that is being deleted no longer becomes established.
  if (definition.metadata?.deletionTimestamp || isEstablished(definition)) return undefined;
  if (!isConditionTrue(conditions, 'NamesAccepted')) return undefined;
  const established = hasInvalidBundle(definition.spec) ? INVALID_BUNDLE : ESTABLISHED;
  return isKnown(conditions, established)
    ? undefined
    : { ...status, conditions: withCondition(conditions, established, now) };
}

function isKnown(conditions: readonly Condition[], { type, status, reason, message }: Condition): boolean {
  const before = findCondition(conditions, type);
  return before?.status === status && before.reason === reason && before.message === message;
}
