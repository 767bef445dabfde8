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
 * The next status on the way of a definition to Established (API-453): its names, then, in a write of its own, that it is
 * established. Undefined when it is where it should be. `now` in epoch ms.
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
  // A definition that is being deleted is not established any more.
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
