import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import { type BodyNeed, bodyNeedKey, KIND_OF_NEED } from '../simulate/body-need.ts';
import { simulate, type SimulationRequest } from '../simulate/simulation.ts';
import { readBodies } from '../snapshot/read-bodies.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { Fates } from './fates.ts';
import { planOf } from './make-plan.ts';
import { orderPlan } from './order-plan.ts';

/** Maximum rounds of reading and simulating, because one round may need more objects. */
const MAX_ROUNDS = 6;

/** Predicts a cascade from data that was already read. Pure; `needs` lists objects that would improve it. */
export function planCascade(
  snapshot: Snapshot,
  request: SimulationRequest,
): { readonly plan: CascadePlan; readonly needs: readonly BodyNeed[] } {
  const { fates, needs } = fatesOf(snapshot, request);
  return { plan: planOf(snapshot, request, fates), needs };
}

/**
 * Predicts a cascade, and reads full objects that rules need: pods for their nodes and volumes, claims, volumes. If the server refuses, the
 * rules do without them, and the plan's `incomplete` names them. The roots have their waves. Rejects with an OrderCircleError when they wait
 * for each other.
 */
export async function previewCascade(
  client: RestClient,
  snapshot: Snapshot,
  request: SimulationRequest,
): Promise<CascadePlan> {
  for (let round = 0; ; round++) {
    const { fates, needs } = fatesOf(snapshot, request);
    if (needs.length === 0 || round === MAX_ROUNDS) return orderPlan(client, planOf(snapshot, request, fates));
    await Promise.all(needs.map((need) => readNeed(client, snapshot, need)));
  }
}

interface Simulated {
  readonly fates: Fates;
  readonly needs: readonly BodyNeed[];
}

/** Simulates once. The simulation is free afterwards: its graph takes as much memory as the snapshot's. */
function fatesOf(snapshot: Snapshot, request: SimulationRequest): Simulated {
  const result = simulate(snapshot, request);
  return { fates: new Fates(snapshot, result), needs: result.needs };
}

/** Reads the full objects that a rule needs into the snapshot. A refusal is noted in `incomplete`. */
export async function readNeed(client: RestClient, snapshot: Snapshot, need: BodyNeed): Promise<void> {
  const { resource, namespace, node } = need;
  const list = {
    resource,
    kind: KIND_OF_NEED[resource],
    ...(namespace === undefined ? {} : { namespace }),
    ...(node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` }),
  };
  const bodies = await readBodies(client, list);
  if (bodies instanceof StatusError) snapshot.noteIncomplete({ resource, reason: bodies.message });
  snapshot.addBodies(bodyNeedKey(need), bodies instanceof StatusError ? [] : bodies);
}
