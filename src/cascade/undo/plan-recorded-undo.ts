import type { Clock } from '../../base/time/clock.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { finalizerEvidence } from '../finalizers/finalizer-evidence.ts';
import { readSightings } from '../finalizers/read-sightings.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { type PlannedUndo, planUndo, type UndoOptions } from './plan-undo.ts';
import { readUndoFacts } from './read-undo-facts.ts';

export interface UndoCluster {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly discovery: DiscoveryResult;
}

/** Reads the cluster and plans how the objects of a record come back. Changes nothing. */
export async function planRecordedUndo(
  objects: readonly RecordedObject[],
  options: UndoOptions,
  { client, clock, discovery }: UndoCluster,
): Promise<PlannedUndo> {
  const sightings = await readSightings(client, clock);
  const finalizerServed = (finalizer: string): boolean =>
    finalizerEvidence(finalizer, undefined, sightings).served === 'yes';
  const facts = await readUndoFacts(objects, {
    client,
    discovery,
    finalizerServed,
  });
  return planUndo(facts, options);
}
