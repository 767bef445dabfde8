import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import { type BodyNeed, bodyNeedKey } from '../simulate/body-need.ts';
import { simulate, type SimulationRequest } from '../simulate/simulation.ts';
import { readBodies } from '../snapshot/read-bodies.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { makePlan } from './make-plan.ts';

const KINDS: Readonly<Record<BodyNeed['resource'], string>> = {
  pods: 'Pod',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  namespaces: 'Namespace',
};

/** Rounds of reading and simulating: what one finds may call for more. */
const MAX_ROUNDS = 6;

/** Predicts a cascade from what was read already. Pure; see `SimulationResult.needs` for what would make it better. */
export function planCascade(
  snapshot: Snapshot,
  request: SimulationRequest,
): { readonly plan: CascadePlan; readonly needs: readonly BodyNeed[] } {
  const result = simulate(snapshot, request);
  return { plan: makePlan(snapshot, request, result), needs: result.needs };
}

/**
 * Predicts a cascade, and reads the full objects that rules need on the way: pods for their nodes and volumes, claims, volumes.
 * Objects that the server refuses are left out of the rules, and named in the plan's `incomplete`.
 */
export async function previewCascade(
  client: RestClient,
  snapshot: Snapshot,
  request: SimulationRequest,
  signal?: AbortSignal,
): Promise<CascadePlan> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { needs } = simulate(snapshot, request);
    if (needs.length === 0) break;
    await Promise.all(needs.map((need) => readNeed(client, snapshot, need, signal)));
  }
  return planCascade(snapshot, request).plan;
}

/** Reads the full objects that a rule needs into the snapshot; a refusal is noted in `incomplete`. */
export async function readNeed(
  client: RestClient,
  snapshot: Snapshot,
  need: BodyNeed,
  signal?: AbortSignal,
): Promise<void> {
  const { resource, namespace, node } = need;
  const list = {
    resource,
    kind: KINDS[resource],
    ...(namespace === undefined ? {} : { namespace }),
    ...(node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` }),
  };
  const bodies = await readBodies(client, list, signal);
  if (bodies instanceof StatusError) snapshot.noteIncomplete({ resource, reason: bodies.message });
  snapshot.addBodies(bodyNeedKey(need), bodies instanceof StatusError ? [] : bodies);
}
