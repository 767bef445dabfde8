import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';

export function defaultFlowSchema(schema: Fields): void {
  setIfZero(ensureObjectAt(schema, 'spec'), 'matchingPrecedence', 1000);
}

export function defaultPriorityLevel(level: Fields): void {
  const spec = objectAt(level, 'spec');
  const exempt = objectAt(spec, 'exempt');
  if (exempt !== undefined) {
    setIfUnset(exempt, 'nominalConcurrencyShares', 0);
    setIfUnset(exempt, 'lendablePercent', 0);
  }
  const limited = objectAt(spec, 'limited');
  if (limited === undefined) return;
  setIfUnset(limited, 'nominalConcurrencyShares', 30);
  setIfUnset(limited, 'lendablePercent', 0);
  const queuing = objectAt(objectAt(limited, 'limitResponse'), 'queuing');
  if (queuing === undefined) return;
  setIfZero(queuing, 'queues', 64);
  setIfZero(queuing, 'handSize', 8);
  setIfZero(queuing, 'queueLengthLimit', 50);
}
